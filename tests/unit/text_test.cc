#include "common/core/text.h"

#include <chrono>
#include <random>

#include "launcher/hosts/host_list.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace std::chrono_literals;

TEST_CASE("durations are read in the accepted forms") {
  struct Row {
    const char* text;
    Duration expected;
  };
  const Row rows[] = {
      {"90", 90s},     {"90s", 90s},      {"1.5m", 90s},
      {"2h", 2h},      {"250ms", 250ms},  {"0", 0s},
      {"0.5s", 500ms}, {"0.25ms", 250us}, {"1.000000001", 1000000001ns},
      {"0.1h", 6min},  {"8760h", 8760h},  {"1.9999999999", 1999999999ns},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const Result<Duration> parsed = parse_duration(row.text);
    REQUIRE(parsed.has_value());
    CHECK(*parsed == row.expected);
  }
}

TEST_CASE("anything else is no duration, and the message quotes it") {
  for (const char* text : {"",
                           "s",
                           "-1",
                           "+1",
                           "1.",
                           ".5",
                           "1.5.2",
                           "1 s",
                           " 1",
                           "1d",
                           "1S",
                           "1e3",
                           "0x10",
                           "nan",
                           "inf",
                           "8761h",
                           "31536001",
                           "99999999999999999999",
                           "9999999999999999999999h",
                           "1m30s"}) {
    CAPTURE(text);
    const Result<Duration> parsed = parse_duration(text);
    REQUIRE(parsed.has_error());
    CHECK(parsed.error().kind() == ErrorKind::Usage);
    CHECK(parsed.error().message() ==
          "\"" + std::string(text) + "\" is no duration; expected 90, 90s, 1.5m, 2h or 250ms, at most a year");
  }
}

TEST_CASE("durations are shown in the unit that reads best") {
  struct Row {
    Duration duration;
    const char* expected;
  };
  const Row rows[] = {{0s, "0 s"},        {250us, "250 us"}, {250ms, "250 ms"}, {1500ms, "1.5 s"}, {10s, "10 s"},
                      {90s, "90 s"},      {120s, "2 min"},   {150s, "2.5 min"}, {2h, "2 h"},       {90min, "90 min"},
                      {150min, "2.5 h"},  {8760h, "8760 h"}, {-2s, "-2 s"},     {1ms, "1 ms"},     {1s, "1 s"},
                      {999960ns, "1 ms"}, {999960us, "1 s"}};
  for (const Row& row : rows) CHECK(format_duration(row.duration) == row.expected);
}

TEST_CASE("names fold into ranges, in the order given") {
  struct Row {
    std::vector<std::string> names;
    const char* expected;
  };
  const Row rows[] = {
      {{}, ""},
      {{"algo-1"}, "algo-1"},
      {{"algo-1", "algo-2", "algo-4", "x"}, "algo-[1-2,4],x"},
      {{"algo-4", "algo-5", "algo-6"}, "algo-[4-6]"},
      {{"n08", "n09", "n10", "n11"}, "n[08-11]"},
      {{"n8", "n9", "n10"}, "n[8-10]"},
      {{"n1", "n01"}, "n[1,01]"},
      {{"n099", "n100"}, "n[099-100]"},
      {{"n3", "n1", "n2"}, "n[3,1-2]"},
      {{"a1", "b1", "a2"}, "a1,b1,a2"},
      {{"x", "y"}, "x,y"},
      {{"n1.example", "n2.example"}, "n1.example,n2.example"},
      {{"10.0.0.1", "10.0.0.2"}, "10.0.0.[1-2]"},
      {{"2001:db8::9", "2001:db8::10"}, "2001:db8::9,2001:db8::10"},
      {{"n99999999999999999999", "n1"}, "n99999999999999999999,n1"},
      {{"a1", "a1"}, "a[1,1]"},
  };
  for (const Row& row : rows) CHECK(fold_names(row.names) == row.expected);
}

TEST_CASE("folded names read back as the same hosts") {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> names;
    for (int i = 0; i < 12; ++i) {
      const auto number = random() % 120;
      std::string digits = std::to_string(number);
      if (random() % 3 == 0) digits.insert(0, "0");
      std::string name = std::string(random() % 2 == 0 ? "a-" : "b") + digits;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    const std::string folded = fold_names(names);
    CAPTURE(folded);
    const auto hosts = hosts::parse_host_list(folded);
    REQUIRE(hosts.has_value());
    std::vector<std::string> back;
    for (const plan::Host& host : *hosts) back.push_back(host.name);
    CHECK(back == names);
  }
}

TEST_CASE("bytes are shown so that they cannot steer a terminal") {
  struct Row {
    std::string bytes;
    const char* expected;
  };
  const Row rows[] = {
      {"plain text 'quoted'", "plain text 'quoted'"},
      {"a\nb\tc\rd", "a\\nb\\tc\\rd"},
      {"\x1b[31m", "\\x1b[31m"},
      {std::string("\0", 1), "\\x00"},
      {"\x7f", "\\x7f"},
      {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
      {"\xe6\x97\xa5\xf0\x9f\x98\x80", "\xe6\x97\xa5\xf0\x9f\x98\x80"},
      {"\xc3", "\\xc3"},
      {"\xff\xfe", "\\xff\\xfe"},
      {"\xc0\xaf", "\\xc0\\xaf"},                    // overlong
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},           // surrogate
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // beyond Unicode
      {"\xe2\x28\xa1", "\\xe2(\\xa1"},
      {"\xc2\x9b"
       "31m",
       "\\xc2\\x9b"
       "31m"},                              // C1 control
      {"\xe2\x80\xae", "\\xe2\\x80\\xae"},  // right-to-left override
      {"\xe2\x80\x94", "\xe2\x80\x94"},     // a dash
  };
  for (const Row& row : rows) CHECK(show(row.bytes) == row.expected);
}

TEST_CASE("what is shown is cut at the limit, never within a character") {
  CHECK(show("abcdef", 6) == "abcdef");
  CHECK(show("abcdefg", 6) == "abc...");
  CHECK(show("\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc", 6) == "\xc3\xbc...");
  CHECK(show("ab\x01\x02\x03", 7) == "ab...");
  CHECK(show("abcdef", 2) == "..");
  CHECK(show(std::string(1000, 'x')).size() == 200);
}

TEST_CASE("quoted words read back as the same words") {
  CHECK(shell_quote("it's") == "'it'\\''s'");
  CHECK(shell_quote("") == "''");
  CHECK(shell_quote("train.py") == "train.py");
  CHECK(shell_quote("--lr=0.1,x:y@z/%+_-") == "--lr=0.1,x:y@z/%+_-");
  for (const char* unsafe : {"a b", "$HOME", "*", "a;b", "`x`", "#", "~", "a\nb", "\"", "\\", "!", "(", "\xff"}) {
    CAPTURE(unsafe);
    CHECK(shell_quote(unsafe).front() == '\'');
    const auto words = shell_words(shell_quote(unsafe) + " " + shell_quote("") + " next");
    REQUIRE(words.has_value());
    CHECK(*words == std::vector<std::string>{unsafe, "", "next"});
  }
}

TEST_CASE("words are split as a POSIX shell does, without expansion") {
  using Words = std::vector<std::string>;
  struct Row {
    const char* text;
    Words expected;
  };
  const Row rows[] = {
      {"", {}},
      {"  \t\n ", {}},
      {"ssh -o BatchMode=yes", {"ssh", "-o", "BatchMode=yes"}},
      {"a'b c'd", {"ab cd"}},
      {"\"a \\\" \\$ \\x\"", {"a \" $ \\x"}},
      {"a\\ b", {"a b"}},
      {"'' \"\"", {"", ""}},
      {"'$HOME' $HOME *", {"$HOME", "$HOME", "*"}},
      {"a\\\nb \"c\\\nd\"", {"ab", "cd"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto words = shell_words(row.text);
    REQUIRE(words.has_value());
    CHECK(*words == row.expected);
  }
}

TEST_CASE("unfinished quotes are errors that show the text") {
  CHECK(shell_words("ssh 'x").error().message() == "closing ' is missing in \"ssh 'x\"");
  CHECK(shell_words("ssh \"x\\\"").error().message() == "closing \" is missing in \"ssh \"x\\\"\"");
  CHECK(shell_words("ssh \\").error().message() == "nothing follows the last \\ in \"ssh \\\"");
}

TEST_CASE("the nearest word is found for typing mistakes only") {
  const std::vector<std::string_view> options{"hosts", "np", "nproc-per-node", "resource-config", "verbose", "grace"};
  struct Row {
    const char* word;
    const char* expected;
  };
  const Row rows[] = {
      {"hotsfile", "hosts"},
      {"host", "hosts"},
      {"hsots", "hosts"},
      {"nproc_per_node", "nproc-per-node"},
      {"verbos", "verbose"},
      {"resource", "resource-config"},
      {"grcae", "grace"},
      {"nq", "np"},
      {"z", ""},
      {"", ""},
      {"completely-other", ""},
      {"timeout", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.word);
    CHECK(nearest(row.word, options) == row.expected);
  }
  CHECK(nearest(std::string(5000, 'x'), options).empty());
}

TEST_CASE("sizes") {
  CHECK(parse_size("0") == 0);
  CHECK(parse_size("65536") == 65536);
  CHECK(parse_size("64K") == 65536);
  CHECK(parse_size("10M") == 10'485'760);
  CHECK(parse_size("2G") == 2'147'483'648);
  CHECK(parse_size("1T") == std::uint64_t{1} << 40);
  CHECK(parse_size("18446744073709551615") == ~std::uint64_t{0});
  for (const char* text :
       {"", "K", "-1", "1.5M", "1k", "1KB", " 1", "1 ", "18446744073709551616", "18014398509481984K"}) {
    CHECK(!parse_size(text));
  }
}

TEST_CASE("blanks at both ends are cut off, and text at separators") {
  CHECK(trim(" \t a b\r\n") == "a b");
  CHECK(trim("a") == "a");
  CHECK(trim(" \n ").empty());
  CHECK(trim("").empty());
  CHECK(trim("\f a\n", " \f") == "a\n");
  using Pieces = std::vector<std::string_view>;
  CHECK(split("a,b,,c", ',') == Pieces{"a", "b", "", "c"});
  CHECK(split(",", ',') == Pieces{"", ""});
  CHECK(split("", ',') == Pieces{""});
}

TEST_CASE("a number is the whole text, and fits") {
  CHECK(parse_number<std::uint16_t>("65535") == 65535);
  CHECK(parse_number<std::uint16_t>("ffff", 16) == 65535);
  CHECK(parse_number<int>("-7") == -7);
  CHECK(parse_number<double>("0.5") == 0.5);
  for (const char* bad : {"", "65536", "-1", "+1", " 1", "1 ", "1a", "0x1"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_number<std::uint16_t>(bad).has_value());
  }
}

TEST_CASE("text is taken up to a separator, which goes, too") {
  std::string_view rest = "a,,b";
  CHECK(take_until(rest, ',') == "a");
  CHECK(take_until(rest, ',').empty());
  CHECK(take_until(rest, ',') == "b");
  CHECK(rest.empty());
  CHECK(take_until(rest, ',').empty());
}
