// The wire protocol of torch's TCPStore: requests of one client, in the numbering of torch up to 2.0 or of torch from
// 2.1 on. Source: c10d/TCPStoreBackend.hpp and TCPStore.cpp of torch 1.13, 2.0, 2.6 and 2.14.
//
// An operation byte, then its fields in the byte order of the machine: u32, i64; bytes as u64 length and contents; a
// list of keys as u64 count and that many bytes. There is no other framing, and some operations have no answer.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sml::rendezvous::torch {

enum class Op : std::uint8_t {
  Validate,    // u32 magic; no answer
  Set,         // key, value; no answer
  CompareSet,  // key, expected, desired; answer: bytes
  Get,         // key; bytes
  Add,         // key, i64; i64
  Check,       // keys; u8 0 ready, 1 not ready
  Wait,        // keys; u8 0 when all are there
  NumKeys,     // i64
  WatchKey,    // key; u8 3 registered, then changes: u8 kind, key, old, new
  DeleteKey,   // key; i64 0 or 1
  Append,      // key, value; no answer
  MultiGet,    // keys; bytes for each
  MultiSet,    // u64 count, that many key and value; no answer
  CancelWait,  // u8 1
  Ping,        // u32; the same
  QueuePush,   // key, value; no answer
  QueuePop,    // key; i64 length before, bytes if above 0
  QueueLen,    // key; i64
  ListKeys,    // i64 count, bytes for each
  Barrier,     // key, i64 world size; u8 0 when so many have come
};

std::string_view name(Op op);

// Fixed by a client's first bytes.
enum class Dialect : std::uint8_t {
  Unknown,
  Old,  // torch up to 2.0
  New,  // torch from 2.1 on: begins with Validate
};

inline constexpr std::uint32_t kMagic = 0x3C85F7CE;
inline constexpr std::size_t kMaxKey = std::size_t{8} << 10;
inline constexpr std::size_t kMaxValue = std::size_t{8} << 20;
inline constexpr std::uint64_t kMaxKeys = std::uint64_t{128} << 10;  // in one request
inline constexpr std::size_t kMaxRequest = std::size_t{64} << 20;

inline constexpr char kReady = 0;
inline constexpr char kNotReady = 1;
inline constexpr char kWaitOver = 0;
inline constexpr char kWaitCancelled = 1;
enum class Watch : char { Updated, Created, Deleted, Registered };

// Refers to the bytes that it was parsed from.
struct Request {
  Op op = Op::Validate;
  std::vector<std::string_view> keys;
  std::vector<std::string_view> values;
  std::int64_t number = 0;  // delta, world size
  std::uint32_t word = 0;   // magic, nonce
};

struct Parsed {
  enum class State : std::uint8_t { Complete, Incomplete, Bad };
  State state = State::Incomplete;
  Request request;       // Complete
  std::size_t size = 0;  // Complete: bytes of the request; Incomplete: with fewer bytes than these it stays so
  std::string fault;     // Bad: a clause
};

// How far a request that is not whole has been looked at, so that no byte is looked at again when more have come.
struct Scan {
  bool begun = false;
  std::size_t at = 0;      // bytes of whole fields after the operation
  std::size_t field = 0;   // the next one
  bool counted = false;    // of a list: its count has been read
  std::uint64_t left = 0;  // of it: keys and values that are not there yet
};

// The request at the front of `bytes`; sets an unknown dialect when it can be told. Allocates no more than the bytes
// justify. `scan` is of this request, and a new one for each: each call has all bytes of the call before, and more.
Parsed parse(Dialect& dialect, std::string_view bytes, Scan& scan);

// The operation byte; -1 when the dialect has none.
int code_of(Op op, Dialect dialect);

// Fields of answers.
void put_number(std::string& out, std::int64_t value);
void put_word(std::string& out, std::uint32_t value);
void put_bytes(std::string& out, std::string_view bytes);

}  // namespace sml::rendezvous::torch
