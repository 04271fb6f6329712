#include "launcher/agent/pipes/record_splitter.h"

#include "tests/support/catch.h"
#include "tests/support/record_io.h"

using namespace sml;
using namespace sml::agent;
using plan::FifoFraming;
using test::frame;

namespace {

using Sizes = std::vector<std::size_t>;

// The sizes of the records in `stream`, which comes in pieces of `step` bytes; a fault is thrown.
Sizes sizes_of(RecordSplitter& splitter, std::string_view stream, std::size_t step) {
  Sizes out;
  std::size_t size = 0;
  for (; !stream.empty(); stream.remove_prefix(std::min(step, stream.size()))) {
    for (std::string_view piece = stream.substr(0, step); !piece.empty();) {
      const RecordSplitter::Cut cut = splitter.next(piece);
      if (cut.size == 0) throw splitter.fault();
      size += cut.size;
      piece.remove_prefix(cut.size);
      if (cut.ends == RecordSplitter::Ends::Yes) out.push_back(std::exchange(size, 0));
    }
  }
  return out;
}

std::string fault_of(std::string_view stream, std::size_t step) {
  RecordSplitter splitter(FifoFraming::Records, 1);
  try {
    sizes_of(splitter, stream, step);
  } catch (const Error& why) {
    return std::to_string(splitter.offset()) + ": " + why.message();
  }
  return "";
}

}  // namespace

TEST_CASE("a RecordIO record ends behind its padding, and behind its last part") {
  const std::string parts = frame("abc", 1) + frame("", 2) + frame("defgh", 3);
  const std::string stream = frame("") + frame("x") + parts + frame("four") + frame(std::string(1000, 'y'));
  for (const std::size_t step : {1U, 3U, 7U, 8U, 9U, 100U, 5000U}) {
    RecordSplitter splitter(FifoFraming::Records, 1);
    CHECK(sizes_of(splitter, stream, step) == Sizes{8, 12, 36, 12, 1008});
    CHECK(splitter.end().has_value());
    CHECK(splitter.offset() == stream.size());
  }
}

TEST_CASE("what cannot be RecordIO is refused where it begins") {
  const std::string good = frame("hello");
  for (const std::size_t step : {1U, 5U, 1000U}) {
    CHECK_THAT(fault_of("text\n", step), Catch::StartsWith("0: no RecordIO record begins there: found 74"));
    CHECK_THAT(fault_of(good + "\x0a\x23\xd7\xcf", step), Catch::StartsWith("16: no RecordIO"));
    CHECK_THAT(fault_of(good + frame("x", 5), step), Catch::StartsWith("16:") && Catch::Contains("unknown flag 5"));
    CHECK_THAT(fault_of(good + frame("x", 2), step), Catch::StartsWith("16:") && Catch::Contains("without its first"));
    CHECK_THAT(fault_of(good + frame("x", 3), step), Catch::StartsWith("16:") && Catch::Contains("without its first"));
    CHECK_THAT(fault_of(good + frame("x", 1) + frame("y"), step),
               Catch::StartsWith("28:") && Catch::Contains("before the last part"));
    CHECK_THAT(fault_of(good + frame("x", 1) + frame("y", 1), step), Catch::StartsWith("28:"));
  }
}

TEST_CASE("a stream that ends within a record is told from one that is whole") {
  const std::string first = frame("hello");
  for (const std::string& stream : {first + frame("world").substr(0, 3), first + frame("world").substr(0, 8),
                                    first + frame("world").substr(0, 15), first + frame("part", 1)}) {
    RecordSplitter splitter(FifoFraming::Records, 1);
    sizes_of(splitter, stream, 1000);
    REQUIRE(splitter.end().has_error());
    CHECK_THAT(splitter.end().error().message(), Catch::Contains("began at byte 16"));
  }
}

TEST_CASE("lines and pieces") {
  for (const std::size_t step : {1U, 2U, 100U}) {
    RecordSplitter lines(FifoFraming::Lines, 1);
    CHECK(sizes_of(lines, "a\n\nbcd\nrest", step) == Sizes{2, 1, 4});
    CHECK(lines.inside());
    CHECK(lines.end().has_value());
    RecordSplitter pieces(FifoFraming::Bytes, 3);
    CHECK(sizes_of(pieces, "abcdefgh", step) == Sizes{3, 3});
    CHECK(pieces.inside());
  }
}
