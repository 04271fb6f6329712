#include "launcher/agent/machines/monitor_machine.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/core/text.h"

namespace sml::agent {

namespace {

Duration of_ms(std::uint64_t limit_ms) { return std::chrono::milliseconds(limit_ms); }

// NVRx checks every 5 s: scripts compute limits of milliseconds, which it never enforces on a rank that goes on.
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

std::optional<MonitorMachine::Limit> MonitorMachine::next() const {
  std::optional<Limit> first;
  const auto consider = [&first](TimePoint since, const Limit& limit) {
    if (limit.length == Duration::zero() || (first && since + limit.length >= first->over)) return;
    first = limit;
    first->over = since + limit.length;
  };
  if (!begun_ || suspended_) return first;
  if (last_heartbeat_) {
    consider(*last_heartbeat_, {.over = {}, .kind = Kind::Heartbeat, .length = of_ms(limits_.heartbeat_ms)});
  } else {
    consider(*begun_, {.over = {}, .kind = Kind::FirstHeartbeat, .length = of_ms(limits_.first_ms)});
  }
  for (const auto& [name, since] : open_) {
    consider(since, {.over = {}, .kind = Kind::Section, .length = section_limit(name), .section = &name});
  }
  if (open_.empty()) consider(outside_since_, {.over = {}, .kind = Kind::Outside, .length = of_ms(limits_.outside_ms)});
  return first;
}

std::string MonitorMachine::words(const Limit& limit) const {
  struct Words {
    const char* did;
    const char* option;
  };
  static constexpr Words kWords[] = {{"has sent no first heartbeat for ", "--initial-rank-heartbeat-timeout"},
                                     {"has sent no heartbeat for ", "--rank-heartbeat-timeout"},
                                     {"has been in section \"", "--rank-section-timeouts"},
                                     {"has been in no section for ", "--rank-out-of-section-timeout"}};
  const Words& of = kWords[static_cast<std::size_t>(limit.kind)];
  const bool of_heartbeats = limit.kind == Kind::FirstHeartbeat || limit.kind == Kind::Heartbeat;
  const bool is_script_s = of_heartbeats ? script_.heartbeats : script_.sections;
  std::string out = of.did;
  if (limit.section != nullptr) (out += show(*limit.section)) += "\" for ";
  out += format_duration(limit.length);
  return ((out += " (") += is_script_s ? "the limit that its script has set" : of.option) += ")";
}

std::optional<TimePoint> MonitorMachine::deadline() const {
  const std::optional<Limit> limit = next();
  return limit ? std::optional(limit->over) : std::nullopt;
}

std::optional<std::string> MonitorMachine::on_time(TimePoint now) {
  const std::optional<Limit> limit = next();
  if (!limit || now < limit->over) return std::nullopt;
  end();
  return words(*limit);
}

}  // namespace sml::agent
