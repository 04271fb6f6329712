#include "common/wire/resumable_stream.h"

#include <random>
#include <string>

#include "tests/support/catch.h"

using namespace sml::wire;
using namespace std::string_literals;

TEST_CASE("what has been sent is kept until the other end has it") {
  SentBytes sent;
  sent.append("hello ");
  sent.append("world");
  CHECK(sent.end() == 11);
  CHECK(sent.from(0) == "hello world");
  CHECK(sent.from(6) == "world");
  CHECK(sent.from(11) == "");
  CHECK_FALSE(sent.from(12));
  CHECK(sent.acknowledge(3));
  CHECK(sent.size() == 8);
  CHECK(sent.from(3) == "lo world");
  CHECK_FALSE(sent.from(2));
  CHECK(sent.acknowledge(3));
  CHECK(sent.acknowledge(11));
  CHECK(sent.size() == 0);
  CHECK(sent.from(11) == "");
  std::copy_n("again", 5, sent.extend(5));
  CHECK(sent.from(11) == "again");
}

TEST_CASE("nobody has what was not sent, and who told of less before is not believed any less") {
  SentBytes sent;
  sent.append("hello");
  CHECK(sent.acknowledge(2));
  CHECK_FALSE(sent.acknowledge(6));
  CHECK(sent.acknowledge(1));
  CHECK(sent.from(2) == "llo");
}

TEST_CASE("what is forgotten cannot be sent again") {
  SentBytes sent;
  sent.append("hello");
  sent.forget(4);
  CHECK(sent.size() == 1);
  CHECK_FALSE(sent.from(3));
  CHECK(sent.from(4) == "o");
  CHECK(sent.acknowledge(2));
  CHECK(sent.from(4) == "o");
  sent.forget(100);
  CHECK(sent.end() == 5);
  CHECK(sent.size() == 0);
}

TEST_CASE("a receipt is due after enough bytes, and once") {
  ReceivedBytes received;
  received.add(200'000);
  CHECK_FALSE(received.receipt());
  received.add(200'000);
  CHECK(received.receipt() == 400'000);
  CHECK_FALSE(received.receipt());
  CHECK(received.count() == 400'000);
}

TEST_CASE("secrets are the same or not") {
  CHECK(same_secret("abc", "abc"));
  CHECK_FALSE(same_secret("abc", "abd"));
  CHECK_FALSE(same_secret("abc", "ab"));
  CHECK_FALSE(same_secret("", "a"));
}

// Each pipe takes some of what it is given to the other end, and breaks.
TEST_CASE("a stream goes through pipes that break, once and in order") {
  std::mt19937 dice(7);
  const auto below = [&dice](std::size_t n) { return static_cast<std::size_t>(dice() % n); };
  for (int run = 0; run < 200; ++run) {
    SentBytes sent;
    ReceivedBytes received;
    std::string whole;
    std::string came;
    while (came.size() < 50'000) {
      std::uint64_t written = received.count();  // told when the pipe was made
      REQUIRE(sent.acknowledge(written));
      for (std::size_t turns = below(6); turns > 0; --turns) {
        const std::string piece(below(3000), static_cast<char>('a' + below(26)));
        sent.append(piece);
        whole += piece;
        REQUIRE(sent.from(written));
        const std::string_view rest = *sent.from(written);
        const std::string_view arrives = rest.substr(0, below(rest.size() + 1));
        came += arrives;
        received.add(arrives.size());
        written += arrives.size();
        if (below(2) == 0) REQUIRE(sent.acknowledge(received.count()));
      }
    }
    REQUIRE(whole.starts_with(came));
  }
}
