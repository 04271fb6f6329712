#include "common/plan/fifos.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::plan;

TEST_CASE("--pipe-fanout names a channel and what is dealt") {
  CHECK(*parse_pipe_fanout("train") == FifoChannel{.name = "train", .framing = FifoFraming::Records});
  CHECK(*parse_pipe_fanout("train:lines,group=3,equalize=drop") ==
        FifoChannel{.name = "train", .framing = FifoFraming::Lines, .group = 3, .equalize = Equalize::Drop});
  CHECK(parse_pipe_fanout("train:bytes")->group == kDefaultPiece);
  CHECK(parse_pipe_fanout("train:bytes,group=3073")->group == 3073);
}

TEST_CASE("what is wrong in a channel's option is quoted") {
  struct Row {
    std::string text;
    std::string word;
  };
  const Row rows[] = {
      {"", "the name of a channel"},
      {"a b", "\"a b\" is not the name"},
      {std::string(65, 'x'), "1 to 64"},
      {"t/u", "the name of a channel"},
      {"t:", "\"\" is not records, lines or bytes"},
      {"t:record", "\"record\" is not records"},
      {"t,group=0", "from 1 to"},
      {"t,group=x", "from 1 to"},
      {"t,group=9999999999", "from 1 to"},
      {"t,equalize=pad", "\"equalize=pad\" is not"},
      {"t,equalize=drop,equalize=drop", "given twice"},
  };
  for (const Row& row : rows) {
    const auto parsed = parse_pipe_fanout(row.text);
    INFO(row.text);
    REQUIRE(parsed.has_error());
    CHECK(parsed.error().kind() == ErrorKind::Usage);
    CHECK_THAT(parsed.error().message(), Catch::Contains(row.word));
  }
}

TEST_CASE("a channel's variable is that of the platform, and one that a shell can read") {
  using Words = std::vector<std::string>;
  CHECK(fifo_variables({.name = "train"}, "/p/0") == Words{"SM_CHANNEL_TRAIN=/p/0/train"});
  CHECK(fifo_variables({.name = "my-d.1"}, "/p") ==
        Words{"SM_CHANNEL_MY-D.1=/p/my-d.1", "SM_CHANNEL_MY_D_1=/p/my-d.1"});
}
