// Whether one rank keeps the time limits of its monitor. Pure.
//
// It is watched from Begin on until it goes. As in NVRx: a first heartbeat is awaited, and from then on the next;
// sections that are open have each its limit, and where none is open that of no section holds. All of them hold at
// once.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/monitor/rank_messages.h"
#include "common/plan/rank_monitor.h"

namespace sml::monitor {

class MonitorMachine {
 public:
  explicit MonitorMachine(plan::RankMonitor limits) : given_(std::move(limits)), limits_(given_) {}

  // Begins, or begins anew. Limits that its script has set before are forgotten: it has kept them, and says so again.
  void begin(TimePoint now);
  void heartbeat(TimePoint now);
  // Error: it is open already, or is not; nothing changes.
  Result<void> change(const SectionChange& section, TimePoint now);
  // None of them is taken as less than 5 s, as NVRx finds nobody any sooner.
  void set(const NewLimits& limits);
  // It has gone: is watched no more.
  void end() { begun_.reset(); }

  // No time passes in between.
  void suspend(TimePoint now);
  void resume(TimePoint now);
  // It could not do otherwise: all its limits begin anew.
  void forgive(TimePoint now);

  // When a limit is over, unless something comes before.
  std::optional<TimePoint> deadline() const;
  // Which is over, as a clause that follows "rank 3 on algo-1"; from then on it is watched no more. Nothing: none.
  std::optional<std::string> on_time(TimePoint now);

 private:
  enum class Kind : std::uint8_t { FirstHeartbeat, Heartbeat, Section, Outside };
  struct Limit {
    TimePoint over;
    Kind kind = Kind::Heartbeat;
    Duration length{};
    const std::string* section = nullptr;  // of Section
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

}  // namespace sml::monitor
