// --events: writes events as JSON Lines for programs. Pure. The schema is in sml-run-json(5), EVENTS. Not all events
// have a line: output is counted, for the line about its end, and what only other listeners use is left out.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "launcher/report/events/event_feed.h"

namespace sml::report {

class EventLines final : public EventListener {
 public:
  // `write` receives each line, one object with its newline, from within on_event(). It may move the text away.
  explicit EventLines(std::function<void(std::string& line)> write) : write_(std::move(write)) {}

  void on_event(const Event& event) override;

 private:
  struct Volume {  // bytes that a rank has printed
    std::uint64_t out = 0;
    std::uint64_t err = 0;
  };
  std::function<void(std::string&)> write_;
  const plan::LaunchPlan* plan_ = nullptr;
  TimePoint begin_;
  double unix_time_ = 0;
  std::vector<Volume> volumes_;    // by rank
  std::vector<HostIndex> places_;  // those of the plan's map
};

// "2026-11-21T15:04:05.123456Z" for seconds since 1970; years 1970 to 9999, others are clamped.
std::string iso_time(double unix_time);

}  // namespace sml::report
