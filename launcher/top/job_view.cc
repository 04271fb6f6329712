#include "launcher/top/job_view.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace sml::top {

namespace {

using Json = nlohmann::json;
using std::string_view;

constexpr std::size_t kMostRanks = 1'000'000;
constexpr std::size_t kMostHosts = 100'000;

std::string text_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<double> number_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::uint64_t count_at(const Json& json, const char* key) {
  constexpr double kMost = 1e18;
  const double value = number_at(json, key).value_or(0);
  return value > 0 && value < kMost ? static_cast<std::uint64_t>(value) : 0;
}

const Json& list_at(const Json& json, const char* key) {
  static const Json none = Json::array();
  const auto found = json.find(key);
  return found != json.end() && found->is_array() ? *found : none;
}

HostState host_of(const Json& json) {
  HostState out{.name = text_at(json, "host"),
                .state = text_at(json, "state"),
                .detail = text_at(json, "detail"),
                .ranks = text_at(json, "ranks"),
                .memory_used = count_at(json, "memory_used_bytes")};
  if (const auto usage = json.find("usage"); usage != json.end() && usage->is_object()) {
    out.memory_size = count_at(*usage, "memory_bytes");
  }
  for (const Json& one : list_at(json, "accelerators")) {
    if (one.is_object()) out.busy_percent.push_back(number_at(one, "busy_percent").value_or(0));
  }
  return out;
}

RankState rank_of(const Json& json) {
  RankState out{.host = text_at(json, "host"),
                .state = text_at(json, "state"),
                .status = text_at(json, "status"),
                .pid = static_cast<std::int64_t>(count_at(json, "pid")),
                .output_bytes = count_at(json, "output_bytes"),
                .silent_s = number_at(json, "silent_s"),
                .cpu_percent = number_at(json, "cpu_percent")};
  if (json.contains("memory_bytes")) out.memory = count_at(json, "memory_bytes");
  return out;
}

template <class Value>
Value middle(std::vector<Value> values) {
  if (values.empty()) return {};
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// The state that most ranks have; of several, the one that comes first.
std::string most_common_state(const Snapshot& job) {
  std::map<string_view, std::size_t> counts;
  for (const RankState& rank : job.ranks) ++counts[rank.state];
  const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto most = std::max_element(counts.begin(), counts.end(), fewer);
  return most == counts.end() ? std::string() : std::string(most->first);
}

int severity(const RankState& rank) {
  if (rank.state == "failed") return 4;
  if (rank.state == "lost") return 3;
  if (rank.is_odd) return 2;
  return 0;
}

// A larger one comes first.
double weight(const RankState& rank, Order order) {
  switch (order) {
    case Order::OddFirst: return severity(rank);
    case Order::Rank: return 0;
    case Order::Cpu: return rank.cpu_percent.value_or(-1);
    case Order::Memory: return rank.memory ? static_cast<double>(*rank.memory) : -1;
    case Order::Silence: return rank.silent_s.value_or(-1);
    case Order::Output: return rank.output_rate;
  }
  return 0;
}

std::vector<Row> folded(const Snapshot& job, const std::vector<std::size_t>& sorted, std::size_t most, bool by_host) {
  std::vector<Row> out;
  std::map<std::pair<string_view, string_view>, std::size_t> row_of;
  for (const std::size_t number : sorted) {
    const RankState& rank = job.ranks[number];
    if (severity(rank) > 0) {
      out.push_back({{number}});
      continue;
    }
    const auto [at, is_new] =
        row_of.try_emplace({rank.state, by_host ? string_view(rank.host) : string_view()}, out.size());
    if (is_new) out.push_back({});
    out[at->second].ranks.push_back(number);
    if (out.size() > most && by_host) return out;
  }
  for (Row& row : out) std::sort(row.ranks.begin(), row.ranks.end());
  return out;
}

}  // namespace

Result<Snapshot> read_snapshot(string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return Error(ErrorKind::Protocol, "the job answers something else");
  Snapshot out{.id = text_at(json, "id"),
               .state = text_at(json, "state"),
               .command = text_at(json, "command"),
               .age_s = number_at(json, "age_s").value_or(0),
               .attempt = static_cast<std::uint32_t>(std::min<std::uint64_t>(count_at(json, "attempt"), UINT32_MAX))};
  if (const auto goodput = json.find("goodput"); goodput != json.end() && goodput->is_object()) {
    out.goodput = number_at(*goodput, "ratio");
  }
  for (const Json& host : list_at(json, "on_hosts")) {
    if (host.is_object() && out.hosts.size() < kMostHosts) out.hosts.push_back(host_of(host));
  }
  for (const Json& rank : list_at(json, "of_ranks")) {
    if (rank.is_object() && out.ranks.size() < kMostRanks) out.ranks.push_back(rank_of(rank));
  }
  return out;
}

void add_rates(Snapshot& now, const Snapshot& before, Duration elapsed) {
  const double seconds = in_seconds(elapsed);
  if (seconds <= 0 || before.attempt != now.attempt) return;
  for (std::size_t i = 0; i < std::min(now.ranks.size(), before.ranks.size()); ++i) {
    if (now.ranks[i].output_bytes < before.ranks[i].output_bytes) continue;
    now.ranks[i].output_rate = static_cast<double>(now.ranks[i].output_bytes - before.ranks[i].output_bytes) / seconds;
  }
}

void mark_odd(Snapshot& now) {
  constexpr double kLongSilence = 10;  // seconds
  constexpr double kBusy = 20;         // percent of a core
  constexpr std::size_t kFew = 3;      // ranks of which none is odd for what it uses
  const std::string common = most_common_state(now);
  std::vector<double> silences;
  std::vector<double> cpus;
  std::vector<double> memories;
  for (const RankState& rank : now.ranks) {
    if (rank.silent_s) silences.push_back(*rank.silent_s);
    if (rank.cpu_percent) cpus.push_back(*rank.cpu_percent);
    if (rank.memory) memories.push_back(static_cast<double>(*rank.memory));
  }
  const double silence = middle(silences);
  const double cpu = middle(cpus);
  const double memory = middle(memories);
  for (RankState& rank : now.ranks) {
    rank.is_odd = rank.state == "failed" || rank.state == "lost" || rank.state != common;
    if (rank.state != "running" || now.ranks.size() < kFew) continue;
    rank.is_odd = rank.is_odd || (rank.silent_s && *rank.silent_s > kLongSilence && *rank.silent_s > 3 * silence) ||
                  (rank.cpu_percent && cpu > kBusy && *rank.cpu_percent < cpu / 2) ||
                  (rank.memory && memory > 0 && static_cast<double>(*rank.memory) > 1.5 * memory);
  }
}

string_view name(Order order) {
  static constexpr std::array<string_view, 6> kNames = {"odd ones", "rank", "CPU", "memory", "silence", "output"};
  return kNames[static_cast<std::size_t>(order)];
}

std::vector<Row> rows_of(const Snapshot& job, Order order, std::size_t most) {
  std::vector<std::size_t> sorted(job.ranks.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = i;
  std::stable_sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) {
    return weight(job.ranks[a], order) > weight(job.ranks[b], order);
  });
  std::vector<Row> out;
  if (sorted.size() <= most) {
    for (const std::size_t number : sorted) out.push_back({{number}});
    return out;
  }
  out = folded(job, sorted, most, true);
  return out.size() <= most ? out : folded(job, sorted, most, false);
}

std::string numbers_text(const std::vector<std::size_t>& ranks) {
  std::string out;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    out += (out.empty() ? "" : ",") + std::to_string(ranks[i]);
    if (last > i) out += "-" + std::to_string(ranks[last]);
    i = last + 1;
  }
  return out;
}

}  // namespace sml::top
