#include "common/plan/launch_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/core/rank_set.h"
#include "common/core/text.h"

namespace sml::plan {

namespace {

using Json = nlohmann::ordered_json;  // keys stay in the order in which they are written here

std::string_view name(Part part) {
  switch (part) {
    case Part::Worker: return "worker";
    case Part::Server: return "server";
    case Part::Helper: return "helper";
  }
  return "";
}

std::string_view name(ExportPolicy policy) { return policy == ExportPolicy::All ? "all" : "none"; }

const std::string& host_name(const LaunchPlan& plan, HostIndex host) { return plan.map.hosts[host.value()].host.name; }

// Each name once, in the order of first appearance.
std::vector<std::string> names_of(const Environment& environment) {
  std::vector<std::string> names;
  for (const std::string& entry : environment) {
    const std::string_view name = name_of(entry);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  }
  return names;
}

// ---- JSON: hosts and ranks are written as text, not as a tree, as a plan can have a million ranks

std::string json_string(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

void append_host(std::string& out, const MappedHost& host, std::size_t index) {
  const auto end = std::back_inserter(out);
  fmt::format_to(end, R"({}{{"index":{},"name":{},"slots":{},"ranks":[)", index == 0 ? "" : ",", index,
                 json_string(host.host.name), host.slots);
  for (const Rank rank : host.ranks) fmt::format_to(end, "{}{}", rank == host.ranks.front() ? "" : ",", rank.value());
  out += ']';
  if (host.duty == HostDuty::Spare) out += R"(,"spare":true)";
  if (!host.host.user.empty()) fmt::format_to(end, R"(,"user":{})", json_string(host.host.user));
  if (host.host.port) fmt::format_to(end, R"(,"port":{})", *host.host.port);
  if (!host.host.slot_numbers.empty()) {
    fmt::format_to(end, R"(,"slot_numbers":[{}])", fmt::join(host.host.slot_numbers, ","));
  }
  out += '}';
}

void append_rank(std::string& out, const RankAssignment& a, std::string_view quoted_host, const JobMap& map) {
  const auto end = std::back_inserter(out);
  fmt::format_to(
      end, R"({}{{"rank":{},"host":{},"local_rank":{},"local_size":{},"group_rank":{},"cross_rank":{},"cross_size":{})",
      a.rank.value() == 0 ? "" : ",", a.rank.value(), quoted_host, a.local_rank.value(), a.local_size, a.group_rank,
      a.cross_rank, a.cross_size);
  if (!map.roles.empty()) {
    fmt::format_to(end, R"(,"program":{},"role":"{}","part":"{}")", a.program, map.roles[a.program], name(a.part));
  }
  out += '}';
}

Json programs_json(const LaunchPlan& plan) {
  Json out = Json::array();
  for (std::size_t i = 0; i < plan.program_count(); ++i) {
    const Program& program = plan.program(i);
    out.push_back({{"command", program.command},
                   {"working_directory", program.working_directory},
                   {"variables", names_of(program.user_environment)}});
  }
  return out;
}

// ---- table

constexpr std::size_t kWidth = 100;
constexpr std::uint32_t kMostRankRows = 64;  // with more ranks, only the shorter rows of the hosts are shown

std::string ranks_of(const MappedHost& host) {
  constexpr std::size_t kMost = 40;  // characters: ranks that are dealt in turn do not merge into ranges
  if (host.duty == HostDuty::Spare) return "spare";
  if (host.ranks.empty()) return "-";
  std::string out;
  for (std::size_t i = 0; i < host.ranks.size();) {
    std::size_t end = i + 1;
    while (end < host.ranks.size() && host.ranks[end].value() == host.ranks[end - 1].value() + 1) ++end;
    if (out.size() > kMost) return out + ",...";
    fmt::format_to(std::back_inserter(out), "{}{}", i == 0 ? "" : ",", host.ranks[i].value());
    if (end > i + 1) fmt::format_to(std::back_inserter(out), "-{}", host.ranks[end - 1].value());
    i = end;
  }
  return out;
}

// Formats rows of cells, each column as wide as its widest cell; the first column is left-aligned, the others
// right-aligned.
std::string columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string out;
  for (const auto& row : rows) {
    fmt::format_to(std::back_inserter(out), "  {:<{}}", row[0], widths[0]);
    for (std::size_t c = 1; c < row.size(); ++c) fmt::format_to(std::back_inserter(out), "  {:>{}}", row[c], widths[c]);
    out += '\n';
  }
  return out;
}

std::string host_table(const LaunchPlan& plan) {
  std::vector<std::vector<std::string>> rows{{"host", "slots", "ranks"}};
  for (const MappedHost& host : plan.map.hosts) {
    const std::string login = host.host.user.empty() ? "" : host.host.user + "@";
    const std::string port = host.host.port ? fmt::format(" port {}", *host.host.port) : "";
    rows.push_back({login + host.host.name + port, std::to_string(host.slots), ranks_of(host)});
  }
  return columns(rows);
}

std::string rank_table(const LaunchPlan& plan) {
  std::vector<std::vector<std::string>> rows{
      {"host", "rank", "local rank", "local size", "group rank", "cross rank", "cross size"}};
  const bool several = !plan.map.roles.empty();
  if (several) rows.front().insert(rows.front().end(), {"program", "role"});
  for (const RankAssignment& a : plan.map.ranks) {
    rows.push_back({host_name(plan, a.host), std::to_string(a.rank.value()), std::to_string(a.local_rank.value()),
                    std::to_string(a.local_size), std::to_string(a.group_rank), std::to_string(a.cross_rank),
                    std::to_string(a.cross_size)});
    if (several) rows.back().insert(rows.back().end(), {std::to_string(a.program + 1), plan.map.roles[a.program]});
  }
  return columns(rows);
}

// "label words words", wrapped between words; continuation lines are indented. A word that is longer than a line is not
// broken, as users may copy it.
std::string wrapped(std::string_view label, const std::vector<std::string>& words) {
  constexpr std::size_t kIndent = 11;
  std::string out = fmt::format("{:<{}}", label, kIndent);
  std::size_t column = kIndent;
  bool line_is_empty = true;
  for (const std::string& word : words) {
    if (!line_is_empty && column + 1 + word.size() > kWidth) {
      out += "\n" + std::string(kIndent, ' ');
      column = kIndent;
      line_is_empty = true;
    }
    out += line_is_empty ? word : " " + word;
    column += word.size() + (line_is_empty ? 0 : 1);
    line_is_empty = false;
  }
  return out + "\n";
}

std::vector<std::string> shown_command(const Program& plan) {
  std::vector<std::string> words;
  for (const std::string& word : plan.command) words.push_back(show(shell_quote(word), 4096));
  return words;
}

}  // namespace

std::string to_json(const LaunchPlan& plan) {
  constexpr std::size_t kHostBytes = 100;  // typical sizes; longer texts only cost a reallocation
  constexpr std::size_t kRankBytes = 130;
  std::string out;
  out.reserve(plan.map.hosts.size() * kHostBytes + plan.map.ranks.size() * kRankBytes);
  const auto end = std::back_inserter(out);
  fmt::format_to(end, R"({{"world_size":{},"host_source":{},"hosts":[)", plan.map.world_size(),
                 json_string(plan.host_source));
  for (std::size_t i = 0; i < plan.map.hosts.size(); ++i) append_host(out, plan.map.hosts[i], i);
  out += R"(],"ranks":[)";
  std::vector<std::string> quoted_names;
  quoted_names.reserve(plan.map.hosts.size());
  for (const MappedHost& host : plan.map.hosts) quoted_names.push_back(json_string(host.host.name));
  for (const RankAssignment& rank : plan.map.ranks) append_rank(out, rank, quoted_names[rank.host.value()], plan.map);
  Json rest = {{"command", plan.command},
               {"working_directory", plan.working_directory},
               {"export", name(plan.export_policy)},
               {"variables", names_of(plan.user_environment)}};
  if (!plan.map.roles.empty()) rest["programs"] = programs_json(plan);
  out += "],";
  out += rest.dump(-1, ' ', false, Json::error_handler_t::replace).substr(1);
  return out;
}

std::string environment_to_json(const Environment& environment) {
  Json out = Json::object();
  for (const std::string& entry : environment) out[std::string(name_of(entry))] = value_of(entry);
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_table(const LaunchPlan& plan) {
  std::string out = fmt::format("{} on {}; hosts from {}\n\n", pluralize(plan.map.world_size(), "worker"),
                                pluralize(plan.map.group_world_size(), "host"), show(plan.host_source));
  out += host_table(plan) + "\n";
  if (plan.map.world_size() <= kMostRankRows) out += rank_table(plan) + "\n";
  for (std::size_t i = 0; i < plan.program_count(); ++i) {
    const Program& program = plan.program(i);
    if (plan.program_count() > 1) out += fmt::format("{}program {}\n", i == 0 ? "" : "\n", i + 1);
    out += wrapped("command", shown_command(program));
    out += wrapped("directory", {show(program.working_directory, 4096)});
    const std::vector<std::string> variables = names_of(program.user_environment);
    if (!variables.empty()) out += wrapped("variables", variables);
  }
  return out;
}

}  // namespace sml::plan
