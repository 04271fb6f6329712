// Checks whether one rank keeps the time limits of its rank monitor, which the agent provides in place of NVRx's
// (NVIDIA's resiliency extension; see rank_messages.h). Pure.
//
// The rank is watched from its Begin message until it disconnects. As in NVRx, the first heartbeat has a limit of its
// own, and each next one has another. Each open section has its limit; while none is open, the limit for the time
// outside of sections applies. Limits of heartbeats and of sections apply at the same time.
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

  // Starts or restarts the watch. Discards limits that the rank's script has set before: the script keeps them and
  // sends them again.
  void begin(TimePoint now);
  void heartbeat(TimePoint now);  // does nothing without a watch
  // Opens or closes sections. Error (Protocol) if the section to open is open, if the one to close is not, or if too
  // many are open; then nothing changes.
  Result<void> change(const SectionChange& section, TimePoint now);
  // Replaces limits by those that the rank's script has set. Raises limits below 5 s to 5 s, as NVRx detects no
  // violation any sooner; 0 stays no limit.
  void set(const NewLimits& limits);
  // Ends the watch: the rank has disconnected.
  void end() { begun_.reset(); }

  // The time between these two calls does not count.
  void suspend(TimePoint now);
  void resume(TimePoint now);
  // Lets all limits begin anew, for a rank that could not have kept them.
  void forgive(TimePoint now);

  // The time at which the next limit expires if no message comes before; nullopt if no limit applies, or while
  // suspended.
  std::optional<TimePoint> deadline() const;
  // If a limit has expired, ends the watch and returns the limit as a part of a sentence that follows "rank 3 on
  // algo-1"; otherwise nullopt.
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
  std::optional<Limit> next() const;  // the one that expires first
  std::string words(const Limit& limit) const;

  plan::RankMonitor given_;   // the options of the user
  plan::RankMonitor limits_;  // the limits that apply now
  struct SetByScript {        // which of limits_ are not from given_
    bool heartbeats = false;
    bool sections = false;
  } script_;
  std::optional<TimePoint> begun_;  // nullopt: the rank is not watched
  std::optional<TimePoint> last_heartbeat_;
  std::map<std::string, TimePoint> open_;  // open sections, and since when
  TimePoint outside_since_;                // used while no section is open
  std::optional<TimePoint> suspended_;     // since when; nullopt: not suspended
};

}  // namespace sml::agent
