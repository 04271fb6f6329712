#include "launcher/dialin/step/step_call.h"

#include "tests/support/catch.h"

using namespace sml;
using dialin::parse_step_call;
using dialin::parse_step_line;
using dialin::StepWord;
using Words = std::vector<std::string>;

TEST_CASE("the words of a step come back as the call, and hold no key", "[step]") {
  const Words words = dialin::words_of_step(
      "/shared/sml-run", {.addresses = {"10.0.0.1", "fd00::1"}, .port = 4711, .host = {}, .mark = "smlab"});
  REQUIRE(words.size() == 10);
  CHECK(words[4] == "/shared/sml-run");
  CHECK(words[6] == "-");  // the host finds its own name
  const Words arguments{"--answer-step", words[5], "n2", words[7], words[8], words[9]};
  const auto call = parse_step_call(arguments);
  REQUIRE(call.has_value());
  CHECK(call->addresses == Words{"10.0.0.1", "fd00::1"});
  CHECK(call->port == 4711);
  CHECK(call->host == "n2");
  CHECK(call->mark == "smlab");
  CHECK(call->secret_variable == "SML_STEP_KEY");
}

TEST_CASE("other arguments are no call of a step", "[step]") {
  const auto is_call = [](const Words& words) { return parse_step_call(words).has_value(); };
  CHECK(is_call({"--answer-step", "m", "n", "10.0.0.1", "1", "SML_STEP_KEY"}));
  CHECK_FALSE(is_call({"--answer-step", "m", "n", "10.0.0.1", "0", "SML_STEP_KEY"}));
  CHECK_FALSE(is_call({"--answer-step", "m", "n", "10.0.0.1", "70000", "SML_STEP_KEY"}));
  CHECK_FALSE(is_call({"--answer-step", "m", "n", "10.0.0.1 x", "1", "SML_STEP_KEY"}));
  CHECK_FALSE(is_call({"--answer-step", "m", "n", "10.0.0.1", "1", "a=b"}));
  CHECK_FALSE(is_call({"--answer-step", "m", "n", "10.0.0.1", "1"}));
  CHECK_FALSE(is_call({"python3", "m", "n", "10.0.0.1", "1", "SML_STEP_KEY"}));
}

TEST_CASE("what a host says before it calls is known by the mark", "[step]") {
  const std::string text = dialin::to_text({.host = "n2", .word = StepWord::Failed, .text = "no way\nthere"}, "smlab");
  CHECK(text.ends_with("\n"));
  const auto line = parse_step_line(std::string_view(text).substr(0, text.size() - 1), "smlab");
  REQUIRE(line.has_value());
  CHECK(line->host == "n2");
  CHECK((line->word == StepWord::Failed));
  CHECK(line->text.starts_with("no way"));
  CHECK(parse_step_line("smlab n2 missing", "smlab").has_value());
  for (const char* other : {"noise", "", "smlab", "smlab n2", "smlac n2 missing", "smlab n2 else x"}) {
    CHECK_FALSE(parse_step_line(other, "smlab").has_value());
  }
}
