// The messages between an agent and its PMIx helper (launcher/agent/pmix/helper.c), which loads libpmix for it, in
// frames of common/wire/frame.h. Pure.
//
// The agent sends requests, which the helper carries out by calls of libpmix. libpmix calls back for what it cannot do
// alone: the helper sends each such "upcall" to the agent, with an id that the helper chooses, and the agent replies
// with an Answer. The helper decides nothing.
//
// "Modex" data is what a rank publishes so that the others can connect to it. Ranks exchange it at a fence; a direct
// modex requests that of a single rank.
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

// PMIx's own numbers (pmix_common.h), except kMaxFromHelper.
constexpr std::int32_t kSuccess = 0;
constexpr std::int32_t kError = -1;
constexpr std::int32_t kDuplicateKey = -53;
constexpr std::int32_t kBadParameter = -27;
constexpr std::int32_t kOutOfResource = -29;
constexpr std::int32_t kNotFound = -46;
constexpr std::int32_t kNotSupported = -47;
constexpr std::uint32_t kEveryRank = 0xfffffffe;               // PMIX_RANK_WILDCARD
constexpr std::size_t kMaxFromHelper = std::size_t{64} << 20;  // bytes of one frame's fields

// The type of a value: PMIx's number. The last two are the project's own: the helper has libpmix make a PMIX_REGEX of
// such a text.
enum class Type : std::uint16_t {
  Bool = 1,
  String = 3,
  Uint16 = 13,
  Uint32 = 14,
  Process = 22,          // `number`: a rank of the job
  Infos = 39,            // PMIX_DATA_ARRAY of pmix_info_t
  Rank = 40,             // `number`: a rank of the namespace itself
  NodeNames = 0xf000,    // "a,b"
  RanksOfNodes = 0xf001  // "0,1;2,3"
};

// A pmix_info_t.
struct Info {
  std::string key;
  Type type = Type::Bool;
  std::uint64_t number = 0;   // Bool: 0 or 1
  std::string text{};         // of String, NodeNames and RanksOfNodes
  std::vector<Info> items{};  // of Infos
  void fields(auto& a) {
    a(key, type, number, text);
    if (type == Type::Infos) a(items);
  }
};

// ---- to the helper

// Load the first of these libraries that can be loaded: paths, or a file name for which the system searches. Replies:
// Loaded or Refused.
struct Load {
  std::vector<std::string> libraries;
  void fields(auto& a) { a(libraries); }
};
// Start libpmix's server with the job, and register the ranks of this host. Replies: Serving or Refused.
struct Serve {
  std::string name_space;
  std::uint32_t size = 0;        // the number of all its ranks
  std::vector<Info> server;      // for PMIx_server_init()
  std::vector<Info> job;         // for PMIx_server_register_nspace(): data that ranks may request
  std::vector<sml::Rank> ranks;  // of this host
  void fields(auto& a) { a(name_space, size, server, job, ranks); }
};
// Register one more namespace, for spawned ranks. All messages number these as ranks of the job: rank 0 of the
// namespace is `first`, and the others follow it. Replies as for Serve.
struct AddWorld {
  sml::Rank first;
  std::string name_space;
  std::uint32_t size = 0;
  std::vector<Info> job;
  std::vector<sml::Rank> ranks;  // of this host
  void fields(auto& a) { a(first, name_space, size, job, ranks); }
};
// Deregister a namespace that AddWorld has registered. No reply.
struct Forget {
  sml::Rank first;  // as in AddWorld
  void fields(auto& a) { a(first); }
};
// Reply to an upcall. `bytes`, if the status is kSuccess: for a fence or a direct modex, the data; for a spawn, the
// namespace of the new ranks; for a look-up, the rank that published, as 4 bytes, and Publish::value; for a group, its
// context as 8 bytes (0: none), and the data of its ranks from all hosts. Empty for other upcalls.
struct Answer {
  std::uint32_t id = 0;            // of the upcall
  std::int32_t status = kSuccess;  // PMIx's
  std::string bytes{};
  void fields(auto& a) { a(id, status, bytes); }
};
// Request for the modex data of a rank of this host. The reply, ModexData, comes once the rank has published the data.
struct GiveModex {
  std::uint32_t id = 0;  // the agent's own; returned in the reply
  sml::Rank rank;
  void fields(auto& a) { a(id, rank); }
};
// End libpmix's server and exit. The helper does the same when the socket closes.
struct Leave {
  void fields(auto& a) { a(); }
};

// ---- from the helper

struct Loaded {
  std::string library;  // as in Load
  std::string version;  // for people
  void fields(auto& a) { a(library, version); }
};
// The request has failed.
struct Refused {
  std::string what;  // "libpmix does not start"
  std::string why;   // the library's or the loader's own words
  void fields(auto& a) { a(what, why); }
};
struct RankEnvironment {
  sml::Rank rank;
  std::vector<std::string> environment;  // "NAME=VALUE": variables by which the rank finds libpmix's server
  void fields(auto& a) { a(rank, environment); }
};
// Reply to Serve and AddWorld: the ranks of this host have been registered.
struct Serving {
  std::vector<RankEnvironment> ranks;
  void fields(auto& a) { a(ranks); }
};
// A process of the rank has connected to libpmix. Gets no Answer.
struct Connected {
  sml::Rank rank;
  void fields(auto& a) { a(rank); }
};
// All that follow, except ModexData, are upcalls: each gets an Answer.

// The rank leaves (PMIx_Finalize, as MPI_Finalize calls it).
struct Finalized {
  std::uint32_t id = 0;
  sml::Rank rank;
  void fields(auto& a) { a(id, rank); }
};
// The rank ends the job (PMIx_Abort, as MPI_Abort calls it).
struct Abort {
  std::uint32_t id = 0;
  sml::Rank rank;
  std::int32_t status = 0;  // the code that the rank has given
  std::string text;
  void fields(auto& a) { a(id, rank, status, text); }
};
// All participating ranks of this host have entered a fence. PMIx_Connect and PMIx_Disconnect come as a fence without
// data.
struct Fence {
  std::uint32_t id = 0;
  std::vector<std::uint32_t> ranks;  // that participate, of all hosts; kEveryRank among them: all
  std::string bytes;                 // data of the ranks of this host
  void fields(auto& a) { a(id, ranks, bytes); }
};
// Ranks construct a group (PMIx_Group_construct, as MPI_Comm_create_from_group does), or destruct it: a fence with a
// name.
struct Group {
  std::uint32_t id = 0;
  std::string name{};
  std::uint32_t step = 0;              // pmix_group_operation_t
  std::vector<std::uint32_t> ranks{};  // the members, as in Fence
  std::uint32_t wants_context = 0;     // 1: the group needs a context: a number that no other group of the job has
  std::string bytes{};                 // data of the ranks of this host, for all
  void fields(auto& a) { a(id, name, step, ranks, wants_context, bytes); }
};
// A rank of this host requests the modex data of one rank of another host.
struct AskModex {
  std::uint32_t id = 0;
  sml::Rank rank;  // of another host
  void fields(auto& a) { a(id, rank); }
};
// Reply to GiveModex.
struct ModexData {
  std::uint32_t id = 0;  // of GiveModex
  std::int32_t status = kSuccess;
  std::string bytes;
  void fields(auto& a) { a(id, status, bytes); }
};

// A key of PMIx that a rank gives for a program, and its value as a text.
struct SpawnInfo {
  std::string key;
  std::string value;
  void fields(auto& a) { a(key, value); }
};
// One of the programs that a rank wants to spawn.
struct SpawnedApp {
  std::vector<std::string> command;
  std::vector<std::string> environment;  // "NAME=VALUE"
  std::string working_directory;         // empty: that of the rank
  std::string hosts;                     // names separated by commas; empty: any
  std::uint32_t count = 0;               // the number of ranks
  std::vector<SpawnInfo> infos{};        // all others; those of the whole call come first
  void fields(auto& a) { a(command, environment, working_directory, hosts, count, infos); }
};
// A rank requests more ranks: MPI_Comm_spawn. The Answer comes when they start or cannot be started.
struct AskSpawn {
  std::uint32_t id = 0;
  sml::Rank rank;
  std::vector<SpawnedApp> apps;
  void fields(auto& a) { a(id, rank, apps); }
};
// A rank publishes a value under a name: MPI_Publish_name.
struct Publish {
  std::uint32_t id = 0;
  sml::Rank rank;
  std::string key;
  std::string value;       // its type as 2 bytes, then a text or bytes; only the helper reads it
  std::uint32_t once = 0;  // 1: deleted after the first look-up that finds it
  void fields(auto& a) { a(id, rank, key, value, once); }
};
// MPI_Lookup_name.
struct LookUp {
  std::uint32_t id = 0;
  std::string key;
  std::uint32_t waits = 0;  // 1: the Answer waits until the name is published
  void fields(auto& a) { a(id, key, waits); }
};
// MPI_Unpublish_name.
struct Unpublish {
  std::uint32_t id = 0;
  std::string key;
  void fields(auto& a) { a(id, key); }
};

// Text of a rank's library that the launcher is to print (PMIx_Log). Both texts are empty if it was for another
// channel, such as a system log.
struct Log {
  std::uint32_t id = 0;
  sml::Rank rank;
  std::string to_stdout{};
  std::string to_stderr{};
  void fields(auto& a) { a(id, rank, to_stdout, to_stderr); }
};

// The type in a frame's header is the message's position in these lists, counted from 1 in ToHelper and from 16 in
// FromHelper. launcher/agent/pmix/frames.h repeats these numbers.
using ToHelper = std::variant<Load, Serve, Answer, GiveModex, Leave, AddWorld, Forget>;
using FromHelper = std::variant<Loaded, Refused, Serving, Connected, Finalized, Abort, Fence, AskModex, ModexData,
                                AskSpawn, Publish, LookUp, Unpublish, Group, Log>;

std::string encode(const ToHelper& message);  // a whole frame

// Cuts the helper's bytes into messages. The helper parses data that workers have sent, so the agent trusts it no more
// than it trusts workers.
class Decoder {
 public:
  void feed(std::string_view bytes) { buffer_ += bytes; }
  // The next whole message; nullopt if more bytes are needed; an error (Protocol) for bytes that the helper would not
  // send, after which the stream is unusable.
  Result<std::optional<FromHelper>> next();

 private:
  std::string buffer_;
  std::size_t begin_ = 0;  // the bytes of buffer_ before it have been returned
};

}  // namespace sml::agent::pmix
