// On the coordinator's host, for a job that cannot be planned before its hosts have called, because their number may
// vary or because each brings its own share (plan::HostShare): opens the coordinator and waits until enough hosts are
// here.
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
#include "launcher/transport/blocking_threads.h"

namespace sml::dialin {

// Must outlive the coordinator that it opens, also after take_head(): it has the threads that look up names.
class Quorum {
 public:
  // Only run() and give_up() run `loop`; between and after them it is the caller's. `timeout`: the time within which
  // the minimum number of hosts must be here.
  Quorum(boost::asio::io_context& loop, Settings settings, Duration timeout, Latecomers latecomers,
         std::function<void(const std::string& text)> print);
  ~Quorum();

  // Opens the coordinator with that plan, and blocks until enough hosts are here. Returns the number of hosts, this one
  // included; the coordinator has then given them their places, and remains open. Error (Timeout): too few hosts came
  // in time; (Lost): this host has received INT, TERM, HUP or QUIT, or a host that waits has; (Spawn): a host without
  // which the job cannot begin cannot take part; (Internal): the TLS library fails. After an error the waiting peers
  // have received the reason.
  Result<std::uint32_t> run(CoordinatorPlan plan);
  // The coordinator, after run(); transfers ownership to the caller.
  std::shared_ptr<Coordinator> take_head() { return std::move(head_); }
  // The share of each host, by place; empty: all have the same. Call after run() and before take_head().
  plan::HostShares shares() const { return head_->shares(); }
  // The exit status of sml-run after an error of run().
  int exit_code() const { return exit_code_; }
  // After run(), before take_head(): the job cannot begin after all. Sends the hosts that wait this error as the
  // outcome; blocks for 5 s at most.
  void give_up(const Error& why);

 private:
  void counted(std::uint32_t hosts);
  void look_for_refused();
  void stop(const std::string& why, int signo);
  void fail(Error why, int exit_code);
  Error too_few() const;
  void look();
  void await_time();
  void send_end(const JobEnd& end);

  boost::asio::io_context& loop_;
  const Settings settings_;
  Duration timeout_;
  Latecomers latecomers_;
  std::function<void(const std::string& text)> print_;
  transport::BlockingThreads threads_;
  boost::asio::steady_timer timer_;
  boost::asio::signal_set signals_;
  JoinGracePeriod last_call_;
  std::shared_ptr<Coordinator> head_;  // null: before run(), or after take_head()
  std::optional<Error> failure_;       // why the job cannot begin
  bool has_begun_ = false;             // the coordinator has given the hosts their places
  int exit_code_ = 0;
};

}  // namespace sml::dialin
