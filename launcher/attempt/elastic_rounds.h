// The rounds of an elastic job of Horovod (hvd.elastic): workers that survive the failure of others, or hear that hosts
// have come or go, keep their processes and what they have committed in memory, ask for new numbers, and go on as
// another world, in which workers on new hosts join them. Pure.
//
// A round is over when each of its members waits for its numbers (it is ready), or has ended. Then: where one has
// succeeded, the job ends; where all have failed, or too few are left, the attempt does; else the hosts of those that
// have failed are out, and the others are the members of the next round, in the order that they had, before those that
// are new. Source: horovod/runner/elastic/registration.py and driver.py of Horovod 0.28.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/plan/job_map.h"

namespace sml::attempt {

class ElasticRounds {
 public:
  // The map that follows that of a round without these hosts: those that stay keep all their ranks and their order,
  // before hosts that had none. Error: there is none.
  using Following = std::function<Result<plan::JobMap>(const plan::JobMap& round, const std::vector<HostId>& out)>;

  // `map`: of an attempt that begins, of one program. `resets`: so many rounds may follow the first.
  ElasticRounds(plan::JobMap map, Following following, std::uint32_t resets);

  // The rank in the attempt's plan that a worker's name for itself stands for; nothing: there is none.
  std::optional<Rank> rank_of(std::string_view slot) const;
  const std::string& slot_of(Rank rank) const { return members_[rank.value()].slot; }

  // Each may be told of any rank at any time; what comes too late is of no matter.
  void registered(Rank rank);
  enum class Answer : std::uint8_t { Later, Removed };  // Removed: it belongs to no round any more
  Answer ready(Rank rank);
  enum class End : std::uint8_t { Success, Failure };
  void ended(Rank rank, End end);
  bool is_out(Rank rank) const;  // no round has it any more
  bool has_members_on(HostId host) const { return !ranks_on(host).empty(); }
  void host_lost(HostId host);
  bool anyone_runs() const { return count(Standing::Runs) > 0; }
  // Those that run can go on without those that have failed: all have registered, and there are enough.
  bool some_may_go_on() const;

  struct GoesOn {};
  struct Finished {
    std::uint32_t waiting = 0;  // members that wait for a round which will not come
  };
  struct GivenUp {};
  struct Next {
    struct Member {
      Rank rank;
      std::string numbers;  // as Horovod's workers read them
    };
    struct Joining {
      HostId host;
      std::uint32_t ranks = 0;
    };
    plan::JobMap map;             // its ranks are what the workers have for numbers
    std::vector<Member> members;  // that were in the round before
    std::vector<Joining> joining;
    std::vector<HostId> out;   // hosts that were not out before
    std::vector<Rank> left;    // their ranks
    std::uint32_t number = 1;  // of the reset
  };
  using Step = std::variant<GoesOn, Finished, GivenUp, Next>;
  // After news. Next: that round is to begin.
  Step look() const;
  // It does. `first`: in the attempt's plan the ranks that join are this and those that follow it, host after host.
  void begin(const Next& next, Rank first);

  // Whether the next round would have other hosts than this one, in which all go on and may be told so.
  bool hosts_have_changed() const;
  Rank leader() const;  // whose number is 0

  std::uint32_t resets() const { return used_; }
  // On which workers have failed, and which the rounds have done without.
  const std::vector<HostId>& out() const { return out_; }

  static constexpr std::string_view kRemoved = "-1,-1,-1,-1,-1,-1";  // the numbers of who belongs to no round

 private:
  enum class Standing : std::uint8_t { Runs, Ready, Succeeded, Failed, Out };
  struct Member {
    HostId host;
    std::string slot;  // "HOST:LOCAL_RANK"
    Standing standing = Standing::Runs;
    bool registered = false;
  };
  Member* find(Rank rank);
  std::uint32_t count(Standing standing) const;
  std::vector<Rank> ranks_on(HostId host) const;  // that belong to the round
  bool has_failed(HostId host) const;             // a member there
  Result<plan::JobMap> following() const;
  void add(const plan::MappedHost& host);

  Following following_;
  plan::JobMap current_;
  std::uint32_t most_resets_;
  std::uint32_t used_ = 0;
  std::vector<Member> members_;  // by rank
  std::vector<HostId> out_;
};

}  // namespace sml::attempt
