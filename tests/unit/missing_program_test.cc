#include "launcher/options/text/missing_program.h"

#include "tests/support/catch.h"

using sml::advice_on_missing_program;
using sml::check_program_word;

namespace {

std::string advice(std::string_view program) {
  constexpr std::string_view kHosts[] = {"algo-1", "10.0.0.1"};
  return advice_on_missing_program(program, kHosts);
}

std::string refusal(std::string_view program) {
  const auto checked = check_program_word(program);
  return checked ? "" : checked.error().message();
}

}  // namespace

TEST_CASE("an option with a long dash is refused before anything starts") {
  CHECK(refusal("\u2013np") == "\"\u2013np\" begins with a long dash (U+2013); type -np");
  CHECK(refusal("\u2014check") == "\"\u2014check\" begins with a long dash (U+2014); type -check");
  CHECK(refusal("train\u2013fast.py") == "");
  CHECK(refusal("-np") == "");
}

TEST_CASE("a quoted line is no program") {
  CHECK(advice("python3 train.py --epochs 1") == "program and arguments are one quoted word; remove the quotes");
  CHECK(advice("cd /data && ./run") == "that is a line for a shell; start it as: sh -c '...'");
  CHECK(advice("cd /data") == "that is a line for a shell; start it as: sh -c '...'");
  CHECK(advice("./run | tee log") == "that is a line for a shell; start it as: sh -c '...'");
}

TEST_CASE("a variable before the program is no program") {
  CHECK(advice("FOO=1") == "set a variable with -x FOO=1");
  CHECK(advice("./a=b") == "");
}

TEST_CASE("a word that is nearly one of ours is looked for among ours first") {
  CHECK(advice("statu") == "did you mean sml-run status?");
  CHECK(advice("stacs") == "did you mean sml-run stacks?");
  CHECK(advice("log") == "did you mean sml-run logs?");
  CHECK(advice("list") == "did you mean sml-run ps?");
  CHECK(advice("attach") == "did you mean sml-run logs --follow?");  // not a program of another launcher
  CHECK(advice("help") == "did you mean sml-run --help?");
  CHECK(advice("run") == "did you mean sml-run PROGRAM?");
  CHECK(advice("a-program-of-my-own") == "");
}

TEST_CASE("a host that the shell made a word of its own is no program") {
  CHECK(advice("algo-2").starts_with("algo-2 looks like a host"));
  CHECK(advice("algo-1").starts_with("algo-1 looks like a host"));
  CHECK(advice("other-2") == "");
  CHECK(advice("algo-") == "");
}
