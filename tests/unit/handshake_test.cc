#include "common/wire/handshake.h"

#include <algorithm>
#include <ctime>

#include "common/wire/messages.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::wire;
using namespace std::string_literals;

namespace {

const std::string kMark = "sml0123456789abcdef";

Greeting must_greet(GreetingReader& reader) {
  const auto next = reader.next();
  REQUIRE(next.has_value());
  REQUIRE(next->has_value());
  return **next;
}

void must_wait(GreetingReader& reader) {
  const auto next = reader.next();
  REQUIRE(next.has_value());
  CHECK_FALSE(next->has_value());
}

Error must_fail(const std::string& bytes) {
  GreetingReader reader(kMark);
  reader.feed(bytes);
  const auto next = reader.next();
  REQUIRE(next.has_error());
  return next.error();
}

}  // namespace

TEST_CASE("an agent opens with its mark and version") {
  CHECK(agent_line(kMark) == kMark + " AGENT " + std::to_string(kProtocolVersion) + "\n");
  GreetingReader reader(kMark);
  reader.feed(agent_line(kMark));
  CHECK(std::get<AgentRuns>(must_greet(reader)).version == kProtocolVersion);
  CHECK(reader.take_rest().empty());
  CHECK(reader.noise().empty());
}

TEST_CASE("the three lines are read with all that they say") {
  GreetingReader reader(kMark);
  reader.feed(kMark + " NEED x86_64 /home/some one/.cache/sml-run\n" + kMark +
              " FAIL a is full; b is mounted noexec\n" + kMark + " AGENT 4294967295\n");
  const auto need = std::get<NeedAgent>(must_greet(reader));
  CHECK(need.architecture == "x86_64");
  CHECK(need.folder == "/home/some one/.cache/sml-run");
  CHECK(std::get<CannotDeploy>(must_greet(reader)).text == "a is full; b is mounted noexec");
  CHECK(std::get<AgentRuns>(must_greet(reader)).version == 4294967295U);
  must_wait(reader);
}

TEST_CASE("greetings are found in noise wherever the bytes are cut") {
  const std::string noise_before = "Welcome to algo-1!\r\nLast login: yesterday\n\n\xff\x00\x01 no newline here: "s;
  const std::string frames = "\0\0\0\x08\x48 frames\n" + kMark + " AGENT 9\nthat hold anything"s;
  const std::string stream = noise_before + kMark + " NEED aarch64 /tmp\nmore noise\n" + agent_line(kMark) + frames;
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    CAPTURE(cut);
    GreetingReader reader(kMark);
    std::vector<Greeting> greetings;
    std::string rest;
    for (const std::string& piece : {stream.substr(0, cut), stream.substr(cut)}) {
      if (!greetings.empty() && std::holds_alternative<AgentRuns>(greetings.back())) {
        rest += piece;
        continue;
      }
      reader.feed(piece);
      for (;;) {
        const auto next = reader.next();
        REQUIRE(next.has_value());
        if (!next->has_value()) break;
        greetings.push_back(**next);
        if (std::holds_alternative<AgentRuns>(greetings.back())) {
          rest += reader.take_rest();
          break;
        }
      }
    }
    REQUIRE(greetings.size() == 2);
    CHECK(std::get<NeedAgent>(greetings[0]).architecture == "aarch64");
    CHECK(std::get<AgentRuns>(greetings[1]).version == kProtocolVersion);
    CHECK(rest == frames);
  }
}

TEST_CASE("greetings are found byte by byte") {
  const std::string stream = "motd without newline " + kMark + " NEED x86_64 /dev/shm\n" + agent_line(kMark);
  GreetingReader reader(kMark);
  std::size_t found = 0;
  for (const char c : stream) {
    reader.feed(std::span<const char>(&c, 1));
    const auto next = reader.next();
    REQUIRE(next.has_value());
    if (next->has_value()) ++found;
  }
  CHECK(found == 2);
}

TEST_CASE("lines with another mark are noise") {
  for (const std::string& fake : {
           "sml0123456789abcdee AGENT 1\n"s,
           kMark + "AGENT 1\n",    // no blank
           kMark + "0 AGENT 1\n",  // a longer mark
           "sml AGENT 1\n"s,
           kMark + "\n",
           kMark.substr(1) + " AGENT 1\n",
           kMark + "\tAGENT 1\n",
       }) {
    CAPTURE(fake);
    GreetingReader reader(kMark);
    reader.feed(fake);
    must_wait(reader);
    CHECK(reader.noise() + "\n" == fake);
    reader.feed(agent_line(kMark));
    CHECK(std::holds_alternative<AgentRuns>(must_greet(reader)));
  }
}

TEST_CASE("a marked line of unknown form is refused") {
  for (const char* what : {"", "AGENT", "AGENT ", "AGENT x", "AGENT 1x", "AGENT 1 ", "AGENT -1", "AGENT 4294967296",
                           "AGENT 99999999999999999999", "agent 1", "HELLO", "NEEDED x86_64 /tmp"}) {
    CAPTURE(what);
    CHECK(must_fail(kMark + " " + what + "\n").kind() == ErrorKind::Protocol);
  }
}

TEST_CASE("noise is bounded, with newlines and without") {
  SECTION("just the limit is still waited for") {
    GreetingReader reader(kMark);
    reader.feed(std::string(kMaxNoise, 'x'));
    must_wait(reader);
  }
  SECTION("one byte more is too much") {
    CHECK(must_fail(std::string(kMaxNoise + 1, 'x')).kind() == ErrorKind::Protocol);
  }
  SECTION("lines count as well") {
    GreetingReader reader(kMark);
    const std::string line = std::string(1023, 'x') + "\n";
    std::size_t fed = 0;
    for (;;) {
      reader.feed(line);
      fed += line.size();
      if (reader.next().has_error()) break;
      REQUIRE(fed <= kMaxNoise);
    }
    CHECK(fed > kMaxNoise);
  }
}

TEST_CASE("a flood costs no more than its bytes") {
  // CPU time of refusing what comes in pieces: the same for short lines and long ones. Were every line moved out of the
  // way of the next, short ones would cost a thousand times as much; so would a line without an end, were it searched
  // from its beginning for each piece.
  const auto cost = [](const std::string& line, std::size_t size, const std::string& before = "") {
    std::string piece;
    while (piece.size() < size) piece += line;
    GreetingReader reader(kMark);
    reader.feed(before);
    const std::clock_t begin = std::clock();
    for (std::size_t fed = 0; fed <= kMaxNoise; fed += piece.size()) {
      reader.feed(piece);
      if (reader.next().has_error()) return std::max<std::clock_t>(std::clock() - begin, 1);
    }
    FAIL("it was never refused");
    return std::clock_t{0};
  };
  const std::string line = std::string(1023, 'x') + "\n";
  CHECK(cost("\n", std::size_t{256} << 10) < 100 * cost(line, std::size_t{256} << 10));
  const std::clock_t lines = cost(line, 1024);
  CHECK(cost("x", 1024) < 100 * lines);
  CHECK(cost("x", 1024, kMark + " FAIL ") < 100 * lines);
}

TEST_CASE("what the far side said is kept, bounded") {
  GreetingReader reader(kMark);
  reader.feed("sh: exec: not found\nsecond line\r\nand a third"s);
  must_wait(reader);
  CHECK(reader.noise() == "sh: exec: not found\nsecond line\r\nand a third");

  GreetingReader loud(kMark);
  for (int i = 0; i < 2000; ++i) {
    loud.feed("noise " + std::string(1000, 'x') + "\n");
    must_wait(loud);
  }
  CHECK(loud.noise().size() < 8192);
  CHECK(loud.noise().starts_with("noise x"));
}
