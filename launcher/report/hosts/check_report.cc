#include "launcher/report/hosts/check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <string_view>
#include <tuple>

#include "common/core/text.h"
#include "launcher/report/live/status_text.h"

namespace sml::report {

namespace {

using std::string_view;

constexpr std::uint64_t kMebi = std::uint64_t{1} << 20;
constexpr std::size_t kLongestName = 40;

// ---- numbers as text

// "8M", "1.9T", "512": at most five characters.
std::string short_number(std::uint64_t value) {
  constexpr string_view kUnits = "KMGTPE";
  if (value == plan::kUnlimited) return "unlim";
  if (value < 1024) return std::to_string(value);
  auto scaled = static_cast<double>(value) / 1024;
  std::size_t unit = 0;
  for (; scaled >= 999.5 && unit + 1 < kUnits.size(); ++unit) scaled /= 1024;
  return fmt::format("{:.{}f}{}", scaled, scaled < 9.95 && scaled != static_cast<int>(scaled) ? 1 : 0, kUnits[unit]);
}

std::string size_text(std::uint64_t bytes) {
  const std::string text = short_number(bytes);
  return text + (bytes < 1024 ? " B" : "iB");
}

std::string part_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-" : short_number(part) + "/" + short_number(whole);
}

std::string trip_text(const std::optional<Duration>& trip) {
  if (!trip) return "-";
  const double ms = in_seconds(*trip) * 1000;
  return fmt::format("{:.{}f}ms", ms, ms < 9.95 ? 1 : 0);
}

std::string offset_text(const std::optional<Duration>& offset) {
  if (!offset) return "-";
  const double s = in_seconds(*offset);
  if (s > -0.05 && s < 0.05) return "0.0s";
  return fmt::format("{:+.{}f}s", s, s > -99 && s < 99 ? 1 : 0);
}

// ---- the state of a host, in a word or two

string_view checked_state(const HostCheck& host) {
  if (is_ready(host)) return "ready";
  if (host.faults.empty()) return host.looked == Looked::NotCalled ? "not called" : "not checked";
  if (host.reaches_first == Reaches::No && host.faults.size() == 1) return "cut off";
  switch (host.faults.front().kind()) {
    case ErrorKind::Resolve: return "no address";
    case ErrorKind::Connect: return "unreachable";
    case ErrorKind::HostKey: return "host key";
    case ErrorKind::Auth: return "no login";
    case ErrorKind::Deploy: return "no agent";
    case ErrorKind::NotExecutable:
    case ErrorKind::NotFound: return "no program";
    case ErrorKind::Timeout: return host.looked == Looked::NotCalled ? "not called" : "no answer";
    case ErrorKind::Lost: return "lost";
    default: return "not ready";
  }
}

// ---- the table

struct Column {
  string_view title;
  bool left = false;
};
constexpr std::array kColumns{Column{"HOST", true}, Column{"STATE", true},  Column{"TRIP"}, Column{"CLOCK"},
                              Column{"CORES"},      Column{"MEMORY"},       Column{"GPUS"}, Column{"FILES"},
                              Column{"PROCS"},      Column{"LOCKED"},       Column{"SHM"},  Column{"DISK"},
                              Column{"WDIR"},       Column{"ADDRESS", true}};
using Row = std::array<std::string, kColumns.size()>;

// The columns by their places: in one table, or in two for a narrow terminal.
constexpr std::array<std::size_t, 14> kWhole{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
static_assert(kWhole.size() == kColumns.size());
constexpr std::array<std::size_t, 8> kHostAndPlace{0, 1, 2, 3, 4, 5, 6, 13};
constexpr std::array<std::size_t, 7> kLimitsAndSpace{0, 7, 8, 9, 10, 11, 12};

// The hosts that share a line.
using Group = std::vector<const HostCheck*>;

template <class Value>
const HostCheck* least(const Group& group, Value value) {
  const auto less = [&](const HostCheck* a, const HostCheck* b) { return value(*a->facts) < value(*b->facts); };
  return *std::min_element(group.begin(), group.end(), less);
}

void fill_facts(const Group& group, Row& row) {
  if (!group.front()->facts) {
    std::fill(row.begin() + 4, row.end() - 1, "-");
    return;
  }
  const plan::HostFacts& one = *group.front()->facts;
  const auto space = [&](auto which) {
    const plan::Space& least_free =
        which(*least(group, [&](const plan::HostFacts& f) { return which(f).free; })->facts);
    return part_of(least_free.free, least_free.size);
  };
  const plan::Memory memory = least(group, [](const plan::HostFacts& f) { return f.memory.available; })->facts->memory;
  row[4] = std::to_string(one.cores);
  row[5] = part_of(memory.available, memory.total);
  row[6] = std::to_string(one.devices);
  row[7] = short_number(one.open_files.soft);
  row[8] = short_number(one.processes.soft);
  row[9] = short_number(one.locked_memory.soft);
  row[10] = space([](const plan::HostFacts& f) -> const plan::Space& { return f.shared_memory; });
  row[11] = space([](const plan::HostFacts& f) -> const plan::Space& { return f.agent_folder; });
  row[12] = space([](const plan::HostFacts& f) -> const plan::Space& { return f.working_directory; });
}

std::vector<std::string> names_of(const Group& group) {
  std::vector<std::string> out;
  for (const HostCheck* host : group) out.push_back(host->name);
  return out;
}

Row row_of(const Group& group) {
  Row row;
  std::optional<Duration> trip;
  std::optional<Duration> clock;
  std::vector<std::string> addresses;
  for (const HostCheck* host : group) {
    if (host->round_trip) trip = std::max(trip.value_or(Duration::zero()), *host->round_trip);
    if (host->clock_offset && (!clock || std::chrono::abs(*host->clock_offset) > std::chrono::abs(*clock))) {
      clock = host->clock_offset;
    }
    if (!host->address.empty()) addresses.push_back(host->address);
  }
  row[0] = show(fold_names(names_of(group)), kLongestName);
  row[1] = checked_state(*group.front());
  row[2] = trip_text(trip);
  row[3] = offset_text(clock);
  fill_facts(group, row);
  row.back() = addresses.empty() ? "-" : show(fold_names(addresses), kLongestName);
  return row;
}

// The values that must be equal for hosts to share a line; free space and times may differ.
auto likeness(const HostCheck& host) {
  const plan::HostFacts facts = host.facts.value_or(plan::HostFacts{});
  return std::tuple(std::string(checked_state(host)), host.facts.has_value(), facts.cores, facts.memory.total,
                    facts.devices, facts.open_files.soft, facts.processes.soft, facts.locked_memory.soft,
                    facts.shared_memory.size);
}

// Groups in the order of their first hosts.
std::vector<Group> groups_of(const std::vector<HostCheck>& hosts) {
  constexpr std::size_t kFew = 16;
  std::vector<Group> out;
  std::map<decltype(likeness(hosts.front())), std::size_t> known;
  for (const HostCheck& host : hosts) {
    if (hosts.size() <= kFew) {
      out.push_back({&host});
      continue;
    }
    const auto [place, fresh] = known.emplace(likeness(host), out.size());
    if (fresh) out.emplace_back();
    out[place->second].push_back(&host);
  }
  return out;
}

std::string table_of(const std::vector<Row>& rows, std::span<const std::size_t> columns) {
  Row titles;
  std::transform(kColumns.begin(), kColumns.end(), titles.begin(),
                 [](const Column& c) { return std::string(c.title); });
  std::vector<std::string> lines(rows.size() + 1);
  for (const std::size_t i : columns) {
    std::size_t width = titles[i].size();
    for (const Row& row : rows) width = std::max(width, row[i].size());
    for (std::size_t n = 0; n < lines.size(); ++n) {
      const std::string& cell = n == 0 ? titles[i] : rows[n - 1][i];
      lines[n] += lines[n].empty() ? "" : " ";
      lines[n] += kColumns[i].left ? fmt::format("{:<{}}", cell, width) : fmt::format("{:>{}}", cell, width);
    }
  }
  std::string out;
  for (const std::string& line : lines) out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  return out;
}

std::string table_within(std::size_t columns, const std::vector<Row>& rows) {
  std::string whole = table_of(rows, kWhole);
  if (cut_lines(whole, columns) == whole) return whole;
  return cut_lines(table_of(rows, kHostAndPlace) + "\n" + table_of(rows, kLimitsAndSpace), columns);
}

// ---- messages that several hosts share

// Maps each message to its hosts, in the order of the first of them.
class Folded {
 public:
  void add(std::string text, const HostCheck& host) {
    const auto same = [&](const auto& group) { return group.first == text; };
    auto found = std::find_if(groups_.begin(), groups_.end(), same);
    if (found == groups_.end()) found = groups_.emplace(groups_.end(), std::move(text), Group());
    found->second.push_back(&host);
  }
  std::size_t size() const { return groups_.size(); }
  // "algo-[1-3]: TEXT"
  void append_to(std::vector<std::string>& out) const {
    for (const auto& [text, group] : groups_) out.push_back(fold_names(names_of(group)) + ": " + text);
  }
  // "TEXT on algo-[1-3], TEXT on algo-4"
  std::string in_one() const {
    std::string out;
    for (const auto& [text, group] : groups_) {
      out += fmt::format("{}{} on {}", out.empty() ? "" : ", ", text, fold_names(names_of(group)));
    }
    return out;
  }

 private:
  std::vector<std::pair<std::string, Group>> groups_;
};

// The paths of the host's programs, as far as they were found.
std::string programs_text(const plan::HostFacts& facts) {
  std::string out;
  for (const std::string& file : facts.programs) {
    if (!file.empty()) out += (out.empty() ? "" : ", ") + show(file, 100);
  }
  return out;
}

// ---- warnings

void warn_of_limits(const CheckReport& report, Folded& out) {
  constexpr std::uint64_t kOwnFiles = 256;  // of a program after its start
  constexpr std::uint64_t kAgentFiles = 64;
  constexpr std::uint64_t kFilesOfWorker = 6;
  for (const HostCheck& host : report.hosts) {
    if (!host.facts) continue;
    const plan::HostFacts& facts = *host.facts;
    const std::uint64_t per_worker = kOwnFiles + 2 * std::uint64_t{report.world_size};
    if (facts.open_files.soft < per_worker) {
      out.add(fmt::format("a worker may open {} files (ulimit -n), and {} ranks that all talk to each other need about "
                          "{}",
                          facts.open_files.soft, report.world_size, per_worker),
              host);
    }
    const bool serves = &host == &report.hosts.front();
    const std::uint64_t agent =
        kAgentFiles + kFilesOfWorker * host.ranks + (serves ? 2 * std::uint64_t{report.world_size} : 0);
    if (facts.open_files.hard < agent) {
      out.add(fmt::format("at most {} files may be open (ulimit -Hn), and the agent needs about {} for {} workers",
                          facts.open_files.hard, agent, host.ranks),
              host);
    }
    if (report.hosts.size() > 1 && facts.locked_memory.soft != plan::kUnlimited) {
      out.add(fmt::format("locked memory is limited to {} (ulimit -l), and RDMA between hosts needs it unlimited",
                          size_text(facts.locked_memory.soft)),
              host);
    }
  }
}

void warn_of_space(const CheckReport& report, Folded& out) {
  constexpr std::uint64_t kSharedPerWorker = 128 * kMebi;
  constexpr std::uint64_t kFullDisk = 64 * kMebi;
  for (const HostCheck& host : report.hosts) {
    if (!host.facts) continue;
    const plan::Space& shared = host.facts->shared_memory;
    if (shared.size == 0) {
      out.add("there is no /dev/shm, which NCCL and data loaders use", host);
    } else if (shared.free < kSharedPerWorker * host.ranks) {
      out.add(fmt::format("/dev/shm has {} free of {}, which is little for {} (docker run --shm-size)",
                          size_text(shared.free), size_text(shared.size),
                          host.ranks == 1 ? "a worker" : fmt::format("{} workers", host.ranks)),
              host);
    }
    const plan::Space& directory = host.facts->working_directory;
    if (directory.size > 0 && directory.free < kFullDisk) {
      out.add(fmt::format("the working directory has only {} free", size_text(directory.free)), host);
    }
  }
}

void warn_of_clocks(const CheckReport& report, std::vector<std::string>& out) {
  constexpr Duration kApart = std::chrono::seconds(1);
  const HostCheck* behind = nullptr;
  const HostCheck* ahead = nullptr;
  for (const HostCheck& host : report.hosts) {
    if (!host.clock_offset) continue;
    if (behind == nullptr || *host.clock_offset < *behind->clock_offset) behind = &host;
    if (ahead == nullptr || *host.clock_offset > *ahead->clock_offset) ahead = &host;
  }
  if (behind == nullptr) return;
  const Duration apart = *ahead->clock_offset - *behind->clock_offset;
  if (apart > kApart) {
    out.push_back(fmt::format("clocks are up to {:.1f} s apart: that of {} is ahead of that of {}", in_seconds(apart),
                              ahead->name, behind->name));
    return;
  }
  const Duration off = std::max(std::chrono::abs(*ahead->clock_offset), std::chrono::abs(*behind->clock_offset));
  if (off > kApart) {
    out.push_back(fmt::format("the hosts' clocks are {:.1f} s {} this machine's", in_seconds(off),
                              *ahead->clock_offset > Duration::zero() ? "ahead of" : "behind"));
  }
}

std::string count_text(std::uint64_t count, string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// Warns of values that should be the same on all hosts.
void warn_of_differences(const CheckReport& report, std::vector<std::string>& out) {
  struct Trait {
    string_view what;
    std::function<std::string(const plan::HostFacts&)> of;
  };
  static const std::array kTraits{
      Trait{"cores", [](const plan::HostFacts& f) { return count_text(f.cores, "core"); }},
      Trait{"GPUs",
            [](const plan::HostFacts& f) {
              return f.devices == 0 ? std::string("none") : count_text(f.devices, f.device);
            }},
      Trait{"driver", [](const plan::HostFacts& f) { return f.driver.empty() ? "none" : "NVIDIA " + f.driver; }},
      Trait{"system", [](const plan::HostFacts& f) { return show(f.system, 100); }},
      Trait{"user", [](const plan::HostFacts& f) { return show(f.user, 100); }}};
  for (const Trait& trait : kTraits) {
    Folded values;
    for (const HostCheck& host : report.hosts) {
      if (host.facts) values.add(trait.of(*host.facts), host);
    }
    if (values.size() > 1) out.push_back(fmt::format("hosts differ in {}: {}", trait.what, values.in_one()));
  }
}

std::string mpi_text(const HostCheck& host) {
  std::string out;
  for (const MpiOffer& offer : host.mpi) out += (out.empty() ? "" : "; ") + in_words(offer);
  return out;
}

// Appends one line with the texts of the hosts; none if all are empty.
template <class TextOf>
void append_folded(std::string& out, string_view title, const CheckReport& report, TextOf text_of) {
  Folded texts;
  for (const HostCheck& host : report.hosts) {
    if (std::string text = text_of(host); !text.empty()) texts.add(std::move(text), host);
  }
  if (texts.size() > 0) out += fmt::format("{}{}\n", title, texts.in_one());
}

}  // namespace

bool is_ready(const HostCheck& host) { return host.faults.empty() && host.looked == Looked::Whole; }

JobOutcome judge(const CheckReport& report) {
  AttemptFacts facts;
  facts.stop_signal = report.stop_signal;
  facts.stop_at = report.stop_signal ? TimePoint::min() : TimePoint::max();
  for (const HostCheck& host : report.hosts) {
    for (const Error& why : host.faults) facts.faults.push_back({host.index, host.name, why, TimePoint()});
  }
  return judge(facts);
}

std::vector<std::string> check_warnings(const CheckReport& report) {
  Folded of_hosts;
  for (const HostCheck& host : report.hosts) {
    for (const std::string& warning : host.warnings) of_hosts.add(warning, host);
  }
  warn_of_limits(report, of_hosts);
  warn_of_space(report, of_hosts);
  std::vector<std::string> out;
  of_hosts.append_to(out);
  for (const std::vector<std::string>& names : report.machines) {
    out.push_back(
        fmt::format("{} are one machine: the job has it as one host with the slots of all", fold_names(names)));
  }
  warn_of_clocks(report, out);
  warn_of_differences(report, out);
  return out;
}

std::string check_table(const CheckReport& report, std::optional<std::size_t> columns) {
  std::vector<Row> rows;
  for (const Group& group : groups_of(report.hosts)) rows.push_back(row_of(group));
  std::string out = columns ? table_within(*columns, rows) : table_of(rows, kWhole);
  if (report.command.empty()) return out;
  append_folded(out, "program: ", report,
                [](const HostCheck& host) { return host.facts ? programs_text(*host.facts) : std::string(); });
  append_folded(out, "MPI: ", report, mpi_text);
  append_folded(out, "PMIx: ", report, [](const HostCheck& host) { return show(host.pmix); });
  return out;
}

}  // namespace sml::report
