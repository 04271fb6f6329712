#include "common/monitor/monitor_machine.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/core/text.h"

namespace sml::monitor {

namespace {

Duration of_ms(std::uint64_t limit_ms) { return std::chrono::milliseconds(limit_ms); }

// NVRx looks every 5 s: scripts calculate limits of milliseconds, by which it ends nobody who goes on.
std::uint64_t set_by_script(std::uint64_t limit_ms) {
  constexpr std::uint64_t least_ms = 5000;
  return limit_ms == 0 ? 0 : std::max(limit_ms, least_ms);
}

std::uint64_t set_by_script(Duration limit) {
  return set_by_script(
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(limit).count()));
}

}  // namespace

void MonitorMachine::begin(TimePoint now) {
  limits_ = given_;
  script_ = {};
  begun_ = now;
  last_heartbeat_.reset();
  open_.clear();
  outside_since_ = now;
}

void MonitorMachine::heartbeat(TimePoint now) {
  if (begun_) last_heartbeat_ = now;
}

Result<void> MonitorMachine::change(const SectionChange& section, TimePoint now) {
  const auto refuse = [&section](const char* why) {
    return Error(ErrorKind::Protocol, "section \"" + section.name + "\" is " + why);
  };
  switch (section.kind) {
    case SectionChange::Kind::Open:
      if (open_.contains(section.name)) return refuse("open already");
      if (open_.size() >= kMaxSections) return refuse("one too many that is open");
      open_.emplace(section.name, now);
      return {};
    case SectionChange::Kind::Close:
      if (open_.erase(section.name) == 0) return refuse("not open");
      break;
    case SectionChange::Kind::CloseAll: open_.clear(); break;
  }
  if (open_.empty()) outside_since_ = now;
  return {};
}

void MonitorMachine::set(const NewLimits& limits) {
  if (limits.heartbeats) {
    limits_.first_ms = set_by_script(limits.heartbeats->first);
    limits_.heartbeat_ms = set_by_script(limits.heartbeats->next);
    script_.heartbeats = true;
  }
  if (limits.sections) {
    limits_.sections = limits.sections->named;
    for (plan::SectionLimit& section : limits_.sections) section.limit_ms = set_by_script(section.limit_ms);
    limits_.outside_ms = set_by_script(limits.sections->outside);
    script_.sections = true;
  }
}

void MonitorMachine::suspend(TimePoint now) {
  if (!suspended_) suspended_ = now;
}

void MonitorMachine::resume(TimePoint now) {
  if (!suspended_) return;
  const Duration stood = now - *std::exchange(suspended_, std::nullopt);
  const auto move = [stood, now](TimePoint& since) { since = std::min(now, since + stood); };
  if (begun_) move(*begun_);
  if (last_heartbeat_) move(*last_heartbeat_);
  for (auto& [name, since] : open_) move(since);
  move(outside_since_);
}

void MonitorMachine::forgive(TimePoint now) {
  if (begun_) begun_ = now;
  if (last_heartbeat_) last_heartbeat_ = now;
  for (auto& [name, since] : open_) since = now;
  outside_since_ = now;
}

Duration MonitorMachine::section_limit(const std::string& name) const {
  const auto named = [&name](const plan::SectionLimit& one) { return one.name == name; };
  const auto found = std::find_if(limits_.sections.begin(), limits_.sections.end(), named);
  return found == limits_.sections.end() ? Duration::zero() : of_ms(found->limit_ms);
}

std::string MonitorMachine::whose(const char* option, bool set_by_script) const {
  return set_by_script ? " (the limit that its script has set)" : std::string(" (") + option + ")";
}

std::optional<MonitorMachine::Limit> MonitorMachine::next() const {
  std::optional<Limit> first;
  const auto consider = [&first](TimePoint since, Duration limit, const std::string& words) {
    if (limit == Duration::zero()) return;
    if (!first || since + limit < first->over) first = Limit{since + limit, words};
  };
  if (!begun_ || suspended_) return first;
  const Duration heartbeat = of_ms(last_heartbeat_ ? limits_.heartbeat_ms : limits_.first_ms);
  if (last_heartbeat_) {
    consider(*last_heartbeat_, heartbeat,
             "has sent no heartbeat for " + format_duration(heartbeat) +
                 whose("--rank-heartbeat-timeout", script_.heartbeats));
  } else {
    consider(*begun_, heartbeat,
             "has sent no first heartbeat for " + format_duration(heartbeat) +
                 whose("--initial-rank-heartbeat-timeout", script_.heartbeats));
  }
  for (const auto& [name, since] : open_) {
    const Duration limit = section_limit(name);
    consider(since, limit,
             "has been in section \"" + show(name) + "\" for " + format_duration(limit) +
                 whose("--rank-section-timeouts", script_.sections));
  }
  const Duration outside = of_ms(limits_.outside_ms);
  if (open_.empty()) {
    consider(outside_since_, outside,
             "has been in no section for " + format_duration(outside) +
                 whose("--rank-out-of-section-timeout", script_.sections));
  }
  return first;
}

std::optional<TimePoint> MonitorMachine::deadline() const {
  const std::optional<Limit> limit = next();
  return limit ? std::optional(limit->over) : std::nullopt;
}

std::optional<std::string> MonitorMachine::on_time(TimePoint now) {
  std::optional<Limit> limit = next();
  if (!limit || now < limit->over) return std::nullopt;
  end();
  return std::move(limit->words);
}

}  // namespace sml::monitor
