// The PMIx requests of a host's ranks and the replies to them, once libpmix serves them. Pure. Frames of the helper
// and words of other hosts in; frames for the helper, messages for the launcher, words of ranks, and failed ranks out.
//
// Fences: libpmix reports when all participating ranks of this host have entered, with their data; the launcher
// collects the data of all hosts; libpmix gets it in one piece. Fences of ranks on a single host never come here.
// Groups are fences with a name, whose members get a number that the host of their first rank chooses. Direct modex:
// data that a rank of another host has put is requested from the service there. Names are kept by the host of rank 0.
// Spawn requests go to the launcher. Ranks are those of the job, in whatever namespace.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/core/error.h"
#include "common/core/stream.h"
#include "common/core/strong.h"
#include "common/wire/messages.h"
#include "launcher/agent/mpi/pmix_frames.h"
#include "launcher/agent/mpi/pmix_names.h"

namespace sml::agent::pmix {

// Actions for the caller; ordered only within each kind.
struct Deeds {
  struct Failure {
    Rank rank;
    wire::FaultKind kind = wire::FaultKind::Aborted;
    int code = 1;     // 1 to 255
    std::string why;  // a clause that follows "rank 3 on algo-1"
  };
  std::vector<ToHelper> helper;
  std::vector<wire::ToLauncher> launcher;
  struct Words {  // of a rank of this host, as if it had printed them
    Rank rank;
    Stream stream = Stream::Stderr;
    std::string text;
  };
  std::vector<Failure> failures;
  std::vector<Words> words;
};

// The key of a spawn request that holds the requesting rank. The other keys hold variables of its programs, by program
// number.
inline constexpr std::string_view kParent = "parent";

// Memory is bounded whatever the helper and other hosts send: by libpmix's limits on waiting calls of a rank, and by
// the limits of the wire protocol.
class Machine {
 public:
  // `ranks`: of this host, ascending; empty if all come by add_world().
  Machine(const std::vector<Rank>& ranks, std::uint32_t world_size, std::uint32_t attempt);

  // Error (Protocol, a clause): the helper has broken the protocol.
  Result<void> take(const FromHelper& message);
  void take(const wire::Fenced& message);
  void take(const wire::Relay& message);
  void take(const wire::SpawnAnswer& message);
  // Spawned ranks start; `here`: those on this host, ascending. `ranks`: the number of ranks that the job has now.
  void add_world(const std::vector<Rank>& here, std::uint32_t ranks, std::string name_space);
  // The rank's process has ended. Returns true if it had joined the others and has not left them.
  bool ended(Rank rank);
  // The process has ended with status 0. If it never joined, the ranks of its world that have joined would wait for
  // ever, and fail.
  void ended_well(Rank rank);

  bool has_joined(Rank rank) const;
  bool has_ever_joined(Rank rank) const;
  std::size_t ever_joined() const { return joined_; }  // ranks
  // The first rank that has not ended or left the others, and may still send requests; nullopt: none.
  std::optional<Rank> first_served() const;
  Deeds take_deeds() { return std::exchange(deeds_, {}); }

 private:
  enum class Stage : std::uint8_t { Alone, Joined, Left, Ended };
  struct Asked {           // a modex request of another host
    std::uint32_t id = 0;  // the id in GiveModex
    Rank from;
    std::uint32_t their_id = 0;
  };

  struct Place {
    Rank rank;
    std::size_t world = 0;  // 0: the job's first world; others were spawned
    Stage stage = Stage::Alone;
    bool came = false;    // has ever joined
    bool missed = false;  // ended with status 0 and never joined
  };
  enum class Gathering : std::uint8_t { Fence, Group };
  struct OpenFence {
    std::string name;
    std::uint32_t id = 0;     // of the upcall
    std::vector<Rank> ranks;  // ascending; empty: all
    std::string bytes;
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
  template <class Other>
  Result<void> on(const Other&);

  std::optional<std::vector<Rank>> known(std::uint32_t id, const std::vector<std::uint32_t>& ranks);
  std::uint64_t context_of_group(const std::vector<Rank>& ranks);
  void begin(OpenFence fence);
  std::vector<OpenFence>::iterator open_fence(const std::string& name);
  void send_fence(OpenFence& fence);
  void answer(std::uint32_t id, std::int32_t status, std::string bytes = {});
  void relay(Rank to, std::string bytes);
  void ask_names(std::uint32_t id, const NameWish& wish);
  void keep_names(const Names::Asker& asker, const NameWish& wish);
  void answered(std::uint32_t id, std::int32_t status, std::string bytes);

  std::vector<Place> ranks_;
  std::size_t worlds_ = 0;  // number of spawned worlds
  std::size_t joined_ = 0;  // number of ranks that have ever joined
  std::uint32_t world_size_;
  std::uint32_t attempt_;
  std::vector<OpenFence> fences_;      // the first of each name is with the launcher, the others wait
  std::vector<std::uint32_t> asking_;  // upcalls that another host is to answer
  std::vector<Asked> asked_;
  std::uint32_t next_asked_ = 0;
  std::vector<std::uint32_t> spawning_;  // upcalls that the launcher is to answer
  std::string last_world_;               // namespace of the ranks that started last
  Names names_;                          // used on the host of rank 0
  std::uint64_t contexts_ = 0;           // number of contexts given to groups here
  Deeds deeds_;
};

}  // namespace sml::agent::pmix
