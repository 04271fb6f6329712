#include "launcher/sagemaker/hyperparameters.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::sagemaker;

namespace {
using Words = std::vector<std::string>;

// The word that a program gets for a value that the file has as this string.
std::string argument(const std::string& written, ArgumentStyle style = ArgumentStyle::Toolkit) {
  const std::string text = to_json(Value{Object{{"key", Value{written}}}}, JsonStyle::Default);
  const auto all = parse_hyperparameters(text, "h.json");
  if (all.has_error()) FAIL(all.error().message());
  const Words words = arguments_of(*all, style);
  REQUIRE(words.size() == 2);
  CHECK(words[0] == "--key");
  return words[1];
}
}  // namespace

TEST_CASE("hyperparameters become the words that the training toolkit makes of them") {
  struct Row {
    const char* written;
    const char* argument;
  };
  const Row rows[] = {
      {"\"train.py\"", "train.py"},
      {"train.py", "train.py"},
      {"1e-5", "1e-05"},
      {"3E4", "30000.0"},
      {"1.50", "1.5"},
      {"1e16", "1e+16"},
      {"NaN", "nan"},
      {"Infinity", "inf"},
      {"-Infinity", "-inf"},
      {"007", "007"},
      {"True", "True"},
      {"1_000", "1_000"},
      {" 5 ", "5"},
      {"-0", "0"},
      {"-0.0", "-0.0"},
      {"true", "True"},
      {"false", "False"},
      {"null", ""},
      {"", ""},
      {"[\"it's\"]", "[\"it's\"]"},
      {"[\"a\", \"b c\"]", "['a', 'b c']"},
      {"[]", "[]"},
      {"{}", ""},
      {"{\"b\":1,\"a\":\"x y\"}", "a=x y,b=1"},
      {"{\"a\":{\"k\":[true,null]}}", "a={'k': [True, None]}"},
      {"{\"a\":null}", "a=None"},
      {"123456789012345678901234567890", "123456789012345678901234567890"},
      {"1e400", "inf"},
      {"1e-400", "0.0"},
      {"0.1", "0.1"},
      {"1e15", "1000000000000000.0"},
      {"9999999999999998.0", "9999999999999998.0"},
      {"0.0001", "0.0001"},
      {"0.00001234", "1.234e-05"},
      {"1e100", "1e+100"},
      {"5e-324", "5e-324"},
      {"1.7976931348623157e308", "1.7976931348623157e+308"},
      {"123456.789", "123456.789"},
      {"1.", "1."},
      {".5", ".5"},
      {"+1", "+1"},
      {"1e", "1e"},
      {"[1,]", "[1,]"},
      {"a \"b\" $HOME", "a \"b\" $HOME"},
      {"[\"a'b\\\"c\\\\d\\n\\u0001\\u00e9\\u00a0\\u2028\\ud83d\\ude00\"]",
       "['a\\'b\"c\\\\d\\n\\x01\xC3\xA9\\xa0\\u2028\xF0\x9F\x98\x80']"},
      {"\"\\ud800\"", "\"\\ud800\""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.written);
    CHECK(argument(row.written) == row.argument);
  }
}

TEST_CASE("hyperparameters become the words that version 3 of the SDK makes of them") {
  struct Row {
    const char* written;
    const char* argument;
  };
  const Row rows[] = {
      {"train.py", "train.py"},
      {"\"train.py\"", "train.py"},
      {"true", "true"},
      {"True", "True"},
      {"FALSE", "FALSE"},
      {"null", "null"},
      {"", ""},
      {" 5 ", "5"},
      {"1e400", "Infinity"},
      {"it's \"x\"\n$HOME", "it's \"x\"\n$HOME"},
      {"\"1e5\"", "100000.0"},
      {"1e-5", "1e-05"},
      {"NaN", "NaN"},
      {"Infinity", "Infinity"},
      {"[\"a\",\"b c\"]", "[\"a\", \"b c\"]"},
      {"{\"b\":1,\"a\":\"x y\"}", "{\"b\": 1, \"a\": \"x y\"}"},
      {"[\"\\u00e9\\ud83d\\ude00\\u007f\\b\\/\"]", "[\"\\u00e9\\ud83d\\ude00\\u007f\\b/\"]"},
      {"007", "007"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.written);
    CHECK(argument(row.written, ArgumentStyle::V3) == row.argument);
  }
}

TEST_CASE("names become options, the platform's own are left out, and the order is Python's") {
  const auto all = parse_hyperparameters(
      R"({"lr":"0.1","b":"2","":"x","sagemaker_program":"t.py","sagemaker_mpi_enabled":"true","é":"1","Zz":"3",
          "_tuning_objective_metric":"m","learning-rate":"1","epochs":5})",
      "h.json");
  REQUIRE(all.has_value());
  CHECK(arguments_of(*all, ArgumentStyle::Toolkit) ==
        Words{"", "x", "--Zz", "3", "-b", "2", "--epochs", "5", "--learning-rate", "1", "--lr", "0.1", "-é", "1"});
  CHECK(arguments_of(*all, ArgumentStyle::V3) == Words{"--lr",
                                                       "0.1",
                                                       "--b",
                                                       "2",
                                                       "--",
                                                       "x",
                                                       "--sagemaker_program",
                                                       "t.py",
                                                       "--sagemaker_mpi_enabled",
                                                       "true",
                                                       "--é",
                                                       "1",
                                                       "--Zz",
                                                       "3",
                                                       "--_tuning_objective_metric",
                                                       "m",
                                                       "--learning-rate",
                                                       "1",
                                                       "--epochs",
                                                       "5"});
  CHECK(to_json(Value{of_framework(*all)}, JsonStyle::Compact) == R"({"sagemaker_mpi_enabled":true})");
}

TEST_CASE("compact JSON has sorted keys and nothing but ASCII") {
  const auto value = parse_json(R"({"b":[1, 2.50,"é"],"a":{"d":null,"c":1E5},"b":[true]})");
  REQUIRE(value.has_value());
  CHECK(to_json(*value, JsonStyle::Compact) == R"({"a":{"c":100000.0,"d":null},"b":[true]})");
}

TEST_CASE("a bad hyperparameters.json is refused with one sentence") {
  struct Row {
    std::string text;
    const char* message;
  };
  const Row rows[] = {
      {"", "h.json: is not JSON (line 1, column 1)"},
      {"{\n\"a\" 1}", "h.json: is not JSON (line 2, column 5)"},
      {"{\"a\":\"\xff\"}", "h.json: is not JSON (line 1, column 7)"},
      {"[]", "h.json: is no JSON object; expected {\"name\": \"value\", ...}"},
      {"{} x", "h.json: is not JSON (line 1, column 4)"},
      {std::string((4 << 20) + 1, ' '), "h.json: is larger than 4 MiB"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text.substr(0, 40));
    const auto all = parse_hyperparameters(row.text, "h.json");
    REQUIRE(all.has_error());
    CHECK(all.error().kind() == ErrorKind::Config);
    CHECK(all.error().message() == row.message);
  }
  CHECK(parse_json(std::string(100000, '[')).has_error());
}
