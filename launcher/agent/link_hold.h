// What keeps workers while the link to the launcher has broken: it may be the launcher that has gone, or only what lay
// between. For a time that the launcher has named it is waited for, at a door.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "common/core/clock.h"
#include "launcher/agent/control_link.h"
#include "launcher/agent/return_door.h"

namespace sml::agent {

// One thread. When it goes while the link is well, the messenger is told that all has been said.
class LinkHold {
 public:
  // `link` outlives it. `back` is called whenever the launcher is back.
  LinkHold(boost::asio::io_context& loop, ControlLink& link, std::function<void()> back);
  ~LinkHold();
  LinkHold(const LinkHold&) = delete;
  LinkHold& operator=(const LinkHold&) = delete;

  // Before the greeting is answered. The name of the door; empty: there is none, and the link is lost when it breaks.
  std::string open_door(const std::string& secret, Duration hold);
  void link_broke() { until_ = Clock::now() + hold_; }
  // When the launcher is to be given up; nothing: the link is whole, or lost already.
  std::optional<TimePoint> due() const { return link_.lost() ? std::nullopt : until_; }

 private:
  bool come_back(Returned pipe);

  boost::asio::io_context& loop_;
  ControlLink& link_;
  std::function<void()> back_;
  std::optional<ReturnDoor> door_;
  Duration hold_{};
  std::optional<TimePoint> until_;
};

}  // namespace sml::agent
