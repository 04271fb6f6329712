// Decides how the PMIx requests of a host's ranks are answered, once libpmix serves these ranks. Pure. Input: messages
// of the helper, which are mostly upcalls, and of the launcher, some relayed from other hosts. Output: Actions.
//
// Fences: libpmix reports when all participating ranks of this host have entered, with their data; the launcher
// collects the data of all hosts; libpmix gets it in one piece. Fences of ranks on a single host never come here.
// Groups are fences with a name; if their members want a number (a context), the host of the first member chooses it.
// Direct modex: the data that a rank of another host has published is requested from the PMIx service there. The host
// of rank 0 keeps the names that ranks publish. Spawn requests go to the launcher. All ranks are numbered as ranks of
// the job, whatever their namespace.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/core/error.h"
#include "common/core/stream.h"
#include "common/core/strong.h"
#include "common/plan/ranks/spawn_map.h"
#include "common/wire/messages.h"
#include "launcher/agent/mpi/pmix_frames.h"
#include "launcher/agent/mpi/pmix_names.h"

namespace sml::agent::pmix {

// Actions for the caller, from take_deeds(); ordered only within each kind.
struct Actions {
  struct Failure {
    Rank rank;
    wire::FaultKind kind = wire::FaultKind::Aborted;
    int code = 1;     // 1 to 255
    std::string why;  // a part of a sentence that follows "rank 3 on algo-1"
  };
  std::vector<ToHelper> helper;            // to send
  std::vector<wire::ToLauncher> launcher;  // to send
  struct Words {                           // text to forward as if this rank had printed it
    Rank rank;
    Stream stream = Stream::Stderr;
    std::string text;
  };
  std::vector<Failure> failures;
  std::vector<Words> words;
  std::vector<std::string> warnings;  // for the user
};

// The entry of wire::SpawnRequest::keys that holds the requesting rank. Each other entry holds an environment variable
// ("NAME=VALUE") for one of the requested programs; its key is the number of the program in the request.
inline constexpr std::string_view kParent = "parent";

// The PMIx state of one host for one attempt. Memory is bounded whatever the helper and other hosts send: by libpmix's
// limits on waiting calls of a rank, and by the limits of the wire protocol.
class Machine {
 public:
  // `ranks`: of this host, ascending; empty if all come by add_world(). `world_size`: number of ranks of the job.
  Machine(const std::vector<Rank>& ranks, std::uint32_t world_size, std::uint32_t attempt);

  // Error (Protocol, a part of a sentence that follows "libpmix's helper"): the helper has broken the protocol.
  Result<void> take(const FromHelper& message);
  // Messages of the launcher; those for another attempt or service are ignored.
  void take(const wire::Fenced& message);
  void take(const wire::Relay& message);
  void take(const wire::SpawnAnswer& message);
  // Spawned ranks start, in a namespace of this name. `here`: those on this host, ascending. `ranks`: the number of
  // ranks that the job has now. To be called before the SpawnAnswer to their request is taken.
  void add_world(const std::vector<Rank>& here, std::uint32_t ranks, std::string name_space);
  // The rank's process has ended. Returns true if it had joined the others and has not left them by MPI_Finalize.
  bool ended(Rank rank);
  // To be called after ended() for a process with exit status 0. If it never joined, the ranks of its world that have
  // joined would wait for it forever: each of them becomes a Failure.
  void ended_well(Rank rank);

  // True if the rank has connected to libpmix and its process has not ended, even after MPI_Finalize.
  bool has_joined(Rank rank) const;
  bool has_ever_joined(Rank rank) const;
  std::size_t ever_joined() const { return joined_; }  // ranks
  // The first rank that has neither ended nor left the others, so that it may still send requests; nullopt: none.
  std::optional<Rank> first_served() const;
  Actions take_deeds() { return std::exchange(deeds_, {}); }

 private:
  enum class Stage : std::uint8_t {
    Alone,   // has not connected to libpmix
    Joined,  // has connected
    Left,    // has called MPI_Finalize
    Ended    // its process has ended
  };
  struct Asked {                 // a modex request of another host, for a rank of this host
    std::uint32_t id = 0;        // the id in GiveModex
    Rank from;                   // a rank of the requesting host
    std::uint32_t their_id = 0;  // of the upcall there
  };

  struct Place {  // a rank of this host
    Rank rank;
    std::size_t world = 0;  // 0: the job's first world; others were spawned
    Stage stage = Stage::Alone;
    bool came = false;    // has joined at any time
    bool missed = false;  // ended with status 0 and never joined
  };
  enum class Gathering : std::uint8_t { Fence, Group };
  struct OpenFence {          // one that not all hosts have entered, or that waits for one with its name
    std::string name;         // the same on all hosts
    std::uint32_t id = 0;     // of the upcall
    std::vector<Rank> ranks;  // ascending; empty: all
    std::string bytes;        // data of this host; empty once sent
    Gathering kind = Gathering::Fence;
  };

  Place* place_of(Rank rank);
  Stage* stage_of(Rank rank);
  void look_for_missed();
  Result<void> on(const Connected& m);
  Result<void> on(const Finalized& m);
  Result<void> on(const Abort& m);
  Result<void> on(const Fence& m);
  Result<void> on(const Group& m);
  Result<void> on(const AskModex& m);
  Result<void> on(const ModexData& m);
  Result<void> on(const AskSpawn& m);
  Result<void> on(const Publish& m);
  Result<void> on(const LookUp& m);
  Result<void> on(const Unpublish& m);
  Result<void> on(const Log& m);
  // Returns HeededInfos::refusal.
  std::string heed_infos(Rank rank, const std::vector<SpawnInfo>& infos, plan::SpawnProgram& program);
  template <class Other>
  Result<void> on(const Other&);  // any other message breaks the protocol

  // The ranks of an upcall, ascending; empty: all. Returns nullopt if one does not exist, and answers the upcall then.
  std::optional<std::vector<Rank>> known(std::uint32_t id, const std::vector<std::uint32_t>& ranks);
  std::uint64_t context_of_group(const std::vector<Rank>& ranks);
  void begin(OpenFence fence);
  std::vector<OpenFence>::iterator open_fence(const std::string& name);
  void send_fence(OpenFence& fence);
  void answer(std::uint32_t id, std::int32_t status, std::string bytes = {});
  // Sends nothing while this host has no rank: it cannot be asked then, nor have anything to ask.
  void relay(Rank to, std::string bytes);
  void ask_names(std::uint32_t id, const NameRequest& request);
  void keep_names(const Names::Asker& asker, const NameRequest& request);
  void answered(std::uint32_t id, std::int32_t status, std::string bytes);

  std::vector<Place> ranks_;
  std::size_t worlds_ = 0;  // number of spawned worlds
  std::size_t joined_ = 0;  // number of ranks that have ever joined
  std::uint32_t world_size_;
  std::uint32_t attempt_;
  std::vector<OpenFence> fences_;        // the first of each name has been sent to the launcher, the others wait
  std::vector<std::uint32_t> asking_;    // upcalls that wait for another host, or for a name
  std::vector<Asked> asked_;             // requests that wait for the helper's ModexData
  std::uint32_t next_asked_ = 0;         // id of the next GiveModex
  std::vector<std::uint32_t> spawning_;  // upcalls that wait for a SpawnAnswer
  std::string last_world_;               // namespace of the ranks that started last
  std::set<std::string> unheeded_;       // info keys that a warning has named
  Names names_;                          // used on the host of rank 0
  std::uint64_t contexts_ = 0;           // number of contexts given to groups here
  Actions deeds_;
};

}  // namespace sml::agent::pmix
