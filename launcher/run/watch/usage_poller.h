// Gets the current resource usage of the ranks, and of the disks they work on, by queries to their agents.
#pragma once
#include <functional>
#include <memory>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "launcher/attempt/hosts/host_queries.h"
#include "launcher/report/live/live_use.h"

namespace sml::run {

class UsagePoller {
 public:
  struct Deps {
    std::function<bool()> workers_run;  // true if workers run and their usage is measured
    std::function<attempt::HostQueries&()> queries;
  };
  using Done = std::function<void(const report::LiveUses&)>;

  UsagePoller(const boost::asio::any_io_executor& loop, Deps job) : deps_(std::move(job)), timer_(loop) {}

  // Gets disks and usage, with the CPU rate of each rank. A rate needs two samples: if no recent one is there, asks for
  // usage twice. `done` is called once: immediately, with nothing, if no workers run, else from the loop, within 3 s;
  // never if the job ends before. A call during another query, also one of ask_sums(), gets what that one returns.
  void ask(Done done);
  // The same without disks, and without rates unless a recent sample is there. Asks for usage only once: a query makes
  // each host read a few files per process.
  void ask_sums(Done done);

 private:
  using UsageReplies = std::vector<attempt::HostQuery<wire::WorkersUse>::HostReply>;

  bool enqueue(Done done);  // returns whether no query is under way, so that the caller has to begin one
  void look();
  report::RankUses add(const UsageReplies& replies);
  void take(report::RankUses ranks);
  void conclude_part();

  Deps deps_;
  boost::asio::steady_timer timer_;
  std::vector<Done> waiting_;  // for the result of the query that is under way
  report::LiveUses answer_;    // its result so far
  int parts_awaited_ = 0;      // its parts that are missing: disks, usage
  report::UseRates rates_;
};

}  // namespace sml::run
