#include "launcher/output/line_filter.h"

#include <vector>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::output;

namespace {

const std::vector<std::string> kWords{"apple", "pear"};

// What passes of a stream that comes in these pieces.
std::string passed(const std::vector<std::string>& pieces) {
  LineFilter filter;
  std::string out;
  for (const std::string& piece : pieces) filter.add(kWords, piece, out);
  filter.finish(kWords, out);
  return out;
}

}  // namespace

TEST_CASE("lines with one of the words pass whole") {
  CHECK(passed({"an apple\nplum\ntwo pears\napple"}) == "an apple\ntwo pears\napple");
  CHECK(passed({"nothing\n\n", "plum"}).empty());
  CHECK(passed({"an ap", "ple", "\nplum\npe", "a", "r\n"}) == "an apple\npear\n");
  CHECK(passed({"", "apple\n", ""}) == "apple\n");
}

TEST_CASE("states of progress bars are lines, and \\r\\n is one end") {
  CHECK(passed({"apple 1%\rplum\rpear 2%\r\nplum\r\n"}) == "apple 1%\npear 2%\n");
  CHECK(passed({"apple\r", "\n", "\nplum\r", "\npear"}) == "apple\npear");
}

TEST_CASE("a long line is judged by its beginning and is not held") {
  const std::string filler(LineFilter::kMaxText, '.');
  LineFilter filter;
  std::string out;
  filter.add(kWords, "apple" + filler, out);
  CHECK(out == "apple" + filler);
  filter.add(kWords, "...\nplum" + filler, out);
  CHECK(out == "apple" + filler + "...\n");
  filter.add(kWords, "apple\npear\n", out);
  CHECK(out == "apple" + filler + "...\npear\n");
}
