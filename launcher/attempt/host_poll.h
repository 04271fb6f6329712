// One question to the agents of all hosts whose workers run, and their answers, for which it does not wait for long.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/clock.h"
#include "common/wire/messages.h"
#include "launcher/fleet/fleet.h"

namespace sml::attempt {

class HostPoll {
 public:
  // The hosts that have not answered.
  using Done = std::function<void(std::vector<std::string> silent)>;

  // The fleet outlives this.
  HostPoll(const boost::asio::any_io_executor& loop, fleet::Fleet& fleet) : fleet_(fleet), timer_(loop) {}

  bool waits() const { return static_cast<bool>(done_); }
  // Not while it waits. `done` is called once, from the loop or from within end() or answered().
  void ask(const std::function<wire::ToAgent(std::uint32_t id)>& question, Duration limit, Done done);
  bool awaits(std::uint32_t id) const { return waits() && id == id_; }  // else it is late
  void answered(const fleet::Host& host, std::uint32_t id);             // all that it has to say
  // Nobody will answer any more: what has come is all.
  void end();

 private:
  fleet::Fleet& fleet_;
  boost::asio::steady_timer timer_;
  Done done_;  // empty: nothing has been asked
  std::uint32_t id_ = 0;
  std::set<std::string> unanswered_;  // hosts
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sml::attempt
