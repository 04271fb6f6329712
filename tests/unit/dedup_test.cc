#include "launcher/output/dedup.h"

#include <random>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::output;
using namespace std::chrono_literals;

namespace {

// Three sources; what goes on is written as "0,2:line\n".
struct Three {
  explicit Three(std::size_t sources = 3) {
    for (std::size_t i = 0; i < sources; ++i) dedup.add_source();
  }
  Dedup dedup{[this](std::span<const Dedup::Source> group, std::string_view bytes, WallTime) {
    std::string who;
    for (const Dedup::Source source : group) who += (who.empty() ? "" : ",") + std::to_string(source);
    out += who + ":" + std::string(bytes);
    for (const Dedup::Source source : group) by_source.at(source) += bytes;
  }};
  void add(Dedup::Source source, std::string_view bytes) { dedup.add(source, bytes, {now, WallTime()}); }
  std::string take() { return std::exchange(out, {}); }
  std::string wait(Duration d) {
    now += d;
    dedup.on_time(now);
    return take();
  }
  TimePoint now{1h};
  std::string out;
  std::vector<std::string> by_source = std::vector<std::string>(64);
};

}  // namespace

TEST_CASE("a line that all have goes on at once") {
  Three t;
  t.add(0, "epoch 1\n");
  t.add(2, "epoch 1\n");
  CHECK(t.take().empty());
  t.add(1, "epoch 1\n");
  CHECK(t.take() == "0,1,2:epoch 1\n");
  CHECK_FALSE(t.dedup.deadline());
}

TEST_CASE("a line that only some have goes on when the window is over") {
  Three t;
  t.add(1, "warning\n");
  CHECK(t.dedup.deadline() == t.now + Dedup::kAlone);
  t.now += 50ms;
  t.add(2, "warning\n");
  CHECK(t.wait(Dedup::kWindow - 51ms).empty());
  CHECK(t.dedup.deadline() == t.now + 1ms);
  CHECK(t.wait(1ms) == "1,2:warning\n");
  CHECK_FALSE(t.dedup.deadline());
}

TEST_CASE("a line that one alone has is late by no more than a person notices") {
  Three t;
  t.add(0, "step 1\n");
  CHECK(t.wait(Dedup::kAlone - 1ms).empty());
  CHECK(t.wait(1ms) == "0:step 1\n");
  t.add(1, "in common\n");  // waits on for the third
  t.add(2, "in common\n");
  t.add(0, "step 2\n");
  CHECK(t.wait(Dedup::kAlone) == "0:step 2\n");
  t.add(1, "mine\n");
  CHECK(t.wait(Dedup::kAlone) == "1,2:in common\n1:mine\n");
  CHECK_FALSE(t.dedup.deadline());
}

TEST_CASE("a line waits for nobody who has ended") {
  Three t;
  t.add(0, "last\n");
  t.dedup.finish(0);
  t.add(1, "last\n");
  CHECK(t.take().empty());
  t.add(2, "last\n");
  CHECK(t.take() == "0,1,2:last\n");
  t.add(1, "rest\n");
  t.add(2, "rest\n");
  CHECK(t.take() == "1,2:rest\n");
  t.dedup.finish(2);
  t.add(1, "alone\n");
  CHECK(t.take() == "1:alone\n");
  t.dedup.begin_again(2);
  t.add(1, "again\n");
  CHECK(t.take().empty());
  t.add(2, "again\n");
  CHECK(t.take() == "1,2:again\n");
}

TEST_CASE("the lines of one source stay in their order") {
  Three t;
  t.add(0, "a\nb\n");
  t.add(1, "b\na\n");
  CHECK(t.wait(Dedup::kWindow) == "0:a\n0,1:b\n1:a\n");
  t.add(0, "x\nx\n");
  t.add(1, "x\n");
  t.add(1, "x\n");
  t.add(1, "x\n");
  CHECK(t.wait(Dedup::kWindow) == "0,1:x\n0,1:x\n1:x\n");
}

TEST_CASE("lines of one source between them do not keep equal lines apart") {
  Three t;
  t.add(0, "rank 0\nstep\n");
  t.add(1, "rank 1\nstep\n");
  CHECK(t.take().empty());
  t.add(2, "rank 2\nrank 2\nrank 2\n");
  t.add(2, "step\n");
  CHECK(t.take() == "0:rank 0\n1:rank 1\n2:rank 2\n2:rank 2\n2:rank 2\n0,1,2:step\n");
  CHECK_FALSE(t.dedup.deadline());
}

TEST_CASE("a line that others follow already is joined only by those whose earlier lines allow it") {
  Three t;
  t.add(0, "a\nb\n");
  t.add(1, "x\ny\na\n");  // behind y, while b stands behind the first a
  t.add(2, "a\n");
  CHECK(t.wait(Dedup::kWindow) == "0,2:a\n0:b\n1:x\n1:y\n1:a\n");
}

TEST_CASE("lines may come in pieces, and end with a return") {
  Three t(2);
  t.add(0, "hal");
  t.add(1, "half");
  t.add(0, "f\r");
  t.add(1, "\rdos\r\n");
  CHECK(t.take() == "0,1:half\r");
  t.add(0, "dos\r\n");
  CHECK(t.take() == "0,1:dos\r\n");
}

TEST_CASE("the end of a source sends its last line on, the end of all everything") {
  Three t;
  t.add(0, "one\nlast");
  t.add(1, "two\n");
  t.dedup.finish(0);
  CHECK(t.take() == "0:one\n0:last");
  t.dedup.finish(1);
  CHECK(t.take().empty());
  t.add(2, "two\n");
  t.dedup.finish(2);
  CHECK(t.take() == "1,2:two\n");
}

TEST_CASE("a very long line passes in pieces, behind what its source wrote before") {
  Three t;
  const std::string text(Dedup::kMaxLine + 1, 'x');
  t.add(0, "before\n");
  t.add(0, text);
  CHECK((t.take() == "0:before\n0:" + text));
  t.add(0, "tail\nnext\n");
  CHECK(t.take() == "0:tail\n");
  CHECK(t.wait(Dedup::kWindow) == "0:next\n");
}

TEST_CASE("what waits is bounded") {
  Three t;
  const std::string line(10'000, 'y');
  std::size_t written = 0;
  std::size_t passed = 0;
  for (int i = 0; i < 2000; ++i) {
    t.add(0, std::to_string(i) + line + "\n");
    written += line.size();
    passed += t.take().size();
    REQUIRE(written < passed + Dedup::kMaxHeld + 2 * line.size());
  }
}

TEST_CASE("however lines fall together, each source has its own, once and in order") {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    Three t(5);
    std::vector<std::string> written(5);
    for (int step = 0; step < 400; ++step) {
      const auto source = static_cast<Dedup::Source>(random() % 5);
      std::string piece;
      for (auto n = random() % 6; n > 0; --n) piece += "aab\n\n\r"[random() % 6];
      if (piece.ends_with('\r')) piece += 'a';  // so that \r\n never falls into two pieces
      t.add(source, piece);
      written[source] += piece;
      if (random() % 10 == 0) t.wait(Dedup::kWindow / 3);
    }
    for (Dedup::Source source = 0; source < 5; ++source) t.dedup.finish(source);
    for (std::size_t source = 0; source < 5; ++source) REQUIRE(t.by_source[source] == written[source]);
  }
}
