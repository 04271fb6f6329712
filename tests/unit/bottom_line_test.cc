#include "launcher/output/bottom_line.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "launcher/output/chain.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::output;

namespace {

// What a terminal of kRows rows makes of what is written to it; lines that leave it at the top are kept.
class Screen {
 public:
  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      std::size_t taken = 1;
      if (bytes.starts_with("\x1b[J")) {
        taken = 3;
        rows_.resize(row_ + 1);
        rows_[row_].resize(std::min(rows_[row_].size(), column_));
      } else if (bytes.starts_with("\x1b[A")) {
        taken = 3;
        if (row_ > top()) --row_;
      } else if (bytes.starts_with("\x1b[0m")) {
        taken = 4;
      } else {
        put(bytes[0]);
      }
      bytes.remove_prefix(taken);
    }
  }
  std::vector<std::string> rows() const { return rows_; }
  std::string last() const { return rows_.back(); }

 private:
  static constexpr std::size_t kRows = 4;
  std::size_t top() const { return rows_.size() > kRows ? rows_.size() - kRows : 0; }
  void put(char c) {
    if (c == '\n') {
      ++row_;
      column_ = 0;
      if (row_ == rows_.size()) rows_.emplace_back();
    } else if (c == '\r') {
      column_ = 0;
    } else {
      std::string& row = rows_[row_];
      row.resize(std::max(row.size(), column_ + 1), ' ');
      row[column_++] = c;
    }
  }
  std::vector<std::string> rows_{""};
  std::size_t row_ = 0;
  std::size_t column_ = 0;
};

Chain::Settings for_a_terminal() {
  return {.tag = *TagTemplate::parse("[{rank}] "), .limits = {2, 0}, .control = Chain::Control::Show};
}

void add_three_ranks(Chain& chain) {
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    TagSubject subject{.ranks = {}, .local_ranks = {}, .hosts = {"h"}};
    subject.ranks.add(rank);
    subject.local_ranks.add(0);
    chain.add_source(subject);
  }
}

}  // namespace

TEST_CASE("the line below: what is written") {
  BottomLine line;
  std::string out;
  line.erase(out);
  CHECK(out.empty());
  line.draw("status", OutputEnd::Line, out);
  CHECK(out == "status\r");
  CHECK(line.drawn());
  out.clear();
  line.draw("other", OutputEnd::Line, out);
  CHECK(out == "\r\x1b[Jother\r");
  out.clear();
  line.draw("third", OutputEnd::Return, out);
  CHECK(out == "\r\x1b[J\nthird\r");
  out.clear();
  line.erase(out);
  CHECK(out == "\r\x1b[J\x1b[A");
  CHECK_FALSE(line.drawn());
}

TEST_CASE("the line below: there is none behind text that has not ended, and none without a text") {
  BottomLine line;
  std::string out;
  line.draw("status", OutputEnd::Text, out);
  line.draw("", OutputEnd::Line, out);
  CHECK(out.empty());
  line.draw("status", OutputEnd::Line, out);
  out.clear();
  line.draw("status", OutputEnd::Text, out);
  CHECK(out == "\r\x1b[J");
  CHECK_FALSE(line.drawn());
}

TEST_CASE("the line below: nothing above the cursor is touched after others had the terminal") {
  BottomLine line;
  std::string out;
  line.draw("status", OutputEnd::Return, out);
  out.clear();
  line.cursor_moved();
  line.erase(out);
  CHECK(out == "\r\x1b[J");
  line.draw("status", OutputEnd::Line, out);
  out.clear();
  line.forget();
  line.erase(out);
  CHECK(out.empty());
}

TEST_CASE("the line below: whatever is printed, the screen is the same without it") {
  const std::string kPieces[] = {"a line\n", "no end", " 10%|##\r", " 20%|####\r", "x\ny\n",  "\r\n",
                                 "end\n",    "\n",     "\r",        "a\rb\r",      "two\nand"};
  std::minstd_rand random(20261121);
  std::size_t seen = 0;
  for (int round = 0; round < 2000; ++round) {
    Chain chain(for_a_terminal());
    add_three_ranks(chain);
    BottomLine line;
    Screen with;
    Screen without;
    for (int step = 0; step < 12; ++step) {
      if (random() % 8 == 0) {
        chain.add_own_line("sml-run: says something");
      } else {
        chain.add(static_cast<Chain::Source>(random() % 3), kPieces[random() % std::size(kPieces)], {});
      }
      std::string bytes;
      line.erase(bytes);
      bytes += chain.output();
      without.write(chain.output());
      chain.output().clear();
      if (random() % 4 != 0) line.draw("(status)", chain.end(), bytes);
      with.write(bytes);
      if (line.drawn()) CHECK(with.last().starts_with("(status)"));
      if (line.drawn()) ++seen;
    }
    std::string off;
    line.erase(off);
    with.write(off);
    std::vector<std::string> rows = with.rows();
    if (rows.size() > without.rows().size() && rows.back().empty()) rows.pop_back();
    CHECK(rows == without.rows());
  }
  CHECK(seen > 5000);
}

TEST_CASE("output ends with a line, with a return or with text") {
  Chain chain(for_a_terminal());
  add_three_ranks(chain);
  CHECK(chain.end() == OutputEnd::Line);
  chain.add(0, "a\nb", {});  // the rest waits for its end
  CHECK(chain.end() == OutputEnd::Line);
  chain.add(0, "\r", {});
  CHECK(chain.end() == OutputEnd::Return);
  chain.add(1, "c\n", {});
  CHECK(chain.end() == OutputEnd::Line);
  chain.add(1, "last words", {});
  chain.finish(1);
  CHECK(chain.end() == OutputEnd::Text);
  chain.add_own_line("sml-run: x");
  CHECK(chain.end() == OutputEnd::Line);
}
