// Reports the current resource usage of the ranks, and of the disks they work on, by queries to their agents.
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
    std::function<bool()> workers_run;  // and usage is measured
    std::function<attempt::HostQueries&()> queries;
  };
  using Done = std::function<void(const report::LiveUses&)>;

  UsagePoller(const boost::asio::any_io_executor& loop, Deps job) : deps_(std::move(job)), timer_(loop) {}

  // `done` is called once: immediately if no workers run, else from the loop, within 3 s; never if the job ends before.
  // Asks for disks, and for usage twice if there is no recent base for rates; without disks and rates if it joins a
  // look of ask_sums().
  void ask(Done done);
  // The same without disks, and without rates unless there is a base for them. Asks once: a look costs each host a few
  // files per process.
  void ask_sums(Done done);

 private:
  using UsageReplies = std::vector<attempt::HostQuery<wire::WorkersUse>::HostReply>;

  bool enqueue(Done done);  // whether it is the first, for which a look has to begin
  void look();
  report::RankUses add(const UsageReplies& replies);
  void take(report::RankUses ranks);
  void conclude_part();

  Deps deps_;
  boost::asio::steady_timer timer_;
  std::vector<Done> waiting_;
  report::LiveUses answer_;  // so far
  int parts_awaited_ = 0;    // of it
  report::UseRates rates_;
};

}  // namespace sml::run
