#include "common/wire/pmi_wire.h"

#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::wire;

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// The messages in bytes that come one by one.
std::vector<PmiMessage> read_all(const std::string& bytes, PmiDialect dialect) {
  PmiReader reader;
  std::vector<PmiMessage> out;
  for (const char c : bytes) {
    reader.feed(std::string(1, c));
    const auto next = reader.next(dialect);
    REQUIRE(next.has_value());
    if (next->has_value()) out.push_back(**next);
  }
  CHECK(reader.size() == 0);
  return out;
}

PmiMessage read_one(const std::string& bytes, PmiDialect dialect) {
  const std::vector<PmiMessage> all = read_all(bytes, dialect);
  REQUIRE(all.size() == 1);
  return all[0];
}

std::string refusal(const std::string& bytes, PmiDialect dialect) {
  PmiReader reader;
  reader.feed(bytes);
  const auto next = reader.next(dialect);
  REQUIRE_FALSE(next.has_value());
  CHECK(next.error().kind() == ErrorKind::Protocol);
  return next.error().message();
}

}  // namespace

TEST_CASE("PMI-1: a line is a command with pairs, split at the first equals sign") {
  const PmiMessage m = read_one("cmd=put kvsname=kvs_1  key=a value=segments=2\n", PmiDialect::One);
  CHECK(m.name == "put");
  CHECK(m.pairs == Pairs{{"kvsname", "kvs_1"}, {"key", "a"}, {"value", "segments=2"}});
  REQUIRE(m.find("value") != nullptr);
  CHECK(*m.find("value") == "segments=2");
  CHECK(m.find("nothing") == nullptr);
}

TEST_CASE("PMI-1: a spawn has a line for each pair, whose values may have blanks") {
  const PmiMessage m = read_one("mcmd=spawn\nnprocs=2\nexecname=./a b\narg1=x = y\nendcmd\n", PmiDialect::One);
  CHECK(m.name == "spawn");
  CHECK(m.pairs == Pairs{{"nprocs", "2"}, {"execname", "./a b"}, {"arg1", "x = y"}});
}

TEST_CASE("PMI-2: the length is padded on either side, and the last semicolon may be missing") {
  for (const char* bytes :
       {"    26cmd=kvs-get;key=a;srcid=1;", "26    cmd=kvs-get;key=a;srcid=1;", "25    cmd=kvs-get;key=a;srcid=1"}) {
    const PmiMessage m = read_one(bytes, PmiDialect::Two);
    CHECK(m.name == "kvs-get");
    CHECK(m.pairs == Pairs{{"key", "a"}, {"srcid", "1"}});
  }
}

TEST_CASE("PMI-2: a doubled semicolon is one of the value") {
  const PmiMessage m = read_one("26    cmd=kvs-put;value=a;;b;x=;", PmiDialect::Two);
  CHECK(m.pairs == Pairs{{"value", "a;b"}, {"x", ""}});
}

TEST_CASE("messages that come together are told apart") {
  CHECK(read_all("cmd=barrier_in\ncmd=finalize\n", PmiDialect::One).size() == 2);
  CHECK(read_all("    14cmd=kvs-fence;    13cmd=finalize;", PmiDialect::Two).size() == 2);
}

TEST_CASE("PMI: what is no message, or too long, is refused") {
  CHECK(refusal("GET / HTTP/1.1\r\n", PmiDialect::One) == "sent what is no message of PMI: \"GET / HTTP/1.1\\r\\n\"");
  CHECK(refusal("cmd=\n", PmiDialect::One) == "sent what is no message of PMI: \"cmd=\"");
  CHECK(refusal("cmd=put " + std::string(kPmiMessage, 'x'), PmiDialect::One) == "sent a line of more than 8192 bytes");
  CHECK(refusal("mcmd=spawn\n" + std::string(kPmiSpawn, 'x'), PmiDialect::One) ==
        "sent a command of more than 65536 bytes");
  CHECK(refusal("abcdefcmd=x;", PmiDialect::Two) == "sent what is no message of PMI: \"abcdefcmd=x;\"");
  CHECK(refusal("999999cmd=x;", PmiDialect::Two) == "sent a message of more than 65536 bytes");
  CHECK(refusal("     6abcdef", PmiDialect::Two) == "sent what is no message of PMI: \"abcdef\"");
  CHECK(refusal("      cmd=x;", PmiDialect::Two) == "sent what is no message of PMI: \"      cmd=x;\"");
}

TEST_CASE("PMI: messages are written as clients read them") {
  CHECK(PmiWriter(PmiDialect::One, "maxes").add("keylen_max", 64).add("x", "1").take() ==
        "cmd=maxes keylen_max=64 x=1\n");
  CHECK(PmiWriter(PmiDialect::Two, "kvs-fence-response").add("rc", "0").take() == "    28cmd=kvs-fence-response;rc=0;");
}

TEST_CASE("PMI: blanks, control characters and semicolons cannot be carried") {
  CHECK(has_pmi_form("(vector,(0,2,8))"));
  CHECK(has_pmi_form("segments=2\xff"));
  for (const char* bad : {"a b", "a\nb", "a;b", "a\x7f", "\t"}) CHECK_FALSE(has_pmi_form(bad));
}
