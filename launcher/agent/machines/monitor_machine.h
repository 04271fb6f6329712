// Checks whether one rank keeps the time limits of its monitor. Pure.
//
// The rank is watched from Begin until it disconnects. As in NVRx: the first heartbeat has a limit of its own, and then
// each next one; each open section has its limit, and while none is open the limit for no section applies. All of these
// apply at the same time.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/plan/rank_monitor.h"
#include "launcher/agent/machines/rank_messages.h"

namespace sml::agent {

class MonitorMachine {
 public:
  explicit MonitorMachine(plan::RankMonitor limits) : given_(std::move(limits)), limits_(given_) {}

  // Starts or restarts the watch. Limits that its script has set before are discarded: the script keeps them and sends
  // them again.
  void begin(TimePoint now);
  void heartbeat(TimePoint now);
  // Error if the section is already open, or is not open, or if too many are open; then nothing changes.
  Result<void> change(const SectionChange& section, TimePoint now);
  // Limits below 5 s are raised to 5 s, as NVRx detects no violation any sooner.
  void set(const NewLimits& limits);
  // Ends the watch: the rank has disconnected.
  void end() { begun_.reset(); }

  // Stops the time between these two calls.
  void suspend(TimePoint now);
  void resume(TimePoint now);
  // Restarts all limits, as the rank could not have kept them.
  void forgive(TimePoint now);

  // The time at which the next limit expires if no message comes before; nullopt if there is none.
  std::optional<TimePoint> deadline() const;
  // Returns the limit that has expired, as a clause that follows "rank 3 on algo-1", and ends the watch; nullopt if
  // none has.
  std::optional<std::string> on_time(TimePoint now);

 private:
  enum class Kind : std::uint8_t { FirstHeartbeat, Heartbeat, Section, Outside };
  struct Limit {
    TimePoint over;
    Kind kind = Kind::Heartbeat;
    Duration length{};
    const std::string* section = nullptr;  // of a Section
  };
  Duration section_limit(const std::string& name) const;
  std::optional<Limit> next() const;
  std::string words(const Limit& limit) const;

  plan::RankMonitor given_;
  plan::RankMonitor limits_;
  struct SetByScript {
    bool heartbeats = false;
    bool sections = false;
  } script_;
  std::optional<TimePoint> begun_;
  std::optional<TimePoint> last_heartbeat_;
  std::map<std::string, TimePoint> open_;
  TimePoint outside_since_;
  std::optional<TimePoint> suspended_;
};

}  // namespace sml::agent
