// The head of a job that is planned when its hosts have called, as their number may vary or each says for itself what
// it brings: waits for those that call.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "launcher/dialin/coordinator/coordinator.h"
#include "launcher/dialin/coordinator/join_grace_period.h"
#include "launcher/transport/waiting_threads.h"

namespace sml::dialin {

// Must outlive the coordinator that it opens.
class Quorum {
 public:
  // run() uses `loop`; afterwards the caller has it. `patience`: the time within which the minimum number of hosts must
  // be here.
  Quorum(boost::asio::io_context& loop, Settings settings, Duration patience, Latecomers latecomers,
         std::function<void(const std::string& text)> print);
  ~Quorum();

  // Takes the plan of the head, and answers how many hosts there are, this one with them; the head stands open then,
  // and has given them their places. Error (Timeout): there were too few in time; (Lost): INT, TERM, HUP or QUIT has
  // come, to a host without which the job cannot begin, too; (Spawn): such a host cannot take part; (Internal): the TLS
  // library refuses. Waiting peers have received the reason.
  Result<std::uint32_t> run(CoordinatorPlan plan);
  // Transfers ownership to the caller.
  std::shared_ptr<Coordinator> take_head() { return std::move(head_); }
  // The share of each host, by place; empty: all have the same.
  plan::HostShares shares() const { return head_->shares(); }
  // After an error: of sml-run.
  int exit_code() const { return exit_code_; }
  // The job cannot begin after all: sends that to the hosts that wait.
  void give_up(const Error& why);

 private:
  void counted(std::uint32_t hosts);
  void look_for_refused();
  void stop(const std::string& why, int signo);
  void fail(Error why, int exit_code);
  Error too_few() const;
  void look();
  void await_time();
  void tell_end(const JobEnd& end);

  boost::asio::io_context& loop_;
  Settings settings_;
  Duration patience_;
  Latecomers latecomers_;
  std::function<void(const std::string& text)> print_;
  transport::WaitingThreads threads_;
  boost::asio::steady_timer timer_;
  boost::asio::signal_set signals_;
  JoinGracePeriod last_call_;
  std::shared_ptr<Coordinator> head_;
  std::optional<Error> failure_;
  int exit_code_ = 0;
};

}  // namespace sml::dialin
