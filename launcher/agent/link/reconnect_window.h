// Keeps the workers running while the link to the launcher is broken. Either the launcher or only the connection may be
// gone, so this waits on a reconnect socket for as long as the launcher has specified.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "common/core/clock.h"
#include "launcher/agent/link/control_link.h"
#include "launcher/agent/link/reconnect_socket.h"

namespace sml::agent {

// One thread. If it is destroyed before the link is lost, it reports to the reconnect helper that the agent has sent
// everything.
class ReconnectWindow {
 public:
  // `link` must outlive this object. `back` is called whenever the launcher has reconnected.
  ReconnectWindow(boost::asio::io_context& loop, ControlLink& link, std::function<void()> back);
  ~ReconnectWindow();
  ReconnectWindow(const ReconnectWindow&) = delete;
  ReconnectWindow& operator=(const ReconnectWindow&) = delete;

  // To be called before the greeting is answered. Returns the name of the reconnect socket; empty if there is none, and
  // a break then loses the link.
  std::string open_socket(const std::string& secret, Duration hold);
  void link_broke() { until_ = Clock::now() + hold_; }
  // When the launcher must be given up; nullopt if the link is whole, or already lost.
  std::optional<TimePoint> due() const { return link_.lost() ? std::nullopt : until_; }

 private:
  bool come_back(Reconnected pipe);

  boost::asio::io_context& loop_;
  ControlLink& link_;
  std::function<void()> back_;
  std::optional<ReconnectSocket> socket_;
  Duration hold_{};
  std::optional<TimePoint> until_;
};

}  // namespace sml::agent
