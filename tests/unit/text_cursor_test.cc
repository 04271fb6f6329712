#include "common/core/text_cursor.h"

#include <string>

#include "tests/support/catch.h"

using namespace sml;

TEST_CASE("words are taken without the blanks and ends of lines before them") {
  std::string_view rest = " \t algo-1\r\n slots = 8 ";
  CHECK(take_word(rest) == "algo-1");
  CHECK(take_word(rest) == "slots");
  CHECK(take_word(rest) == "=");
  CHECK(take_word(rest) == "8");
  CHECK(rest == " ");
  CHECK(take_word(rest).empty());
  CHECK(rest.empty());
}

TEST_CASE("a word ends before the character that is named, which stays") {
  std::string_view rest = "slots=8";
  CHECK(take_word(rest, '=') == "slots");
  CHECK(rest == "=8");
  CHECK(take_word(rest, '=').empty());
  CHECK(rest == "=8");
  rest = std::string_view("a\0b c", 5);
  CHECK(take_word(rest).size() == 3);
}

TEST_CASE("characters are taken as long as they are wanted") {
  const auto is_x = [](char c) { return c == 'x'; };
  std::string_view rest = "xxyx";
  CHECK(take_while(rest, is_x) == "xx");
  CHECK(take_while(rest, is_x).empty());
  CHECK(rest == "yx");
}

TEST_CASE("what follows a leading number does not matter") {
  CHECK(leading_number<int>("22.05") == 22);
  CHECK(leading_number<int>("-7x") == -7);
  CHECK(leading_number<std::uint32_t>("ffZ", 16) == 255);
  for (const char* none : {"", " 1", "x1", "-1", "+1"}) {
    CAPTURE(none);
    CHECK_FALSE(leading_number<std::uint16_t>(none).has_value());
  }
  CHECK_FALSE(leading_number<std::uint16_t>("65536").has_value());
}

TEST_CASE("an error of a file names it, and the line") {
  CHECK(file_error("nodes.txt", "is empty").message() == "nodes.txt: is empty");
  CHECK(file_error("nodes.txt", 7, "is empty").message() == "nodes.txt:7: is empty");
  CHECK(file_error("a\nb", "is empty").message() == "a\\nb: is empty");
  CHECK(file_error("nodes.txt", "is empty").kind() == ErrorKind::Config);
}

TEST_CASE("a cursor reads a file by lines, and knows in which it stands") {
  std::string seen;
  for (TextCursor at("\xEF\xBB\xBFone\n\nthree", "list"); !at.at_end(); at.take_line()) {
    seen += std::to_string(at.line()) + ":" + std::string(at.rest_of_line()) + ";";
  }
  CHECK(seen == "1:one;2:;3:three;");
  CHECK(TextCursor("", "list").at_end());
}

TEST_CASE("a cursor counts the lines that it passes, however it does") {
  TextCursor at(" a\nb\n\nc", "list");
  at.skip_blanks();
  CHECK(at.front() == 'a');
  CHECK(at.take() == 'a');
  CHECK(at.front() == '\n');
  at.skip_blanks();
  CHECK(at.line() == 1);
  CHECK(at.take() == '\n');
  CHECK(at.error("x").message() == "list:2: x");
  const TextCursor place = at;
  CHECK(at.take(3) == "b\n\n");
  CHECK(at.line() == 4);
  CHECK(at.rest() == "c");
  CHECK(at.take_line() == "c");
  CHECK(at.at_end());
  CHECK(at.front() == '\n');
  CHECK(at.take(1).empty());
  CHECK(place.line() == 2);
  CHECK(place.rest_of_line() == "b");
}
