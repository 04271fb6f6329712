#include "launcher/agent/stores/torch_protocol.h"

#include "tests/support/catch.h"
#include "tests/support/torch_client.h"

using namespace sml::agent::torch;
using namespace sml::fake;
using namespace std::string_literals;
using State = Parsed::State;

namespace {

// The table of the protocol: operation bytes of torch up to 1.13, 2.0, and from 2.1 on; -1 for none.
struct TableRow {
  Op op;
  int torch_1_13;
  int torch_2_0;
  int torch_2_1;
  std::string fields;  // of a request with key "k", value "v" and number 7
};

const std::vector<TableRow>& table() {
  static const std::vector<TableRow> rows = {
      {Op::Validate, -1, -1, 0, "\xce\xf7\x85\x3c"s},
      {Op::Set, 0, 0, 1, bytes("k") + bytes("v")},
      {Op::CompareSet, 1, 1, 2, bytes("k") + bytes("v") + bytes("w")},
      {Op::Get, 2, 2, 3, bytes("k")},
      {Op::Add, 3, 3, 4, bytes("k") + i64(7)},
      {Op::Check, 4, 4, 5, keys({"k", "l"})},
      {Op::Wait, 5, 5, 6, keys({"k", "l"})},
      {Op::NumKeys, 6, 6, 7, ""},
      {Op::WatchKey, 7, 7, -1, bytes("k")},
      {Op::DeleteKey, 8, 8, 8, bytes("k")},
      {Op::Append, -1, 9, 9, bytes("k") + bytes("v")},
      {Op::MultiGet, -1, 10, 10, keys({"k", "l"})},
      {Op::MultiSet, -1, 11, 11, u64(1) + bytes("k") + bytes("v")},
      {Op::CancelWait, -1, -1, 12, ""},
      {Op::Ping, -1, -1, 13, u32(4711)},
      {Op::QueuePush, -1, -1, 14, bytes("k") + bytes("v")},
      {Op::QueuePop, -1, -1, 15, bytes("k")},
      {Op::QueueLen, -1, -1, 16, bytes("k")},
      {Op::ListKeys, -1, -1, 17, ""},
      {Op::Barrier, -1, -1, 18, bytes("k") + i64(7)},
  };
  return rows;
}

Parsed parse_as(Dialect dialect, std::string_view request) {
  Scan scan;
  return parse(dialect, request, scan);
}

void check_row(Dialect dialect, int code, const TableRow& row) {
  if (code < 0) return;
  CAPTURE(name(row.op), code);
  const std::string request = u8(code) + row.fields;
  const std::string followed = request + "rest";
  const Parsed whole = parse_as(dialect, followed);
  REQUIRE(whole.state == State::Complete);
  CHECK(whole.request.op == row.op);
  CHECK(whole.size == request.size());
  if (!whole.request.keys.empty()) CHECK(whole.request.keys[0] == "k");
  if (!whole.request.values.empty()) CHECK(whole.request.values[0] == "v");
  if (row.op == Op::Add || row.op == Op::Barrier) CHECK(whole.request.number == 7);
  for (std::size_t cut = 0; cut < request.size(); ++cut) {
    const Parsed part = parse_as(dialect, std::string_view(request).substr(0, cut));
    CHECK(part.state == State::Incomplete);
    CHECK(part.size > cut);
    CHECK(part.size <= request.size());
  }
}

std::string fault_of(Dialect dialect, std::string_view request) {
  const Parsed parsed = parse_as(dialect, request);
  return parsed.state == State::Bad ? parsed.fault : "(none)";
}

}  // namespace

TEST_CASE("torch protocol: every operation of every dialect, whole and cut at every byte") {
  CHECK(table().size() == static_cast<std::size_t>(Op::Barrier) + 1);
  for (const TableRow& row : table()) {
    check_row(Dialect::Old, row.torch_1_13, row);
    check_row(Dialect::Old, row.torch_2_0, row);
    check_row(Dialect::New, row.torch_2_1, row);
    CHECK(code_of(row.op, Dialect::New) == row.torch_2_1);
  }
}

TEST_CASE("torch protocol: a request in pieces is looked at once") {
  std::string request = u8(11) + u64(3);
  for (const char* pair : {"1", "2", "3"}) request += bytes("key"s + pair) + bytes("value"s + pair);
  Dialect dialect = Dialect::New;
  Scan scan;
  for (std::size_t size = 1; size < request.size(); ++size) {
    const std::size_t before = scan.at;
    CHECK(parse(dialect, std::string_view(request).substr(0, size), scan).state == State::Incomplete);
    CHECK(scan.at >= before);
  }
  CHECK(scan.at > request.size() - 16);  // all but the value that is not whole
  CHECK(scan.left == 1);
  const std::string longer = request + "rest";  // what is parsed refers to it
  const Parsed parsed = parse(dialect, longer, scan);
  REQUIRE(parsed.state == State::Complete);
  CHECK(parsed.size == request.size());
  CHECK(parsed.request.keys == std::vector<std::string_view>{"key1", "key2", "key3"});
  CHECK(parsed.request.values == std::vector<std::string_view>{"value1", "value2", "value3"});
  Scan of_bad;
  const std::string bad = u8(11) + u64(2) + bytes("k") + bytes("v");
  CHECK(parse(dialect, bad, of_bad).state == State::Incomplete);
  CHECK(parse(dialect, bad + u64(9000), of_bad).fault == "MULTI_SET: a key is longer than 8 KiB");
}

TEST_CASE("torch protocol: fields come out as they went in") {
  const std::string request = u8(2) + bytes("key\0\xff"s) + bytes("") + bytes("desired\n");
  const Parsed parsed = parse_as(Dialect::New, request);
  REQUIRE(parsed.state == State::Complete);
  CHECK(parsed.request.keys == std::vector<std::string_view>{"key\0\xff"s});
  CHECK(parsed.request.values == std::vector<std::string_view>{"", "desired\n"});
  CHECK(parse_as(Dialect::New, u8(4) + bytes("k") + i64(INT64_MIN)).request.number == INT64_MIN);
  CHECK(parse_as(Dialect::New, u8(13) + u32(0xfffffffe)).request.word == 0xfffffffe);
}

TEST_CASE("torch protocol: the first bytes tell the dialect") {
  const auto told = [](const std::string& first) {
    Dialect dialect = Dialect::Unknown;
    Scan scan;
    (void)parse(dialect, first, scan);
    return dialect;
  };
  CHECK(told("") == Dialect::Unknown);
  CHECK(told(u8(0)) == Dialect::Unknown);
  CHECK(told("\0\xce\xf7\x85"s) == Dialect::Unknown);
  CHECK(told("\0\xce\xf7\x85\x3c"s) == Dialect::New);
  CHECK(told(u8(0) + bytes("key") + bytes("value")) == Dialect::Old);  // an old SET
  CHECK(told(u8(3)) == Dialect::Old);
  CHECK(told(u8(0) + u32(0x3C85F7CD)) == Dialect::Old);
}

TEST_CASE("torch protocol: what is too long or unknown is refused before it has come") {
  CHECK(fault_of(Dialect::New, u8(19)) == "there is no operation 19");
  CHECK(fault_of(Dialect::Old, u8(255)) == "there is no operation 255");
  CHECK(fault_of(Dialect::Unknown, "GET / HTTP/1.1\r\n\r\n") == "there is no operation 71");
  CHECK(fault_of(Dialect::New, u8(7)) == "(none)");
  CHECK(fault_of(Dialect::New, u8(0) + u32(1)) == "VALIDATE: the magic number is wrong");
  CHECK(fault_of(Dialect::New, u8(3) + u64(8193)) == "GET: a key is longer than 8 KiB");
  CHECK(fault_of(Dialect::New, u8(3) + u64(8192)) == "(none)");
  CHECK(fault_of(Dialect::New, u8(3) + u64(~std::uint64_t{0})) == "GET: a key is longer than 8 KiB");
  CHECK(fault_of(Dialect::New, u8(1) + bytes("k") + u64((8U << 20) + 1)) == "SET: a value is longer than 8 MiB");
  CHECK(fault_of(Dialect::New, u8(6) + u64(131073)) == "WAIT: a request names more than 131072 keys");
  CHECK(fault_of(Dialect::New, u8(11) + u64(~std::uint64_t{0})) == "MULTI_SET: a request names more than 131072 keys");
  std::string long_set = u8(11) + u64(9);
  for (int i = 0; i < 8; ++i) long_set += bytes("k") + bytes(std::string(8U << 20, 'v'));
  CHECK(fault_of(Dialect::New, long_set) == "MULTI_SET: a request is longer than 64 MiB");
}
