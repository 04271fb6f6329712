// Answers what the ranks use now: asks their agents, twice where nobody has asked a moment ago.
#pragma once
#include <functional>
#include <memory>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "launcher/attempt/use_inquiry.h"
#include "launcher/report/live_use.h"

namespace sml::run {

class UseLooks {
 public:
  struct Job {
    std::function<bool()> workers_run;  // and are looked at
    std::function<void(attempt::UseInquiry::Done done)> look;
  };
  using Done = std::function<void(const report::LiveUses&)>;

  UseLooks(const boost::asio::any_io_executor& loop, Job job) : job_(std::move(job)), timer_(loop) {}

  // `done` is called once, at once where no workers run, or from the loop, within 3 s; not at all where the job is over
  // before.
  void tell(Done done);

 private:
  void look();
  report::LiveUses add(const std::vector<wire::RankUse>& workers);
  void answer(const report::LiveUses& uses);

  Job job_;
  boost::asio::steady_timer timer_;
  std::vector<Done> waiting_;
  report::UseRates rates_;
};

}  // namespace sml::run
