#include "launcher/report/live/status_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "common/core/text.h"

namespace sml::report {

namespace {

using HostState = JobProgress::HostState;
using RankState = JobProgress::RankState;
using std::string_view;

constexpr std::size_t kFewestColumns = 20;
constexpr std::size_t kLongestHostName = 60;

// "14 running, 2 finished"; omits counts of zero.
std::string ranks_text(const JobProgress& progress) {
  struct Word {
    RankState state;
    string_view text;
  };
  constexpr Word kWords[] = {{RankState::Waiting, "waiting"},    {RankState::Running, "running"},
                             {RankState::Succeeded, "finished"}, {RankState::Failed, "failed"},
                             {RankState::Stopped, "stopped"},    {RankState::Lost, "lost"}};
  std::string out;
  for (const auto& [state, text] : kWords) {
    const std::size_t count = progress.count(state);
    if (count > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, text);
  }
  return out;
}

// "3/4", "3/4, 1 failed"
std::string hosts_text(const JobProgress& progress) {
  const std::size_t failed = progress.count(HostState::Failed);
  const std::size_t connected = progress.hosts().size() - failed - progress.count(HostState::Waiting);
  std::string out = fmt::format("{}/{}", connected, progress.hosts().size());
  if (failed > 0) out += fmt::format(", {} failed", failed);
  return out;
}

std::string attempt_text(const JobProgress& progress) {
  return progress.attempt() > 1 ? fmt::format("attempt {}, ", progress.attempt()) : "";
}

bool awaited(const JobProgress::Host& host) {
  return host.state == HostState::Waiting || host.state == HostState::Connected;
}

// The hosts that are not ready before the start: "algo-7 (connecting)", "algo-[5-7]".
std::string awaited_text(const JobProgress& progress) {
  std::vector<std::string> names;
  string_view step;
  for (const JobProgress::Host& host : progress.hosts()) {
    if (!awaited(host)) continue;
    names.push_back(host.name);
    step = host.text;
  }
  if (names.empty()) return {};
  std::string out = " | waiting for " + show(fold_names(names));
  if (names.size() == 1 && !step.empty()) out += " (" + show(step) + ")";
  return out;
}

Duration silence(const JobProgress::RankLine& rank, TimePoint now) { return now - rank.last_output; }

std::string silent_text(const JobProgress& progress, TimePoint now) {
  std::optional<std::size_t> silent;
  for (std::size_t rank = 0; rank < progress.ranks().size(); ++rank) {
    const JobProgress::RankLine& line = progress.ranks()[rank];
    if (line.state != RankState::Running) continue;
    if (!silent || line.last_output < progress.ranks()[*silent].last_output) silent = rank;
  }
  if (!silent || silence(progress.ranks()[*silent], now) < kNotSilent) return {};
  return fmt::format(" | rank {} silent {}", *silent, clock_text(silence(progress.ranks()[*silent], now)));
}

string_view state_word(HostState state) {
  constexpr string_view kWords[] = {"waiting", "connected", "ready", "failed", "ended"};
  return kWords[static_cast<std::size_t>(state)];
}

std::string state_text(const JobProgress::RankLine& rank, TimePoint now) {
  switch (rank.state) {
    case RankState::Waiting: return "waiting";
    case RankState::Running: return "running " + clock_text(now - rank.start);
    case RankState::Lost: return "lost with its host";
    default: break;
  }
  const bool ran = rank.start != TimePoint();
  return show(rank.status, kLongestHostName) + (ran ? " after " + clock_text(rank.end - rank.start) : "");
}

// "gpu[0-1] 87 3 %"
std::string accelerators_text(const std::vector<AcceleratorUse>& accelerators) {
  std::vector<std::string> names;
  std::string busy;
  for (const AcceleratorUse& one : accelerators) {
    names.push_back(one.name);
    busy += fmt::format(" {}", one.busy_percent);
  }
  return show(fold_names(names)) + busy + " %";
}

// "  card0 87 %, memory 3.2 GiB of 64.0 GiB, disk 81.0 GiB free": a narrow terminal cuts off the end.
std::string use_text(const JobProgress::Host& host, const LiveUses& uses) {
  const HostUse& last = host.peaks.last;
  std::vector<std::string> parts;
  if (!last.accelerators.empty()) parts.push_back(accelerators_text(last.accelerators));
  if (last.memory_total > 0) {
    parts.push_back(fmt::format("memory {} of {}", bytes_text(last.memory_used), bytes_text(last.memory_total)));
  }
  for (const StatusPart& part : status_parts(uses, host.name)) {
    if (part.known) parts.push_back(part.text);
  }
  return parts.empty() ? "" : fmt::format("  {}", fmt::join(parts, ", "));
}

// "     CPU     MEMORY": two columns more, or none.
std::string use_columns(std::string_view cpu, std::string_view memory) {
  return fmt::format("  {:>6}  {:>9}", cpu, memory);
}

std::string use_columns(const RankUses& uses, std::size_t rank) {
  const auto use = uses.find(Rank(static_cast<std::uint32_t>(rank)));
  if (use == uses.end()) return use_columns("-", "-");
  const std::optional<double>& cpu = use->second.cpu_percent;
  return use_columns(cpu ? fmt::format("{:.0f} %", *cpu) : "-", bytes_text(use->second.memory));
}

std::size_t widest_name(const JobProgress& progress) {
  std::size_t width = 4;
  for (const JobProgress::Host& host : progress.hosts())
    width = std::max(width, show(host.name, kLongestHostName).size());
  return width;
}

}  // namespace

std::string cut_lines(std::string_view text, std::size_t columns) {
  constexpr string_view kCut = "...";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const string_view line = text.substr(at, end - at);
    std::size_t shown = 0;  // bytes; characters count once, by their first byte
    std::size_t last = 0;
    for (std::size_t width = 0; shown < line.size(); ++shown) {
      const bool begins = (static_cast<unsigned char>(line[shown]) & 0xC0) != 0x80;
      if (begins && width + kCut.size() <= columns) last = shown;
      if (begins && ++width > columns) break;
    }
    out += shown < line.size() ? fmt::format("{}{}", line.substr(0, last), kCut) : std::string(line);
    if (end < text.size()) out += '\n';
    at = end + 1;
  }
  return out;
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::string clock_text(Duration elapsed) {
  const auto seconds = std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::seconds>(elapsed).count());
  if (seconds < 3600) return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string status_line(const JobProgress& progress, TimePoint now, std::size_t columns) {
  if (columns < kFewestColumns) return {};
  std::string out = fmt::format("sml-run: {} | {}hosts {}", clock_text(now - progress.begin()), attempt_text(progress),
                                hosts_text(progress));
  if (progress.phase() == JobProgress::Phase::Stopping) out += " | stopping";
  if (progress.phase() == JobProgress::Phase::Starting) {
    out += awaited_text(progress);
  } else {
    out += " | ranks " + ranks_text(progress) + silent_text(progress, now);
  }
  if (out.size() > columns) out.replace(columns - 3, std::string::npos, "...");
  return out;
}

std::vector<std::string> status_table(const JobProgress& progress, TimePoint now, const LiveUses& uses) {
  const std::size_t width = widest_name(progress);
  std::vector<std::string> out;
  out.push_back(fmt::format("status after {}: {}hosts {}; ranks {}", clock_text(now - progress.begin()),
                            attempt_text(progress), hosts_text(progress), ranks_text(progress)));
  out.push_back(fmt::format("  {:<{}}  {:<9}  RANKS", "HOST", width, "STATE"));
  for (const JobProgress::Host& host : progress.hosts()) {
    const bool told = host.state == HostState::Failed || awaited(host);
    out.push_back(fmt::format("  {:<{}}  {:<9}  {}{}{}", show(host.name, kLongestHostName), width,
                              state_word(host.state), show(host.ranks.text()),
                              told && !host.text.empty() ? " (" + show(host.text) + ")" : "", use_text(host, uses)));
  }
  out.push_back(fmt::format("  {:>6}  {:<{}}  {:>7}{}  {:>9}  {:>7}  STATE", "RANK", "HOST", width, "PID",
                            uses.ranks.empty() ? "" : use_columns("CPU", "MEMORY"), "OUTPUT", "SILENT"));
  for (std::size_t rank = 0; rank < progress.ranks().size(); ++rank) {
    const JobProgress::RankLine& line = progress.ranks()[rank];
    out.push_back(fmt::format(
        "  {:>6}  {:<{}}  {:>7}{}  {:>9}  {:>7}  {}", rank, show(progress.hosts()[line.host].name, kLongestHostName),
        width, line.pid > 0 ? std::to_string(line.pid) : "-", uses.ranks.empty() ? "" : use_columns(uses.ranks, rank),
        bytes_text(line.bytes), line.state == RankState::Running ? clock_text(silence(line, now)) : "-",
        state_text(line, now)));
  }
  return out;
}

}  // namespace sml::report
