// The rounds of an elastic Horovod job (hvd.elastic). Workers that survive the failure of others, or are notified that
// hosts have come or gone, keep their processes and the state that they have committed in memory, request new numbers,
// and go on as another world, which workers on new hosts join. Pure.
//
// A round is over when each of its members waits for its numbers (is ready) or has ended. Then: if a member has
// succeeded, the job ends; if all have failed, or too few are left, the attempt ends; otherwise the hosts with failed
// members are out, and the other members form the next round, in their previous order, before the new ones. Source:
// horovod/runner/elastic/registration.py and driver.py of Horovod 0.28.
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
#include "common/plan/ranks/job_map.h"

namespace sml::attempt {

class ElasticRounds {
 public:
  // Returns the map that follows that of `round` without the hosts `out`: hosts that stay keep all their ranks and
  // their order, before hosts that had none. Error: there is no such map.
  using Following = std::function<Result<plan::JobMap>(const plan::JobMap& round, const std::vector<HostId>& out)>;

  // `map`: that of a starting attempt, of one program; its ranks are the members of the first round. `resets`: the
  // number of rounds that may follow the first.
  ElasticRounds(plan::JobMap map, Following following, std::uint32_t resets);

  // The rank, in the attempt's plan, of the worker that calls itself `slot` ("HOST:LOCAL_RANK"); nullopt: there is
  // none.
  std::optional<Rank> rank_of(std::string_view slot) const;
  const std::string& slot_of(Rank rank) const { return members_[rank.value()].slot; }

  // The following calls report what members do: that one has registered, so that it can go on without others; that one
  // is ready, waiting for its numbers; that one has ended. Each call accepts any rank at any time; news that comes too
  // late has no effect.
  void registered(Rank rank);
  // Later: the rank gets its numbers when the next round begins. Removed: it belongs to no round any more; send it
  // kRemoved.
  enum class Answer : std::uint8_t { Later, Removed };
  Answer ready(Rank rank);
  enum class End : std::uint8_t { Success, Failure };
  void ended(Rank rank, End end);
  bool is_out(Rank rank) const;  // no later round contains it
  bool has_members_on(HostId host) const { return !ranks_on(host).empty(); }
  void host_lost(HostId host);  // its members have failed
  bool anyone_runs() const { return count(Standing::Runs) > 0; }
  // Whether the members that run or wait can go on without the failed ones: all have registered, there are enough, and
  // a reset is left.
  bool some_may_go_on() const;

  struct Continue {};  // begin nothing: some members still run, or all that are left have succeeded
  // Some members have succeeded, so there is no next round.
  struct Finished {
    std::uint32_t waiting = 0;  // members that wait for a round which will not come
  };
  struct GivenUp {};  // no next round is possible: the attempt fails
  struct Next {
    struct Member {
      Rank rank;
      std::string numbers;  // in the format that Horovod's workers read
    };
    struct Joining {
      HostId host;
      std::uint32_t ranks = 0;  // how many it gets
    };
    plan::JobMap map;             // its ranks are the workers' new numbers
    std::vector<Member> members;  // members of the previous round that stay
    std::vector<Joining> joining;
    std::vector<HostId> out;   // hosts of the previous round without ranks in this one
    std::vector<Rank> left;    // the ranks of these hosts
    std::uint32_t number = 1;  // number of the reset
  };
  using Step = std::variant<Continue, Finished, GivenUp, Next>;
  // Returns what follows from the calls above, and changes nothing. Next: that round is to begin.
  Step look() const;
  // Begins the round that look() has returned. `first`: the joining ranks are numbered from this one on in the
  // attempt's plan, host by host.
  void begin(const Next& next, Rank first);

  // Whether the next round would have other hosts than this one, and all members run and can be notified of that.
  bool hosts_have_changed() const;
  // The same, and no reset is left for that.
  bool lacks_a_reset() const;
  Rank leader() const;  // rank, in the attempt's plan, of the member whose number is 0

  std::uint32_t resets() const { return used_; }
  // Hosts on which workers have failed and which are not used since; not those that have joined again.
  const std::vector<HostId>& out() const { return out_; }

  // numbers sent to a worker that belongs to no round
  static constexpr std::string_view kRemoved = "-1,-1,-1,-1,-1,-1";

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
  std::vector<Rank> ranks_on(HostId host) const;  // that belong to this round
  bool has_failed(HostId host) const;             // whether a member there has failed
  Result<plan::JobMap> following() const;
  bool has_other_hosts_next() const;
  bool may_change() const;  // all members run and can be notified
  void add(const plan::MappedHost& host);

  Following following_;
  plan::JobMap current_;  // of this round
  std::uint32_t most_resets_;
  std::uint32_t used_ = 0;       // resets so far
  std::vector<Member> members_;  // by rank
  std::vector<HostId> out_;
};

}  // namespace sml::attempt
