// The wire protocol of torch's TCPStore: parses the requests of one client, which has the operation numbers of torch up
// to 2.0 or those of torch from 2.1 on, and writes the fields of replies. Pure: serves nothing (torch_store.h does).
// Source: c10d/TCPStoreBackend.hpp and TCPStore.cpp of torch 1.13, 2.0, 2.6 and 2.14.
//
// A request is an operation byte and then its fields in the byte order of the machine: u32, i64; bytes as u64 length
// and contents; a list of keys as u64 count and that many bytes. There is no other framing, and some operations have no
// reply.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sml::agent::torch {

enum class Op : std::uint8_t {
  Validate,    // u32 magic; no reply
  Set,         // key, value; no reply
  CompareSet,  // key, expected, desired; reply: bytes
  Get,         // key; reply: bytes
  Add,         // key, i64; reply: i64
  Check,       // keys; reply: u8 kReady if all exist, else kNotReady
  Wait,        // keys; reply: u8 kWaitOver when all exist
  NumKeys,     // reply: i64
  WatchKey,    // key; reply: u8 Watch::Registered; then for each change: u8 Watch, key, old and new value
  DeleteKey,   // key; reply: i64 0 or 1
  Append,      // key, value; no reply
  MultiGet,    // keys; reply: bytes for each
  MultiSet,    // u64 count, that many key and value; no reply
  CancelWait,  // reply: u8 kWaitCancelled, in the place of the reply to Wait
  Ping,        // u32; reply: the same
  QueuePush,   // key, value; no reply
  QueuePop,    // key; reply: i64 length before the pop; bytes of the item if that is above 0
  QueueLen,    // key; reply: i64
  ListKeys,    // reply: i64 count, bytes for each
  Barrier,     // key, i64 world size; reply: u8 kWaitOver when that many clients have sent it
};

std::string_view name(Op op);

// The numbering of the operations; determined by a client's first bytes.
enum class Dialect : std::uint8_t {
  Unknown,
  Old,  // torch up to 2.0
  New,  // torch from 2.1 on: begins with Validate
};

inline constexpr std::uint32_t kMagic = 0x3C85F7CE;
// A request beyond one of these limits is Bad. In bytes, except kMaxKeys.
inline constexpr std::size_t kMaxKey = std::size_t{8} << 10;
inline constexpr std::size_t kMaxValue = std::size_t{8} << 20;
inline constexpr std::uint64_t kMaxKeys = std::uint64_t{128} << 10;  // in one request
inline constexpr std::size_t kMaxRequest = std::size_t{64} << 20;

inline constexpr char kReady = 0;
inline constexpr char kNotReady = 1;
inline constexpr char kWaitOver = 0;
inline constexpr char kWaitCancelled = 1;
enum class Watch : char { Updated, Created, Deleted, Registered };

// Its views refer to the bytes that it was parsed from.
struct Request {
  Op op = Op::Validate;
  std::vector<std::string_view> keys;
  std::vector<std::string_view> values;
  std::int64_t number = 0;  // of Add: what to add; of Barrier: the world size
  std::uint32_t word = 0;   // of Validate: the magic number; of Ping: the nonce
};

struct Parsed {
  enum class State : std::uint8_t { Complete, Incomplete, Bad };
  State state = State::Incomplete;
  Request request;       // for Complete
  std::size_t size = 0;  // Complete: bytes of the request; Incomplete: bytes, from its beginning, needed at least
  std::string fault;     // for Bad: what is wrong, a part of a sentence
};

// How far parse() has scanned an incomplete request; for parse() alone. So the bytes of a long request are scanned
// three times at most, however many calls it takes.
struct Scan {
  bool begun = false;
  std::size_t at = 0;      // bytes of whole fields after the operation
  std::size_t field = 0;   // index of the next field
  bool counted = false;    // for a list: its count has been read
  std::uint64_t left = 0;  // for a list: keys and values still to come
};

// Parses the request at the front of `bytes`; sets an unknown dialect as soon as its first bytes show it: New for a
// Validate, Old for anything else. Allocates memory in proportion to the bytes only, whatever lengths the request
// states. `scan` belongs to this request; use a new one for each. A further call for the same request must pass all
// bytes of the call before, and more.
Parsed parse(Dialect& dialect, std::string_view bytes, Scan& scan);

// The operation byte; -1 if the dialect has none. Unknown counts as Old.
int code_of(Op op, Dialect dialect);

// Append one field of a reply to `out`.
void put_number(std::string& out, std::int64_t value);
void put_word(std::string& out, std::uint32_t value);
void put_bytes(std::string& out, std::string_view bytes);

}  // namespace sml::agent::torch
