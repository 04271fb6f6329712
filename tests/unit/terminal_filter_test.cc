#include "launcher/output/terminal_filter.h"

#include <random>

#include "tests/support/catch.h"

using sml::output::TerminalFilter;
using namespace std::string_literals;

namespace {

// What is shown of the pieces of one source, which ends after them.
std::string shown(const std::vector<std::string>& pieces) {
  TerminalFilter filter;
  std::string out;
  for (const std::string& piece : pieces) filter.add(piece, out);
  filter.finish(out);
  return out;
}

std::vector<std::string> bytes_of(const std::string& text) {
  std::vector<std::string> pieces;
  for (const char c : text) pieces.emplace_back(1, c);
  return pieces;
}

}  // namespace

TEST_CASE("text passes, and whatever could steer a terminal is shown") {
  struct Row {
    std::string text;
    std::string expected;
  };
  const Row rows[] = {
      {"plain text ~\n", "plain text ~\n"},
      {"a\tb\rc\r\nd", "a\tb\rc\r\nd"},
      {"gr\xc3\xbc\xc3\x9f \xe6\x97\xa5 \xf0\x9f\x98\x80\n", "gr\xc3\xbc\xc3\x9f \xe6\x97\xa5 \xf0\x9f\x98\x80\n"},
      {"\x1b]0;title\x07", "\\x1b]0;title\\x07"},                      // OSC 0: the title
      {"\x1b]8;;http://x\x1b\\here", "\\x1b]8;;http://x\\x1b\\here"},  // OSC 8: a link
      {"\x1b]52;c;cm0K\x07", "\\x1b]52;c;cm0K\\x07"},                  // OSC 52: the clipboard
      {"\x1bP$qm\x1b\\", "\\x1bP$qm\\x1b\\"},                          // DECRQSS: makes it answer
      {"\x1b[6n\x1b[c", "\\x1b[6n\\x1b[c"},                            // so do these
      {"\x1b[2J\x1b[H\x1b[1A\x1b[?25l", "\\x1b[2J\\x1b[H\\x1b[1A\\x1b[?25l"},
      {"\x1b[>4;2m", "\\x1b[>4;2m"},  // ends as a colour does, and is none
      {"\x1b"
       "c\x1b(0\x1b#8",
       "\\x1b"
       "c\\x1b(0\\x1b#8"},
      {"\x1b\x1b[2J", "\\x1b\\x1b[2J"},
      {"a\b\x7f\x07\v\f\0z"s, "a\\x08\\x7f\\x07\\x0b\\x0c\\x00z"},
      {"\x0e\x0f", "\\x0e\\x0f"},
      {"\xc2\x9b"
       "2J\xc2\x85",
       "\\xc2\\x9b"
       "2J\\xc2\\x85"},  // C1 as UTF-8
      {"\x9b"
       "2J\x84",
       "\\x9b"
       "2J\\x84"},  // and as single bytes
      {"\xc2\xa0\xc3\xbf", "\xc2\xa0\xc3\xbf"},
      {"\xff\xfe\xc0\xaf\xed\xa0\x80", "\\xff\\xfe\\xc0\\xaf\\xed\\xa0\\x80"},
      {"\xe2\x82"
       "a",
       "\\xe2\\x82"
       "a"},
      {"cut \xe2\x82", "cut \\xe2\\x82"},
      {"cut \x1b[3", "cut \\x1b[3"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.expected);
    CHECK(shown({row.text}) == row.expected);
    CHECK(shown(bytes_of(row.text)) == row.expected);
  }
}

TEST_CASE("colours pass, and end with their line") {
  struct Row {
    std::string text;
    std::string expected;
  };
  const Row rows[] = {
      {"\x1b[31mred\x1b[0m\n", "\x1b[31mred\x1b[0m\n"},
      {"\x1b[1;38:5:9mred\x1b[m plain\n", "\x1b[1;38:5:9mred\x1b[m plain\n"},
      {"\x1b[31mred\nmore\x1b[0m\n", "\x1b[31mred\x1b[0m\n\x1b[31mmore\x1b[0m\n"},
      {"\x1b[31mred\r\n\nmore", "\x1b[31mred\x1b[0m\r\n\n\x1b[31mmore\x1b[0m"},
      {"\x1b[31m\x1b[1mred\n\x1b[4mmore\n", "\x1b[31m\x1b[1mred\x1b[0m\n\x1b[31m\x1b[1m\x1b[4mmore\x1b[0m\n"},
      {"\x1b[31mred\n\x1b[0mplain\n", "\x1b[31mred\x1b[0m\nplain\n"},
      {"\x1b[8mhidden", "\x1b[8mhidden\x1b[0m"},
      {"\x1b[0mplain\n", "\x1b[0mplain\n"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(shown({row.text}) == row.expected);
    CHECK(shown(bytes_of(row.text)) == row.expected);
  }
}

TEST_CASE("what is kept for later is bounded") {
  TerminalFilter filter;
  std::string out;
  const std::string endless = "\x1b[" + std::string(1 << 20, '1');
  for (const char c : endless) filter.add(std::string(1, c), out);
  CHECK(out.size() > endless.size());
  CHECK(out.starts_with("\\x1b[111"));
  out.clear();
  for (int i = 0; i < 100000; ++i) filter.add("\x1b[31m", out);
  out.clear();
  filter.add("x\ny", out);
  CHECK(out.size() < 600);
}

TEST_CASE("whatever is written in whatever pieces: no control byte passes but in colours") {
  std::mt19937 random(11);
  const std::string alphabet = "\x1b\x1b\x1b[[];:01m?>n\n\r\t\b\x07 ab\xc2\x9b\x80\xe2\x82\xac\xff\0"s;
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (int i = 0; i < 300; ++i) text += alphabet[random() % alphabet.size()];
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < text.size();) {
      pieces.push_back(text.substr(at, 1 + random() % 9));
      at += pieces.back().size();
    }
    const std::string out = shown({text});
    REQUIRE((shown(pieces) == out));
    for (std::size_t at = 0; at < out.size(); ++at) {
      const auto c = static_cast<unsigned char>(out[at]);
      if (c == 0x1b) {
        REQUIRE((out.substr(at, 2) == "\x1b["));
        at = out.find_first_not_of("0123456789;:", at + 2);
        REQUIRE((at != std::string::npos && out[at] == 'm'));
      } else {
        REQUIRE((c >= ' ' || c == '\n' || c == '\r' || c == '\t'));
        REQUIRE((c != 0x7f));
        REQUIRE_FALSE((c == 0xc2 && static_cast<unsigned char>(out[at + 1]) < 0xa0));
      }
    }
  }
}
