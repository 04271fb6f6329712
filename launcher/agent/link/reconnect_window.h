// The time for which the agent lets the workers run although the link to the launcher is broken: the launcher may be
// gone, or only the connection. Meanwhile the launcher can reconnect by the reconnect socket.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "common/core/clock.h"
#include "launcher/agent/link/control_link.h"
#include "launcher/agent/link/reconnect_socket.h"

namespace sml::agent {

// One thread. The destructor, unless the link is lost, reports to the reconnect helper that the agent has sent
// everything.
class ReconnectWindow {
 public:
  // `link` must outlive this object. `back` is called whenever the launcher has reconnected.
  ReconnectWindow(boost::asio::io_context& loop, ControlLink& link, std::function<void()> back);
  ~ReconnectWindow();
  ReconnectWindow(const ReconnectWindow&) = delete;
  ReconnectWindow& operator=(const ReconnectWindow&) = delete;

  // To be called before the greeting is answered. Returns the name of the reconnect socket, and makes the link
  // resumable. Returns an empty string if `secret` is empty or the socket cannot be made: the link is then lost when
  // its pipe breaks. `hold` is how long to wait for the launcher each time, `guardian_hold` how long after
  // first_pipe_ends().
  std::string open_socket(const std::string& secret, Duration hold, Duration guardian_hold);
  // Begins the wait: the pipe of the link has broken.
  void link_broke() { until_ = Clock::now() + pipe_hold_; }
  // The pipe that the agent was started with ends, or will: the first guardian, which sshd had started, has died, which
  // is no sign that the launcher has ended. If the pipe has broken already, the wait begins anew. No effect once the
  // launcher has come back, over a pipe that does not end with that process.
  void first_pipe_ends();
  // When the launcher must be given up; nullopt if the link is whole, or already lost.
  std::optional<TimePoint> due() const { return link_.lost() ? std::nullopt : until_; }

 private:
  bool reconnected(Reconnected pipe);

  boost::asio::io_context& loop_;
  ControlLink& link_;
  std::function<void()> back_;
  std::optional<ReconnectSocket> socket_;
  Duration hold_{};
  Duration guardian_hold_{};
  Duration pipe_hold_{};            // how long to wait when the current pipe breaks
  std::optional<TimePoint> until_;  // the end of the wait; nullopt: the link is whole
  bool is_first_pipe_ = true;       // the pipe is the one that the agent was started with
};

}  // namespace sml::agent
