// The messages between an agent and its PMIx helper (launcher/agent/pmix/helper.c), which loads libpmix for it, in
// frames of common/wire/frame.h. Pure.
//
// Requests come from the agent, or from libpmix through the helper ("upcalls", which carry an id chosen by the helper);
// the helper decides nothing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/core/error.h"
#include "common/core/strong.h"

namespace sml::agent::pmix {

// PMIx's own numbers (pmix_common.h).
constexpr std::int32_t kSuccess = 0;
constexpr std::int32_t kError = -1;
constexpr std::int32_t kDuplicateKey = -53;
constexpr std::int32_t kBadParameter = -27;
constexpr std::int32_t kOutOfResource = -29;
constexpr std::int32_t kNotFound = -46;
constexpr std::int32_t kNotSupported = -47;
constexpr std::uint32_t kEveryRank = 0xfffffffe;               // PMIX_RANK_WILDCARD
constexpr std::size_t kMaxFromHelper = std::size_t{64} << 20;  // bytes of one frame

// The type of a value: PMIx's number, or one of the last two, from which libpmix makes a PMIX_REGEX.
enum class Type : std::uint16_t {
  Bool = 1,
  String = 3,
  Uint16 = 13,
  Uint32 = 14,
  Process = 22,  // `number`: a rank of the job
  Infos = 39,    // PMIX_DATA_ARRAY of pmix_info_t
  Rank = 40,
  NodeNames = 0xf000,    // "a,b"
  RanksOfNodes = 0xf001  // "0,1;2,3"
};

// A pmix_info_t.
struct Info {
  std::string key;
  Type type = Type::Bool;
  std::uint64_t number = 0;
  std::string text{};
  std::vector<Info> items{};
  void fields(auto& a) {
    a(key, type, number, text);
    if (type == Type::Infos) a(items);
  }
};

// ---- to the helper

// Load the first of these libraries that can be loaded: paths, or a name for the system's search. Replies: Loaded or
// Refused.
struct Load {
  std::vector<std::string> libraries;
  void fields(auto& a) { a(libraries); }
};
// Start libpmix's server with the job, and register the ranks of this host. Replies: Serving or Refused.
struct Serve {
  std::string name_space;
  std::uint32_t size = 0;  // the number of all its ranks
  std::vector<Info> server;
  std::vector<Info> job;
  std::vector<sml::Rank> ranks;
  void fields(auto& a) { a(name_space, size, server, job, ranks); }
};
// Register another namespace, for spawned ranks: in all messages, its rank 0 is number `first`, and so on. Replies as
// for Serve.
struct AddWorld {
  sml::Rank first;
  std::string name_space;
  std::uint32_t size = 0;
  std::vector<Info> job;
  std::vector<sml::Rank> ranks;  // of this host
  void fields(auto& a) { a(first, name_space, size, job, ranks); }
};
struct Forget {
  sml::Rank first;
  void fields(auto& a) { a(first); }
};
// Reply to an upcall. `bytes`: for a fence or a direct modex, the data; for a spawn, the namespace of the new ranks;
// for a look-up, the rank that published, as 4 bytes, and the text; for a group, its context as 8 bytes (0: none), and
// the data of its ranks' hosts.
struct Answer {
  std::uint32_t id = 0;
  std::int32_t status = kSuccess;
  std::string bytes{};
  void fields(auto& a) { a(id, status, bytes); }
};
// Request for the data that a rank of this host has put; the reply, ModexData, comes once it has.
struct GiveModex {
  std::uint32_t id = 0;
  sml::Rank rank;
  void fields(auto& a) { a(id, rank); }
};
struct Leave {
  void fields(auto& a) { a(); }
};

// ---- from the helper

struct Loaded {
  std::string library;
  std::string version;
  void fields(auto& a) { a(library, version); }
};
struct Refused {
  std::string what;
  std::string why;
  void fields(auto& a) { a(what, why); }
};
struct RankEnvironment {
  sml::Rank rank;
  std::vector<std::string> environment;
  void fields(auto& a) { a(rank, environment); }
};
struct Serving {
  std::vector<RankEnvironment> ranks;
  void fields(auto& a) { a(ranks); }
};
struct Connected {
  sml::Rank rank;
  void fields(auto& a) { a(rank); }
};
// Upcalls: each gets an Answer.
struct Finalized {
  std::uint32_t id = 0;
  sml::Rank rank;
  void fields(auto& a) { a(id, rank); }
};
struct Abort {
  std::uint32_t id = 0;
  sml::Rank rank;
  std::int32_t status = 0;
  std::string text;
  void fields(auto& a) { a(id, rank, status, text); }
};
// A fence. PMIx_Connect and PMIx_Disconnect come as a fence without data.
struct Fence {
  std::uint32_t id = 0;
  std::vector<std::uint32_t> ranks;  // kEveryRank among them: all
  std::string bytes;                 // data of the ranks of this host
  void fields(auto& a) { a(id, ranks, bytes); }
};
// Ranks construct a group (PMIx_Group_construct, as MPI_Comm_create_from_group does), or destruct it.
struct Group {
  std::uint32_t id = 0;
  std::string name{};
  std::uint32_t step = 0;  // pmix_group_operation_t
  std::vector<std::uint32_t> ranks{};
  std::uint32_t wants_context = 0;  // 1: a number that no other group of the job has
  std::string bytes{};              // data of the ranks of this host, for all
  void fields(auto& a) { a(id, name, step, ranks, wants_context, bytes); }
};
struct AskModex {
  std::uint32_t id = 0;
  sml::Rank rank;  // of another host
  void fields(auto& a) { a(id, rank); }
};
struct ModexData {
  std::uint32_t id = 0;  // of GiveModex
  std::int32_t status = kSuccess;
  std::string bytes;
  void fields(auto& a) { a(id, status, bytes); }
};

// One of the programs that a rank wants to spawn.
struct SpawnedApp {
  std::vector<std::string> command;
  std::vector<std::string> environment;
  std::string working_directory;  // empty: that of the rank
  std::string hosts;              // names separated by commas; empty: any
  std::uint32_t count = 0;
  void fields(auto& a) { a(command, environment, working_directory, hosts, count); }
};
struct AskSpawn {
  std::uint32_t id = 0;
  sml::Rank rank;
  std::vector<SpawnedApp> apps;
  void fields(auto& a) { a(id, rank, apps); }
};
struct Publish {
  std::uint32_t id = 0;
  sml::Rank rank;
  std::string key;
  std::string value;
  std::uint32_t once = 0;  // 1: deleted when it has been found once
  void fields(auto& a) { a(id, rank, key, value, once); }
};
struct LookUp {
  std::uint32_t id = 0;
  std::string key;
  std::uint32_t waits = 0;  // 1: wait until it is published
  void fields(auto& a) { a(id, key, waits); }
};
struct Unpublish {
  std::uint32_t id = 0;
  std::string key;
  void fields(auto& a) { a(id, key); }
};

// Text that the library of a rank has its launcher print; both streams empty: it is for a place that does not exist.
struct Log {
  std::uint32_t id = 0;
  sml::Rank rank;
  std::string to_stdout{};
  std::string to_stderr{};
  void fields(auto& a) { a(id, rank, to_stdout, to_stderr); }
};

// A type's number in the stream is its place, counted from 1 and from 16; the helper has them as numbers.
using ToHelper = std::variant<Load, Serve, Answer, GiveModex, Leave, AddWorld, Forget>;
using FromHelper = std::variant<Loaded, Refused, Serving, Connected, Finalized, Abort, Fence, AskModex, ModexData,
                                AskSpawn, Publish, LookUp, Unpublish, Group, Log>;

std::string encode(const ToHelper& message);

// Cuts the helper's bytes into messages. The helper reads data that workers have sent, so it is trusted no more than
// they are.
class Decoder {
 public:
  void feed(std::string_view bytes) { buffer_ += bytes; }
  // The next whole message; nullopt if more bytes are needed; an error (Protocol) for bytes that the helper would not
  // send, after which the stream is unusable.
  Result<std::optional<FromHelper>> next();

 private:
  std::string buffer_;
  std::size_t begin_ = 0;
};

}  // namespace sml::agent::pmix
