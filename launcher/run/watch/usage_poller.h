// Gets the current resource usage of the ranks, and wire::StatusReplies of their hosts, by queries to the agents.
#pragma once
#include <functional>
#include <memory>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/usage.h"
#include "launcher/attempt/attempt.h"
#include "launcher/report/live/live_use.h"

namespace sml::run {

class UsagePoller {
 public:
  using Done = std::function<void(const report::LiveUses&)>;

  // With UsageLook::No (--no-usage) the agents are never asked. `attempt` is the current one, which the run replaces;
  // it outlives this.
  UsagePoller(const boost::asio::any_io_executor& loop, UsageLook usage,
              const std::unique_ptr<attempt::Attempt>& attempt)
      : usage_(usage), attempt_(attempt), timer_(loop) {}

  // Gets the replies of the hosts, and usage with the CPU rate of each rank. A rate needs two samples: if no recent one
  // is there, asks for usage twice. `done` is called once: immediately, with nothing, if no workers run or agents are
  // not asked, else from the loop, within 3 s; never if the job ends before. A call during another query, also one of
  // ask_sums(), gets what that one returns.
  void ask(Done done);
  // The same without those replies, and without rates unless a recent sample is there. Asks for usage only once: a
  // query makes each host read a few files per process.
  void ask_sums(Done done);

 private:
  using UsageReplies = std::vector<attempt::HostQuery<wire::WorkersUse>::HostReply>;

  bool workers_run() const { return usage_ == UsageLook::Yes && attempt_->runs(); }
  bool enqueue(Done done);  // returns whether no query is under way, so that the caller has to begin one
  void look();
  template <class Reply>
  void ask_hosts();
  report::RankUses add(const UsageReplies& replies);
  void take(report::RankUses ranks);
  void conclude_part();

  const UsageLook usage_;
  const std::unique_ptr<attempt::Attempt>& attempt_;
  boost::asio::steady_timer timer_;
  std::vector<Done> waiting_;  // for the result of the query that is under way
  report::LiveUses answer_;    // its result so far
  int parts_awaited_ = 0;      // its parts that are missing: usage, each kind of reply
  report::UseRates rates_;
};

}  // namespace sml::run
