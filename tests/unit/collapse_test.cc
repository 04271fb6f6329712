#include "launcher/output/collapse.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::output;
using namespace std::chrono_literals;

namespace {

struct Stage {
  Collapse collapse;
  TimePoint now{1h};
  std::string add(std::string_view bytes) {
    std::string out;
    collapse.add(bytes, now, out);
    return out;
  }
  std::string wait(Duration d) {
    now += d;
    std::string out;
    collapse.on_time(now, out);
    return out;
  }
  std::string finish() {
    std::string out;
    collapse.finish(out);
    return out;
  }
};

}  // namespace

TEST_CASE("of a progress bar the last state of each second passes") {
  Stage s;
  CHECK(s.add("1%\r2%\r3%\r").empty());
  CHECK(s.collapse.deadline() == s.now + 1s);
  CHECK(s.wait(999ms).empty());
  CHECK(s.add("4%\r").empty());
  CHECK(s.wait(1ms) == "4%\r");
  CHECK_FALSE(s.collapse.deadline());
  CHECK(s.add("5%\r").empty());
  CHECK(s.wait(1s) == "5%\r");
}

TEST_CASE("without a timer the state of the next second pushes it out") {
  Stage s;
  CHECK(s.add("1%\r").empty());
  s.now += 2s;
  CHECK(s.add("2%\r") == "2%\r");
}

TEST_CASE("a line overwrites the state before it, as on a terminal") {
  Stage s;
  CHECK(s.add("99%\r100%\nnext\n") == "100%\nnext\n");
  CHECK(s.add("\r 1%\r 2%\r 3%\n") == " 3%\n");
  CHECK_FALSE(s.collapse.deadline());
}

TEST_CASE("lines pass at once, and return and newline are one end") {
  Stage s;
  CHECK(s.add("a\nb\r\n\n") == "a\nb\r\n\n");
  CHECK(s.add("dos\r").empty());
  CHECK(s.add("\n") == "dos\r\n");
  CHECK(s.add("dos\r").empty());
  CHECK(s.wait(1s) == "dos\r");
  CHECK(s.add("\n") == "\n");
}

TEST_CASE("what is left at the end passes") {
  Stage s;
  CHECK(s.add("50%\r").empty());
  CHECK(s.finish() == "50%\r");
  CHECK(s.add("50%\r51%").empty());
  CHECK(s.finish() == "51%");
  CHECK(s.finish().empty());
}

TEST_CASE("a very long line is not kept") {
  Stage s;
  const std::string text(Collapse::kMaxText + 1, 'x');
  CHECK(s.add("1%\r").empty());
  CHECK((s.add(text) == text));
  CHECK(s.add("more") == "more");
  CHECK(s.add(" end\rnext\n") == " end\rnext\n");
}
