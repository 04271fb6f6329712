#include "launcher/output/line_merger.h"

#include <random>

#include "tests/support/catch.h"

using sml::output::LineMerger;
using sml::output::OutputEnd;
using namespace std::string_literals;

namespace {

constexpr std::size_t kMaxLine = LineMerger::kMaxLine;

// Two tagged sources and what they wrote in turn.
struct Two {
  LineMerger merger{};
  LineMerger::Source a = merger.add_source("[0] ");
  LineMerger::Source b = merger.add_source("[1] ");
  std::string take() { return std::exchange(merger.output(), {}); }
};

std::string letters(std::size_t n, char c = 'x') { return std::string(n, c); }

}  // namespace

TEST_CASE("whole lines pass at once, tagged, in the order of their ends") {
  Two t;
  t.merger.add(t.a, "one\ntwo\n");
  CHECK(t.take() == "[0] one\n[0] two\n");
  t.merger.add(t.a, "begun ");
  t.merger.add(t.b, "other\n");
  t.merger.add(t.a, "and ended\n");
  CHECK(t.take() == "[1] other\n[0] begun and ended\n");
  t.merger.add(t.a, "\n");
  CHECK(t.take() == "[0] \n");
  t.merger.add(t.a, "");
  CHECK(t.take().empty());
}

TEST_CASE("a line that has not ended is held back") {
  Two t;
  t.merger.add(t.a, letters(kMaxLine));
  CHECK(t.take().empty());
  t.merger.add(t.a, "\n");
  CHECK((t.take() == "[0] " + letters(kMaxLine) + "\n"));
}

TEST_CASE("a return ends a line too, so that progress bars show at once") {
  Two t;
  t.merger.add(t.a, "10%\r");
  CHECK(t.take() == "[0] 10%\r");
  t.merger.add(t.a, "20%\r30%");
  CHECK(t.take() == "[0] 20%\r");
  t.merger.add(t.b, "b\n");
  CHECK(t.take() == "[1] b\n");
  t.merger.add(t.a, "\n");
  CHECK(t.take() == "[0] 30%\n");
  t.merger.add(t.a, "\r\r\r");
  CHECK(t.take() == "[0] \r[0] \r[0] \r");
}

TEST_CASE("return and newline are one end, in one piece or in two") {
  Two t;
  t.merger.add(t.a, "dos\r\nmore\r\n");
  CHECK(t.take() == "[0] dos\r\n[0] more\r\n");
  t.merger.add(t.a, "dos\r");
  t.merger.add(t.a, "\nmore\n");
  CHECK(t.take() == "[0] dos\r\n[0] more\n");
  t.merger.add(t.a, "dos\r");
  t.merger.add(t.a, "\n");
  t.merger.add(t.a, "\n");
  CHECK(t.take() == "[0] dos\r\n[0] \n");
  t.merger.add(t.a, "x\r");
  t.merger.add(t.a, "");  // nothing has come in between
  t.merger.add(t.a, "y\n");
  CHECK(t.take() == "[0] x\r[0] y\n");
}

TEST_CASE("the newline that comes late loses neither itself nor another's line") {
  Two t;
  t.merger.add(t.a, "dos\r");
  t.merger.add(t.b, "b\n");
  t.merger.add(t.a, "\nnext\n");
  CHECK(t.take() == "[0] dos\r[1] b\n[0] \n[0] next\n");
}

TEST_CASE("a longer line passes in pieces") {
  Two t;
  t.merger.add(t.a, letters(kMaxLine + 1));
  CHECK((t.take() == "[0] " + letters(kMaxLine + 1)));
  t.merger.add(t.a, "tail\nnext\n");
  CHECK(t.take() == "tail\n[0] next\n");
}

TEST_CASE("another's line between two pieces: the first is closed, the next begins with the same sign") {
  Two t;
  t.merger.add(t.a, letters(kMaxLine + 1));
  t.merger.add(t.b, "b\n");
  t.merger.add(t.a, "tail\n");
  t.merger.add(t.a, "next\n");
  CHECK((t.take() == "[0] " + letters(kMaxLine + 1) + "[...]\n[1] b\n[0] [...]tail\n[0] next\n"));
}

TEST_CASE("two long lines of two sources take turns") {
  Two t;
  const std::string piece = letters(kMaxLine + 1);
  t.merger.add(t.a, piece);
  t.merger.add(t.b, piece);
  t.merger.add(t.a, piece);
  t.merger.add(t.a, "\n");
  t.merger.add(t.b, "\n");
  CHECK((t.take() == "[0] " + piece + "[...]\n[1] " + piece + "[...]\n[0] [...]" + piece + "\n[1] [...]\n"));
}

TEST_CASE("a line of our own between two pieces closes the first as well") {
  Two t;
  t.merger.add(t.a, letters(kMaxLine + 1));
  t.merger.add_own_line("sml-run: note");
  t.merger.add(t.a, "tail\n");
  CHECK((t.take() == "[0] " + letters(kMaxLine + 1) + "[...]\nsml-run: note\n[0] [...]tail\n"));
}

TEST_CASE("a last line without an end is passed on without one") {
  Two t;
  t.merger.add(t.a, "no end");
  CHECK(t.take().empty());
  t.merger.finish(t.a);
  CHECK(t.take() == "[0] no end");
}

TEST_CASE("it is completed only when a line of another follows") {
  Two t;
  t.merger.add(t.a, "no end");
  t.merger.finish(t.a);
  t.merger.add(t.b, "half");
  CHECK(t.take() == "[0] no end");
  t.merger.add(t.b, " whole\n");
  CHECK(t.take() == "\n[1] half whole\n");
  t.merger.add(t.b, "b ends");
  t.merger.finish(t.b);
  t.merger.add_own_line("sml-run: over");
  CHECK(t.take() == "[1] b ends\nsml-run: over\n");
}

TEST_CASE("a source that ends with its line leaves nothing to complete") {
  Two t;
  t.merger.add(t.a, "a\n");
  t.merger.finish(t.a);
  t.merger.finish(t.b);  // has never written
  t.merger.add_own_line("x");
  CHECK(t.take() == "[0] a\nx\n");
}

TEST_CASE("a long line that ends without an end") {
  Two t;
  t.merger.add(t.a, letters(kMaxLine + 1));
  t.merger.finish(t.a);
  t.merger.add(t.b, "b\n");
  CHECK((t.take() == "[0] " + letters(kMaxLine + 1) + "\n[1] b\n"));

  Two u;
  u.merger.add(u.a, letters(kMaxLine + 1));
  u.merger.add(u.b, "b\n");
  u.merger.add(u.a, "tail");
  u.merger.finish(u.a);
  CHECK((u.take() == "[0] " + letters(kMaxLine + 1) + "[...]\n[1] b\n[0] [...]tail"));
}

TEST_CASE("lines of our own stand alone") {
  Two t;
  t.merger.add(t.a, "half");
  t.merger.add_own_line("sml-run: one");
  t.merger.add_own_line("sml-run: two");
  t.merger.add(t.a, " whole\n");
  CHECK(t.take() == "sml-run: one\nsml-run: two\n[0] half whole\n");
}

TEST_CASE("bytes of any value pass unchanged") {
  std::string all;
  for (int i = 0; i < 256; ++i) {
    if (i != '\n' && i != '\r') all.push_back(static_cast<char>(i));
  }
  Two t;
  t.merger.add(t.a, all + "\n");
  CHECK(t.take() == "[0] " + all + "\n");
}

TEST_CASE("a plain source is plain until another comes, and lines of both are whole") {
  LineMerger merger;
  const LineMerger::Source first = merger.add_plain_source();
  merger.add(first, "begun");
  const LineMerger::Source other = merger.add_source("");
  merger.add(other, "a");
  merger.add(first, " and ended\n");
  merger.add(first, "b");
  merger.add(other, "c\n");
  merger.add(first, "d\n");
  CHECK(merger.output() == "begun and ended\nac\nbd\n");
}

TEST_CASE("a plain source passes at once and as it is") {
  LineMerger merger;
  const LineMerger::Source only = merger.add_plain_source();
  const std::string anything = "prompt> \0\r\n\r\xff"s + letters(3 * kMaxLine);
  merger.add(only, anything);
  CHECK((merger.output() == anything));
  merger.output().clear();
  merger.add_own_line("sml-run: note");
  merger.add(only, "tail");
  merger.finish(only);
  CHECK(merger.output() == "\nsml-run: note\ntail");
  merger.output().clear();
  merger.add(only, "\n");
  merger.add_own_line("x");
  CHECK(merger.output() == "\nx\n");
}

// ---- what must hold for any input

namespace {

// Tags that no source can write, so that the output can be taken apart again.
std::string tag_of(std::size_t source) { return "\x01"s + static_cast<char>('A' + source) + "\x02"; }

struct Parsed {
  std::vector<std::string> by_source;
  std::vector<bool> completed;  // something of another follows its last piece, which is not one of a line to continue
  std::size_t last = 0;
};

// The pieces of every source, joined, without tags and without the signs of continuation.
Parsed take_apart(std::string_view output, std::size_t sources) {
  Parsed out{std::vector<std::string>(sources), std::vector<bool>(sources, true), sources};
  while (!output.empty()) {
    REQUIRE(output[0] == '\x01');
    const auto source = static_cast<std::size_t>(output[1] - 'A');
    REQUIRE(source < sources);
    REQUIRE(output[2] == '\x02');
    output.remove_prefix(3);
    std::string_view piece = output.substr(0, output.find('\x01'));
    output.remove_prefix(piece.size());
    if (piece.starts_with("[...]")) piece.remove_prefix(5);
    const bool continues = piece.ends_with("[...]\n");
    if (continues) piece.remove_suffix(6);
    out.completed[source] = !continues;
    out.by_source[source] += piece;
    out.last = source;
  }
  if (out.last < sources) out.completed[out.last] = false;
  return out;
}

}  // namespace

TEST_CASE("whatever is written in whatever pieces: nothing is lost, added or moved within a source") {
  std::mt19937 random(20240607);
  const auto below = [&random](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  constexpr char kAlphabet[] = "\n\r\n\rabcdefgh\xff";  // ends often, '[' never
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    const bool with_long_lines = round % 10 == 0;
    const std::size_t own = 4;  // the launcher's own lines come as if from a fifth source
    LineMerger merger;
    for (std::size_t i = 0; i < own; ++i) merger.add_source(tag_of(i));
    std::vector<std::string> written(own + 1);
    std::string output;
    std::vector<bool> finished(own, false);
    for (int step = 0; step < 200; ++step) {
      const std::size_t source = below(own + 1);
      if (source == own) {
        merger.add_own_line(tag_of(own) + "note");
        written[own] += "note\n";
      } else if (finished[source]) {
        continue;
      } else if (below(60) == 0) {
        merger.finish(static_cast<LineMerger::Source>(source));
        finished[source] = true;
      } else {
        std::string piece;
        for (std::size_t n = below(20); n > 0; --n) piece.push_back(kAlphabet[below(sizeof kAlphabet - 1)]);
        if (with_long_lines && below(8) == 0) piece += letters(below(2 * kMaxLine), 'L');
        merger.add(static_cast<LineMerger::Source>(source), piece);
        written[source] += piece;
      }
      if (below(3) == 0) output += std::exchange(merger.output(), {});
    }
    for (std::size_t i = 0; i < own; ++i) {
      if (!finished[i]) merger.finish(static_cast<LineMerger::Source>(i));
    }
    output += merger.output();
    if (!with_long_lines) REQUIRE(output.find("[...]") == std::string::npos);
    const Parsed parsed = take_apart(output, own + 1);
    for (std::size_t i = 0; i <= own; ++i) {
      CAPTURE(i);
      std::string expected = written[i];
      const bool ended = expected.empty() || expected.back() == '\n' || expected.back() == '\r';
      if (!ended && parsed.completed[i]) expected += '\n';
      REQUIRE((parsed.by_source[i] == expected));
    }
  }
}

TEST_CASE("how the input is cut does not change lines that are not too long") {
  std::mt19937 random(7);
  std::string text;
  for (int i = 0; i < 4000; ++i) text.push_back("ab\n\r"[random() % 4]);
  LineMerger whole;
  whole.add(whole.add_source("t "), text);
  for (int round = 0; round < 50; ++round) {
    LineMerger cut;
    const LineMerger::Source source = cut.add_source("t ");
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t n = 1 + random() % (round < 5 ? 1 : 300);
      cut.add(source, std::string_view(text).substr(at, n));
      at += n;
    }
    REQUIRE((cut.output() == whole.output()));
  }
}

namespace {

// As Two, on a terminal.
struct Screen {
  LineMerger merger{LineMerger::For::Terminal};
  LineMerger::Source a = merger.add_source("[0] ");
  LineMerger::Source b = merger.add_source("[1] ");
  std::string take() { return std::exchange(merger.output(), {}); }
};

}  // namespace

TEST_CASE("on a terminal nobody writes over a line that another left standing with a return") {
  Screen s;
  s.merger.add(s.a, "          [1] not mine\r");
  s.merger.add(s.b, "mine\n");
  CHECK(s.take() == "[0]           [1] not mine\r\n[1] mine\n");
  s.merger.add(s.a, "10%\r");
  s.merger.add(s.a, "20%\r");
  CHECK(s.take() == "[0] 10%\r[0] 20%\r");
  s.merger.add_own_line("sml-run: note");
  CHECK(s.take() == "\nsml-run: note\n");
  s.merger.add(s.a, "30%\r");
  s.merger.add(s.a, "\n");
  s.merger.add(s.b, "b\n");
  CHECK(s.take() == "[0] 30%\r\n[1] b\n");
}

TEST_CASE("on a terminal progress bars without tags share a line, which other lines do not write over") {
  LineMerger merger(LineMerger::For::Terminal);
  const LineMerger::Source a = merger.add_source("");
  const LineMerger::Source b = merger.add_source("");
  merger.add(a, "\r10%");  // as tqdm writes its states
  merger.add(b, "\r11%");
  merger.add(a, "\r20%");
  merger.add(b, "\r21%");
  CHECK(merger.output() == "\r\r10%\r11%\r");
  merger.add(a, "\n");
  merger.add(b, "\n");
  CHECK(merger.output() == "\r\r10%\r11%\r\n20%\n21%\n");
  merger.add(b, "30%\r");
  merger.add_own_line("sml-run: note");
  CHECK(merger.output().ends_with("30%\r\nsml-run: note\n"));
  merger.set_tag(b, "[1] ");
  merger.add(b, "40%\r");
  merger.add(a, "40%\r");
  CHECK(merger.output().ends_with("[1] 40%\r\n40%\r"));
}

TEST_CASE("on a terminal colours of an unfinished line do not reach the next") {
  Screen s;
  s.merger.add(s.a, "\x1b[31m" + letters(kMaxLine));
  s.merger.add(s.b, "b\n");
  CHECK(s.take() == "[0] \x1b[31m" + letters(kMaxLine) + "[...]\x1b[0m\n[1] b\n");
}

TEST_CASE("on a terminal a plain source's return does not stand under our own lines") {
  LineMerger merger(LineMerger::For::Terminal);
  merger.add(merger.add_plain_source(), "50%\r");
  merger.add_own_line("sml-run: note");
  CHECK(merger.output() == "50%\r\nsml-run: note\n");
}

TEST_CASE("a prompt in a file is a piece of its line") {
  Two t;
  t.merger.add(t.a, "name? ");
  t.merger.show_prompt(t.a);
  CHECK(t.take() == "[0] name? ");
  CHECK(t.merger.end() == OutputEnd::Text);
  t.merger.add(t.a, "you\n");
  CHECK(t.take() == "you\n");
  t.merger.add(t.a, "name? ");
  t.merger.show_prompt(t.a);
  t.merger.add(t.b, "b\n");
  CHECK_FALSE(t.merger.prompt_is_hidden());
  t.merger.add(t.a, "you\n");
  CHECK(t.take() == "[0] name? [...]\n[1] b\n[0] [...]you\n");
}

TEST_CASE("a prompt on a terminal can be repeated below the lines of others") {
  Two t{LineMerger(LineMerger::For::Terminal)};
  t.merger.add(t.a, "name? ");
  t.merger.show_prompt(t.a);
  t.merger.add(t.b, "b\n");
  CHECK(t.take() == "[0] name? \x1b[0m\n[1] b\n");
  CHECK(t.merger.prompt_is_hidden());
  CHECK(t.merger.end() == OutputEnd::Text);
  t.merger.repeat_prompt();
  CHECK(t.take() == "[0] name? ");
  CHECK_FALSE(t.merger.prompt_is_hidden());
  t.merger.add(t.b, "b\n");
  t.merger.add(t.a, "you\n");
  CHECK(t.take() == "\x1b[0m\n[1] b\n[0] you\n");
  CHECK_FALSE(t.merger.prompt_is_hidden());
}

TEST_CASE("of two prompts on a terminal none is repeated, as each would push up the other") {
  Two t{LineMerger(LineMerger::For::Terminal)};
  for (const LineMerger::Source source : {t.a, t.b}) {
    t.merger.add(source, "> ");
    t.merger.show_prompt(source);
  }
  CHECK(t.take() == "[0] > \x1b[0m\n[1] > ");
  CHECK_FALSE(t.merger.prompt_is_hidden());
}

TEST_CASE("a line typed on the terminal ends the prompt before it") {
  Two t{LineMerger(LineMerger::For::Terminal)};
  t.merger.add(t.a, "> ");
  t.merger.show_prompt(t.a);
  t.merger.line_typed();
  CHECK(t.merger.end() == OutputEnd::Line);
  t.merger.add(t.a, "42\n");
  CHECK(t.take() == "[0] > [0] 42\n");
  t.merger.add(t.a, "> ");
  t.merger.show_prompt(t.a);
  t.merger.add(t.b, "b\n");
  t.merger.line_typed();
  CHECK_FALSE(t.merger.prompt_is_hidden());
}
