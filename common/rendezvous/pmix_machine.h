// What the ranks of a host ask of PMIx, and what is done about it, once libpmix serves them: pure. Frames of the helper
// and words of other hosts in; frames for the helper, messages for the launcher, words of ranks, and failed ranks out.
//
// Fences: libpmix tells when all ranks of this host that take part have come, with what they have put; the launcher
// brings the parts of all hosts together; libpmix gets them in one. Those whose ranks are all on one host never come
// here. Groups are fences with a name, whose members get a number that the host of the first of them chooses. Direct
// modex: what a rank of another host has put, asked of the service there. Names: kept by the host of rank 0. Spawning:
// asked of the launcher. Ranks are those of the job, in whatever namespace.
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
#include "common/rendezvous/pmix_frames.h"
#include "common/rendezvous/pmix_names.h"
#include "common/wire/messages.h"

namespace sml::rendezvous::pmix {

// What is to be done, in order of its kind only.
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

// Among the keys of a wish for ranks: who asks. The others are variables of its programs, by their number.
inline constexpr std::string_view kParent = "parent";

// Bounded whatever helper and hosts say: by what libpmix lets wait of a rank, and wire's limits.
class Machine {
 public:
  // `ranks`: of this host, ascending; none where all come by add_world().
  Machine(const std::vector<Rank>& ranks, std::uint32_t world_size, std::uint32_t attempt);

  // Errors (Protocol, a clause): the helper is not what it should be.
  Result<void> take(const FromHelper& message);
  void take(const wire::Fenced& message);
  void take(const wire::Relay& message);
  void take(const wire::SpawnAnswer& message);
  // Ranks that were asked for start; `here` of them on this host, ascending. The job has so many now.
  void add_world(const std::vector<Rank>& here, std::uint32_t ranks, std::string name_space);
  // Its process is no more. True: it had joined the others, and has not left them.
  bool ended(Rank rank);
  // ... with status 0. Where it has never joined, those of its world that have wait for ever.
  void ended_well(Rank rank);

  bool has_joined(Rank rank) const;
  bool has_ever_joined(Rank rank) const;
  std::size_t ever_joined() const { return joined_; }  // ranks
  // The first that has not ended or left the others, and may still ask for something; nothing: none.
  std::optional<Rank> first_served() const;
  Deeds take_deeds() { return std::exchange(deeds_, {}); }

 private:
  enum class Stage : std::uint8_t { Alone, Joined, Left, Ended };
  struct Asked {           // by another host
    std::uint32_t id = 0;  // that our helper has
    Rank from;
    std::uint32_t their_id = 0;
  };

  struct Place {
    Rank rank;
    std::size_t world = 0;  // 0: of the job; others were spawned
    Stage stage = Stage::Alone;
    bool came = false;    // at any time
    bool missed = false;  // ended with status 0 and never came
  };
  enum class Gathering : std::uint8_t { Fence, Group };
  struct OpenFence {
    std::string name;
    std::uint32_t id = 0;     // of the upcall
    std::vector<Rank> ranks;  // ascending; none: all
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
  std::size_t worlds_ = 0;  // that were spawned
  std::size_t joined_ = 0;  // at any time
  std::uint32_t world_size_;
  std::uint32_t attempt_;
  std::vector<OpenFence> fences_;      // of one name the first is with the launcher
  std::vector<std::uint32_t> asking_;  // upcalls that another host is to answer
  std::vector<Asked> asked_;
  std::uint32_t next_asked_ = 0;
  std::vector<std::uint32_t> spawning_;  // upcalls that the launcher is to answer
  std::string last_world_;               // namespace of the ranks that started last
  Names names_;                          // on the host of rank 0
  std::uint64_t contexts_ = 0;           // that were given to groups here
  Deeds deeds_;
};

}  // namespace sml::rendezvous::pmix
