#include "common/wire/bytes.h"

#include <limits>

#include "tests/support/catch.h"

using namespace sml;
using wire::Reader;
using wire::Writer;
using namespace std::string_literals;

namespace {

enum class Colour : std::uint8_t { Red = 7, Blue = 200 };

struct Inner {
  std::uint16_t number = 0;
  std::string text;
  void fields(auto& a) { a(number, text); }
};
struct Outer {
  std::vector<Inner> list;
  Rank rank;
  void fields(auto& a) { a(list, rank); }
};

template <class... T>
std::string written(const T&... values) {
  std::string out;
  Writer writer(out);
  writer(values...);
  return out;
}

}  // namespace

TEST_CASE("numbers are big-endian, in their own width") {
  CHECK(written(std::uint8_t{0x12}) == "\x12"s);
  CHECK(written(std::uint16_t{0x1234}) == "\x12\x34"s);
  CHECK(written(std::uint32_t{0x12345678}) == "\x12\x34\x56\x78"s);
  CHECK(written(std::uint64_t{0x0102030405060708}) == "\x01\x02\x03\x04\x05\x06\x07\x08"s);
  CHECK(written(std::int32_t{-2}) == "\xff\xff\xff\xfe"s);
  CHECK(written(Colour::Blue) == "\xc8"s);
  CHECK(written(Rank(5)) == "\0\0\0\x05"s);
}

TEST_CASE("strings and lists have their length before them") {
  CHECK(written(""s) == "\0\0\0\0"s);
  CHECK(written("a\0b"s) == "\0\0\0\x03\x61\0\x62"s);
  CHECK(written(std::vector<std::string>{"x", ""}) == "\0\0\0\x02\0\0\0\x01x\0\0\0\0"s);
  CHECK(written(Outer{{{258, "t"}}, Rank(9)}) == "\0\0\0\x01\x01\x02\0\0\0\x01t\0\0\0\x09"s);
}

TEMPLATE_TEST_CASE("every number comes back", "", std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                   std::int32_t, std::uint64_t, std::int64_t) {
  using Limits = std::numeric_limits<TestType>;
  for (const TestType value : {Limits::min(), TestType{0}, TestType{1}, static_cast<TestType>(-1), Limits::max()}) {
    const std::string bytes = written(value);
    CHECK(bytes.size() == sizeof value);
    Reader reader(bytes);
    TestType back = 42;
    reader(back);
    CHECK(reader.ok());
    CHECK(reader.at_end());
    CHECK(back == value);
  }
}

TEST_CASE("structures come back, however they nest") {
  const std::string all_bytes = [] {
    std::string s;
    for (int i = 0; i < 256; ++i) s.push_back(static_cast<char>(i));
    return s;
  }();
  const Outer sent{{{0, ""}, {65535, all_bytes}, {1, std::string(100000, 'x')}}, Rank(4'000'000'000U)};
  const std::string bytes = written(sent);
  Reader reader(bytes);
  Outer got;
  got.list.resize(5);  // whatever stood there before is gone
  reader(got);
  REQUIRE(reader.ok());
  CHECK(reader.at_end());
  CHECK(got.rank == sent.rank);
  REQUIRE(got.list.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(got.list[i].number == sent.list[i].number);
    CHECK(got.list[i].text == sent.list[i].text);
  }
}

TEST_CASE("a reader of a shorter input fails at any length") {
  const std::string bytes = written(Outer{{{258, "text"}, {3, ""}}, Rank(9)}, std::uint64_t{1}, Colour::Red);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CAPTURE(length);
    Reader reader(std::string_view(bytes).substr(0, length));
    Outer outer;
    std::uint64_t number = 0;
    Colour colour{};
    reader(outer, number, colour);
    CHECK_FALSE(reader.ok());
  }
}

TEST_CASE("after the first thing that does not fit every later field stays as it was") {
  const std::string bytes = written(std::uint8_t{1}) + "\0\0\0\x09short"s;
  Reader reader(bytes);
  std::uint8_t first = 0;
  std::string text = "before";
  std::uint8_t later = 77;
  std::string also = "also";
  reader(first, text, later, also);
  CHECK_FALSE(reader.ok());
  CHECK(first == 1);
  CHECK(text == "before");
  CHECK(later == 77);
  CHECK(also == "also");
}

TEST_CASE("a length that lies allocates nothing") {
  for (const std::string& lie : {"\xff\xff\xff\xff"s, "\x7f\xff\xff\xff"s, "\x80\0\0\0"s}) {
    Reader of_text(lie);
    std::string text;
    of_text(text);
    CHECK_FALSE(of_text.ok());
    CHECK(text.capacity() < 100);

    Reader of_list(lie);
    std::vector<std::string> list;
    of_list(list);
    CHECK_FALSE(of_list.ok());
    CHECK(list.capacity() < 100);
  }
}

TEST_CASE("what is left over is seen") {
  Reader reader("\x01\x02");
  std::uint8_t one = 0;
  reader(one);
  CHECK(reader.ok());
  CHECK_FALSE(reader.at_end());
}
