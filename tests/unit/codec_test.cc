#include "common/wire/codec.h"

#include <csignal>
#include <set>

#include "tests/support/catch.h"
#include "tests/support/message_samples.h"

using namespace sml;
using namespace sml::wire;
using namespace std::string_literals;

namespace {

std::string all_bytes() {
  std::string s;
  for (int i = 0; i < 256; ++i) s.push_back(static_cast<char>(i));
  return s;
}

template <class Message>
constexpr std::size_t kLimit = std::is_same_v<Message, ToAgent> ? kMaxToAgent : kMaxToLauncher;
template <class Message>
constexpr unsigned char kFirstType = std::is_same_v<Message, ToAgent> ? 1 : 64;

std::string frame(std::size_t length, unsigned char type, std::string_view payload) {
  std::string out;
  for (const int shift : {24, 16, 8, 0}) out.push_back(static_cast<char>(length >> shift & 0xff));
  out.push_back(static_cast<char>(type));
  return out.append(payload);
}

template <class Message>
Error error_of(std::string_view bytes) {
  Decoder<Message> decoder;
  decoder.feed(bytes);
  const auto next = decoder.next();
  return next ? Error(ErrorKind::Internal, next->has_value() ? "it was taken" : "it wants more") : next.error();
}

}  // namespace

TEST_CASE("the wire format stays what it is") {  // agents and launchers of different builds may meet
  CHECK(encode(ToAgent(Ping{0x0102})) == "\0\0\0\x08\x0a\0\0\0\0\0\0\x01\x02"s);
  CHECK(encode(ToAgent(Stop{15, 1000, SignalTarget::Worker})) == "\0\0\0\x09\x06\0\0\0\x0f\0\0\x03\xe8\x01"s);
  CHECK(encode(ToAgent(Hello{1, "j", "h", 2, 3, 4, "s", 5, 6})) ==
        "\0\0\0\x2d\x01\0\0\0\x01\0\0\0\x01j\0\0\0\x01h\0\0\0\x02\0\0\0\x03\0\0\0\0\0\0\0\x04\0\0\0\x01s\0\0\0\x05"
        "\0\0\0\x06\0\0"s);
  CHECK(encode(ToLauncher(Output{Rank(3), Stream::Stderr, "hi", 5})) ==
        "\0\0\0\x13\x44\0\0\0\x03\x02\0\0\0\0\0\0\0\x05\0\0\0\x02hi"s);
  CHECK(encode(ToLauncher(Bye{""})) == "\0\0\0\x04\x4a\0\0\0\0"s);
  CHECK(encode(ToLauncher(Cleared{2, {}})) == "\0\0\0\x08\x55\0\0\0\x02\0\0\0\0"s);
}

TEMPLATE_TEST_CASE("every message comes back whole", "", ToAgent, ToLauncher) {
  std::set<std::size_t> kinds;
  for (const std::string& text :
       {""s, "plain"s, "quote ' \" \\ $HOME * \n\r\0 end"s, all_bytes(), std::string(5000, '\xff')}) {
    Decoder<TestType> decoder;
    for (const TestType& message : testing::message_samples<TestType>(text)) {
      CAPTURE(message.index(), text.size());
      const std::string bytes = encode(message);
      kinds.insert(message.index());
      CHECK(static_cast<unsigned char>(bytes[4]) == kFirstType<TestType> + message.index());
      decoder.feed(bytes);
      const auto back = decoder.next();
      REQUIRE(back.has_value());
      REQUIRE(back->has_value());
      CHECK((*back)->index() == message.index());
      CHECK((encode(**back) == bytes));  // in parentheses: a failure need not print a megabyte
      const auto more = decoder.next();
      REQUIRE(more.has_value());
      CHECK_FALSE(more->has_value());
    }
  }
  CHECK(kinds.size() == std::variant_size_v<TestType>);
}

TEST_CASE("the fields of a message arrive in their places") {
  Decoder<ToAgent> agent;
  const App app{.argv = {"t\0t"s, "", "-x"},
                .working_directory = "t\0t"s,
                .base = plan::BaseEnvironment::Login,
                .launcher_environment = {"A=t\0t"s, "B="},
                .user_environment = {"t\0t"s},
                .environment = {"WORLD_SIZE=8"}};
  agent.feed(encode(Prepare{.apps = {app, App{}},
                            .workers = {{.rank = Rank(7),
                                         .local_rank = LocalRank(3),
                                         .app = 1,
                                         .stdin_source = StdinSource::Launcher,
                                         .environment = {"RANK=7", "t\0t"s}},
                                        {}},
                            .services = {{ServiceKind::TorchStore, ServiceReach::ThisMachine}, {}},
                            .attempt = 2}));
  const auto prepared = agent.next();
  REQUIRE(prepared.has_value());
  const auto& prepare = std::get<Prepare>(**prepared);
  REQUIRE(prepare.apps.size() == 2);
  CHECK(prepare.apps[0].argv == std::vector<std::string>{"t\0t"s, "", "-x"});
  CHECK(prepare.apps[0].working_directory == "t\0t"s);
  CHECK(prepare.apps[0].base == plan::BaseEnvironment::Login);
  CHECK(prepare.apps[0].launcher_environment == plan::Environment{"A=t\0t"s, "B="});
  CHECK(prepare.apps[0].user_environment == plan::Environment{"t\0t"s});
  CHECK(prepare.apps[0].environment == plan::Environment{"WORLD_SIZE=8"});
  REQUIRE(prepare.workers.size() == 2);
  CHECK(prepare.workers[0].rank == Rank(7));
  CHECK(prepare.workers[0].local_rank == LocalRank(3));
  CHECK(prepare.workers[0].app == 1);
  CHECK(prepare.workers[0].stdin_source == StdinSource::Launcher);
  CHECK(prepare.workers[0].environment == plan::Environment{"RANK=7", "t\0t"s});
  REQUIRE(prepare.services.size() == 2);
  CHECK(prepare.services[0].kind == ServiceKind::TorchStore);
  CHECK(prepare.services[0].reach == ServiceReach::ThisMachine);
  CHECK(prepare.attempt == 2);

  Decoder<ToLauncher> launcher;
  launcher.feed(encode(ToLauncher(ExitedWorker{Rank(3), 1, SIGSEGV, 1, EndedBy::Us, 12345})));
  const auto news = launcher.next();
  REQUIRE(news.has_value());
  const auto& exited = std::get<ExitedWorker>(**news);
  CHECK(exited.rank == Rank(3));
  CHECK(exited.how == 1);
  CHECK(exited.value == SIGSEGV);
  CHECK(exited.detail == 1);
  CHECK(exited.ended_by == EndedBy::Us);
  CHECK(exited.at_ns == 12345);
}

TEMPLATE_TEST_CASE("frames are found wherever the stream is cut", "", ToAgent, ToLauncher) {
  const std::vector<TestType> sent = testing::message_samples<TestType>("cut\n");
  std::string stream;
  for (const TestType& message : sent) stream += encode(message);
  for (std::size_t piece = 1; piece <= stream.size(); piece = piece < 40 ? piece + 1 : piece * 3) {
    CAPTURE(piece);
    Decoder<TestType> decoder;
    std::string back;
    std::size_t count = 0;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      decoder.feed(std::string_view(stream).substr(at, piece));
      for (;;) {
        const auto next = decoder.next();
        REQUIRE(next.has_value());
        if (!next->has_value()) break;
        back += encode(**next);
        ++count;
      }
    }
    CHECK(count == sent.size());
    CHECK(back == stream);
  }
}

TEMPLATE_TEST_CASE("half a frame is waited for, not guessed at", "", ToAgent, ToLauncher) {
  for (const TestType& message : testing::message_samples<TestType>("half")) {
    const std::string bytes = encode(message);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      CAPTURE(message.index(), length);
      Decoder<TestType> decoder;
      decoder.feed(std::string_view(bytes).substr(0, length));
      const auto next = decoder.next();
      REQUIRE(next.has_value());
      CHECK_FALSE(next->has_value());
    }
  }
}

TEMPLATE_TEST_CASE("a payload that is cut at any byte is refused", "", ToAgent, ToLauncher) {
  for (const TestType& message : testing::message_samples<TestType>("cut")) {
    const std::string bytes = encode(message);
    const auto type = static_cast<unsigned char>(bytes[4]);
    const std::string payload = bytes.substr(kFrameHeader);
    for (std::size_t length = 0; length < payload.size(); ++length) {
      CAPTURE(message.index(), length);
      const Error error = error_of<TestType>(frame(length, type, payload.substr(0, length)));
      CHECK(error.kind() == ErrorKind::Protocol);
      CHECK(error.message() == "a message does not have the form that its type asks for");
    }
  }
}

TEMPLATE_TEST_CASE("bytes behind a payload are refused", "", ToAgent, ToLauncher) {
  for (const TestType& message : testing::message_samples<TestType>("behind")) {
    const std::string bytes = encode(message);
    const std::string payload = bytes.substr(kFrameHeader) + '\0';
    const Error error = error_of<TestType>(frame(payload.size(), static_cast<unsigned char>(bytes[4]), payload));
    CAPTURE(message.index());
    CHECK(error.kind() == ErrorKind::Protocol);
  }
}

TEMPLATE_TEST_CASE("types of nobody and of the other direction are refused", "", ToAgent, ToLauncher) {
  for (int type = 0; type < 256; ++type) {
    const int first = kFirstType<TestType>;
    if (type >= first && type < first + static_cast<int>(std::variant_size_v<TestType>)) continue;
    CAPTURE(type);
    const Error error = error_of<TestType>(frame(0, static_cast<unsigned char>(type), ""));
    CHECK(error.kind() == ErrorKind::Protocol);
    CHECK(error.message() == "a message has an unknown type");
  }
}

TEMPLATE_TEST_CASE("a frame longer than allowed is refused by its header alone", "", ToAgent, ToLauncher) {
  const std::size_t limit = kLimit<TestType>;
  const Error longer = error_of<TestType>(frame(limit + 1, kFirstType<TestType>, ""));
  CHECK(longer.kind() == ErrorKind::Protocol);
  CHECK(longer.message() == "a message is longer than allowed");
  CHECK(error_of<TestType>(frame(0xffffffff, kFirstType<TestType>, "")).kind() == ErrorKind::Protocol);
  CHECK(error_of<TestType>(frame(limit, kFirstType<TestType>, "")).message() == "it wants more");
}

TEST_CASE("the largest frame of either direction passes") {
  const std::string bytes(kMaxToLauncher - 17, 'x');
  const ToLauncher largest = Output{Rank(1), Stream::Stdout, bytes};
  Decoder<ToLauncher> decoder;
  decoder.feed(encode(largest));
  const auto back = decoder.next();
  REQUIRE(back.has_value());
  REQUIRE(back->has_value());
  CHECK((std::get<Output>(**back).bytes == bytes));

  const ToAgent start = Start{{std::string(std::size_t{8} << 20, 'v')}};
  Decoder<ToAgent> agent;
  agent.feed(encode(start));
  const auto got = agent.next();
  REQUIRE(got.has_value());
  REQUIRE(got->has_value());
  CHECK(std::get<Start>(**got).rendezvous[0].size() == std::size_t{8} << 20);
}

TEST_CASE("frames are taken out of the bytes that are fed in place, however they are cut") {
  std::string stream;
  std::vector<std::string> frames;
  for (std::size_t i = 0; i < 200; ++i) {
    const std::string bytes(i * i % 3000, static_cast<char>('a' + i % 26));
    frames.push_back(encode(ToLauncher(Output{Rank(static_cast<std::uint32_t>(i)), Stream::Stdout, bytes})));
    stream += frames.back();
  }
  for (const std::size_t piece : {std::size_t{1}, std::size_t{4}, std::size_t{7}, std::size_t{1000}, stream.size()}) {
    CAPTURE(piece);
    Decoder<ToLauncher> decoder;
    std::vector<std::string> decoded;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      // Each piece in memory of its own, which goes away: what is left of it must have been kept.
      const std::vector<char> bytes(stream.begin() + static_cast<std::ptrdiff_t>(at),
                                    stream.begin() + static_cast<std::ptrdiff_t>(std::min(at + piece, stream.size())));
      decoder.feed_in_place(bytes);
      for (;;) {
        const auto next = decoder.next();
        REQUIRE(next.has_value());
        if (!next->has_value()) break;
        decoded.push_back(encode(**next));
      }
    }
    CHECK((decoded == frames));
  }
}

TEST_CASE("bad frames are refused where they are fed in place, too") {
  const std::string whole = encode(ToLauncher(Drained{}));
  for (const std::string& bad : {frame(kMaxToLauncher + 1, 68, ""), frame(0, 1, ""), frame(0, 255, "")}) {
    for (std::size_t cut = 0; cut <= bad.size(); ++cut) {
      Decoder<ToLauncher> decoder;
      const std::string first = whole + bad.substr(0, cut);
      const std::string second = bad.substr(cut);
      decoder.feed_in_place(first);
      REQUIRE((*decoder.next()).has_value());
      const auto early = decoder.next();
      if (early.has_error()) continue;
      REQUIRE_FALSE(early->has_value());
      decoder.feed_in_place(second);
      CHECK(decoder.next().has_error());
    }
  }
}

TEST_CASE("output frames made in place are the same as any others") {
  std::string out = "something before";
  std::string expected = out;
  for (const std::string& bytes : {""s, "line\n"s, all_bytes(), std::string(65536, 'x')}) {
    append_output_head(out, Rank(12), Stream::Stderr, 99, bytes.size());
    out += bytes;
    expected += encode(ToLauncher(Output{Rank(12), Stream::Stderr, bytes, 99}));
  }
  CHECK((out == expected));
}

TEST_CASE("every way to end travels") {
  const ExitStatus ends[] = {Exited{0},
                             Exited{1},
                             Exited{255},
                             Signaled{SIGKILL, false},
                             Signaled{SIGSEGV, true},
                             Signaled{64, false},
                             SpawnFailed{SpawnStep::Pipe, EMFILE},
                             SpawnFailed{SpawnStep::Fork, EAGAIN},
                             SpawnFailed{SpawnStep::Directory, ENOENT},
                             SpawnFailed{SpawnStep::Limits, EPERM},
                             SpawnFailed{SpawnStep::Exec, E2BIG},
                             SpawnFailed{SpawnStep::Binding, EINVAL}};
  for (const ExitStatus& end : ends) {
    const ExitedWorker packed = pack_exit(Rank(4), end, EndedBy::Us, 77);
    CHECK(packed.rank == Rank(4));
    CHECK(packed.ended_by == EndedBy::Us);
    CHECK(packed.at_ns == 77);
    CHECK(unpack_exit(packed) == end);
  }
}

TEST_CASE("an end that cannot be is a lost worker, never a success") {
  struct Row {
    const char* what;
    std::uint8_t how;
    std::int32_t value;
    std::uint8_t detail;
  };
  const Row rows[] = {
      {"a way to end that does not exist", 3, 0, 0},
      {"a way to end far outside", 255, 0, 0},
      {"a step that does not exist", 2, ENOENT, static_cast<std::uint8_t>(SpawnStep::Binding) + 1},
      {"a code that the system would cut to 0", 0, 256, 0},
      {"a negative code", 0, -1, 0},
      {"a signal that does not exist", 1, 0, 0},
      {"a signal whose status would be cut to 0", 1, 128, 0},
      {"a negative signal", 1, -128, 0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    ExitedWorker message;
    message.how = row.how;
    message.value = row.value;
    message.detail = row.detail;
    const ExitStatus status = unpack_exit(message);
    CHECK(std::holds_alternative<Lost>(status));
    CHECK((exit_code_of(status) & 0xff) != 0);
  }
}
