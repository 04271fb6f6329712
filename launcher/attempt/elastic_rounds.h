// The rounds of an elastic job of Horovod (hvd.elastic): workers that survive the failure of others keep their
// processes and what they have committed in memory, ask for new numbers, and go on as a smaller world. Pure.
//
// A round is over when each of its members waits for its numbers (it is ready), or has ended. Then: where one has
// succeeded, the job ends; where all have failed, or too few are left, the attempt does; else the hosts of those that
// have failed are out, and the others are the members of the next round, in the order that they had. Source:
// horovod/runner/elastic/registration.py and driver.py of Horovod 0.28.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/plan/job_map.h"
#include "common/plan/regroup.h"

namespace sml::attempt {

class ElasticRounds {
 public:
  // `map`: of an attempt that begins, of one program. `resets`: so many rounds may follow the first.
  ElasticRounds(plan::JobMap map, plan::LeastSize least, std::uint32_t resets);

  // The rank in the attempt's plan that a worker's name for itself stands for; nothing: there is none.
  std::optional<Rank> rank_of(std::string_view slot) const;
  std::string slot_of(Rank rank) const;

  // Each may be told of any rank at any time; what comes too late is of no matter.
  void registered(Rank rank);
  enum class Answer : std::uint8_t { Later, Removed };  // Removed: it belongs to no round any more
  Answer ready(Rank rank);
  enum class End : std::uint8_t { Success, Failure };
  void ended(Rank rank, End end);
  bool is_out(Rank rank) const;  // no round has it any more
  void host_lost(HostIndex host);
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
    std::vector<Member> members;
    std::vector<HostIndex> out;  // hosts that were not out before
    std::vector<Rank> left;      // their ranks
    std::uint32_t number = 1;    // of the reset
  };
  using Step = std::variant<GoesOn, Finished, GivenUp, Next>;
  // After news. Next: that round has begun.
  Step look();

  std::uint32_t resets() const { return used_; }
  // On which workers have failed, and which the rounds have done without.
  const std::vector<HostIndex>& out() const { return out_; }

  static constexpr std::string_view kRemoved = "-1,-1,-1,-1,-1,-1";  // the numbers of who belongs to no round

 private:
  enum class Standing : std::uint8_t { Runs, Ready, Succeeded, Failed, Out };
  struct Member {
    Standing standing = Standing::Runs;
    bool registered = false;
  };
  Member* find(Rank rank);
  std::uint32_t count(Standing standing) const;
  bool has_failed(HostIndex host) const;  // a member there
  Result<plan::JobMap> following() const;
  Step next();

  plan::JobMap first_;    // as planned: its ranks are those of the attempt
  plan::JobMap current_;  // of the round: its ranks are what the workers have for numbers
  plan::LeastSize least_;
  std::uint32_t most_resets_;
  std::uint32_t used_ = 0;
  std::vector<Member> members_;  // by rank
  std::vector<HostIndex> out_;
};

}  // namespace sml::attempt
