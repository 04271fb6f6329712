#include "common/plan/fifos.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::plan;

TEST_CASE("--pipe names a channel, its files and how they are read") {
  CHECK(*parse_pipe("train=/data/x") == FifoChannel{.name = "train", .path = "/data/x"});
  CHECK(*parse_pipe("a.b-c_9=m=1.json") == FifoChannel{.name = "a.b-c_9", .path = "m=1.json"});
  CHECK(*parse_pipe("t=d,wrap=recordio,gunzip,shuffle=18446744073709551615") ==
        FifoChannel{.name = "t",
                    .path = "d",
                    .wrap = FifoWrap::RecordIo,
                    .compression = FifoCompression::Gzip,
                    .order = FifoOrder::Shuffled,
                    .seed = UINT64_MAX});
}

TEST_CASE("--pipe-fanout names a channel and what is dealt") {
  CHECK(*parse_pipe_fanout("train") == FifoChannel{.name = "train", .framing = FifoFraming::Records});
  CHECK(*parse_pipe_fanout("train:lines,group=3,equalize=drop") ==
        FifoChannel{.name = "train", .framing = FifoFraming::Lines, .group = 3, .equalize = Equalize::Drop});
  CHECK(parse_pipe_fanout("train:bytes")->group == kDefaultPiece);
  CHECK(parse_pipe_fanout("train:bytes,group=3073")->group == 3073);
}

TEST_CASE("what is wrong in a channel's option is quoted") {
  struct Row {
    bool feed;
    std::string text;
    std::string word;
  };
  const Row rows[] = {
      {true, "train", "\"train\" is not NAME=DIR"},
      {true, "=d", "the name of a channel"},
      {true, "a b=d", "\"a b\" is not the name"},
      {true, std::string(65, 'x') + "=d", "1 to 64"},
      {true, "t=", "NAME=DIR"},
      {true, "t=,gunzip", "NAME=DIR"},
      {true, "t=d,", "\"\" is not wrap=recordio"},
      {true, "t=d,gzip", "\"gzip\" is not"},
      {true, "t=d,wrap=tfrecord", "\"wrap=tfrecord\" is not"},
      {true, "t=d,shuffle", "\"shuffle\" is not"},
      {true, "t=d,shuffle=", "a whole number"},
      {true, "t=d,shuffle=-1", "a whole number"},
      {true, "t=d,shuffle=18446744073709551616", "a whole number"},
      {true, "t=d,gunzip,gunzip", "\"gunzip\" is given twice"},
      {true, "t=d,shuffle=1,shuffle=2", "\"shuffle\" is given twice"},
      {false, "", "the name of a channel"},
      {false, "t/u", "the name of a channel"},
      {false, "t:", "\"\" is not records, lines or bytes"},
      {false, "t:record", "\"record\" is not records"},
      {false, "t,group=0", "from 1 to"},
      {false, "t,group=x", "from 1 to"},
      {false, "t,group=9999999999", "from 1 to"},
      {false, "t,equalize=pad", "\"equalize=pad\" is not"},
      {false, "t,equalize=drop,equalize=drop", "given twice"},
  };
  for (const Row& row : rows) {
    const auto parsed = row.feed ? parse_pipe(row.text) : parse_pipe_fanout(row.text);
    INFO(row.text);
    REQUIRE(parsed.has_error());
    CHECK(parsed.error().kind() == ErrorKind::Usage);
    CHECK_THAT(parsed.error().message(), Catch::Contains(row.word));
  }
}

TEST_CASE("a channel of both options is fed and dealt out") {
  const FifoChannel feeds[] = {*parse_pipe("a=rel,gunzip"), *parse_pipe("b=/abs")};
  const FifoChannel fanouts[] = {*parse_pipe_fanout("a:lines,group=2"), *parse_pipe_fanout("c")};
  const auto joined = join_fifos(feeds, fanouts, 3, "/home/me");
  REQUIRE(joined.size() == 3);
  CHECK(joined[0] == FifoChannel{.name = "a",
                                 .path = "/home/me/rel",
                                 .compression = FifoCompression::Gzip,
                                 .framing = FifoFraming::Lines,
                                 .group = 2,
                                 .epochs = 3});
  CHECK(joined[1] == FifoChannel{.name = "b", .path = "/abs", .epochs = 3});
  CHECK(joined[2] == FifoChannel{.name = "c", .framing = FifoFraming::Records, .epochs = 3});
}

TEST_CASE("a channel's variable is that of the platform, and one that a shell can read") {
  using Words = std::vector<std::string>;
  CHECK(fifo_variables({.name = "train"}, "/p/0") == Words{"SM_CHANNEL_TRAIN=/p/0/train"});
  CHECK(fifo_variables({.name = "my-d.1"}, "/p") ==
        Words{"SM_CHANNEL_MY-D.1=/p/my-d.1", "SM_CHANNEL_MY_D_1=/p/my-d.1"});
}
