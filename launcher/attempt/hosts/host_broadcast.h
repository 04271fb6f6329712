// Broadcasts one request to the agents of all hosts whose workers run and collects their replies until a time limit.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/clock.h"
#include "common/wire/messages.h"
#include "launcher/fleet/fleet.h"

namespace sml::attempt {

class HostBroadcast {
 public:
  // `silent`: the names of the hosts that have not replied completely, in alphabetical order.
  using Done = std::function<void(std::vector<std::string> silent)>;

  // The fleet outlives this.
  HostBroadcast(const boost::asio::any_io_executor& loop, fleet::Fleet& fleet) : fleet_(fleet), timer_(loop) {}

  bool waits() const { return static_cast<bool>(done_); }  // a request is pending
  // Sends the message that `question` makes for the request number `id`. `done` is called once, when all hosts have
  // replied, after `limit`, or at end(): from the loop or from within end() or answered(). Must not be called while
  // waits().
  void ask(const std::function<wire::ToAgent(std::uint32_t id)>& question, Duration limit, Done done);
  bool awaits(std::uint32_t id) const { return waits() && id == id_; }  // false: the reply is late
  void answered(const fleet::Host& host, std::uint32_t id);             // the host's reply is complete
  // No more replies will come: concludes with those received.
  void end();

 private:
  fleet::Fleet& fleet_;
  boost::asio::steady_timer timer_;
  Done done_;  // empty: no request is pending
  std::uint32_t id_ = 0;
  std::map<HostId, std::string> unanswered_;  // with their names
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sml::attempt
