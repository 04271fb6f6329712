#include "common/plan/machine/cpu_topology.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "common/core/text.h"
#include "common/plan/machine/core_groups.h"

namespace sml::plan {

namespace {

std::string_view without_newline(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return text;
}

std::optional<std::uint32_t> cpu_number(std::string_view text) {
  return parse_index(text, std::numeric_limits<std::uint32_t>::max());
}

CpuSet cpus_in(const ReadText& read, const std::string& path) { return parse_cpu_list(read(path)).value_or(CpuSet()); }

// A processor. Each object that contains it (core, cache, NUMA node, socket) is identified by the object's first
// processor.
struct Place {
  std::uint32_t number = 0;
  std::uint32_t core = 0;
  std::uint32_t l3 = kNowhere;
  std::uint32_t numa = 0;
  std::uint32_t socket = 0;
  std::uint32_t numa_node = 0;
  auto key() const { return std::tuple(socket, numa, l3, core, number); }
};

// The least of `cpus`, or `otherwise` if there are none.
std::uint32_t first_of(const CpuSet& cpus, std::uint32_t otherwise) { return cpus.empty() ? otherwise : cpus.front(); }

std::uint32_t first_with_same_core(const ReadText& read, const std::string& folder, std::uint32_t cpu) {
  const CpuSet newer = cpus_in(read, folder + "/topology/core_cpus_list");
  return first_of(newer.empty() ? cpus_in(read, folder + "/topology/thread_siblings_list") : newer, cpu);
}

std::uint32_t first_with_same_l3(const ReadText& read, const std::string& folder) {
  constexpr int kMostCaches = 8;
  for (int i = 0; i < kMostCaches; ++i) {
    const std::string cache = folder + "/cache/index" + std::to_string(i);
    const std::string level = read(cache + "/level");
    if (level.empty()) break;
    if (without_newline(level) == "3") return first_of(cpus_in(read, cache + "/shared_cpu_list"), kNowhere);
  }
  return kNowhere;
}

void read_numa_nodes(const ReadText& read, std::vector<Place>& places) {
  const std::string root = "/sys/devices/system/node/";
  for (const std::uint32_t node : cpus_in(read, root + "online")) {
    const CpuSet cpus = cpus_in(read, root + "node" + std::to_string(node) + "/cpulist");
    for (Place& place : places) {
      if (!std::binary_search(cpus.begin(), cpus.end(), place.number)) continue;
      place.numa = cpus.front();
      place.numa_node = node;
    }
  }
}

std::vector<Place> read_places(const ReadText& read) {
  const std::string root = "/sys/devices/system/cpu/";
  std::vector<Place> places;
  std::map<std::string, std::uint32_t, std::less<>> sockets;  // the first processor of each, by the kernel's name
  for (const std::uint32_t cpu : cpus_in(read, root + "online")) {
    const std::string folder = root + "cpu" + std::to_string(cpu);
    const std::string socket = read(folder + "/topology/physical_package_id");
    places.push_back({.number = cpu,
                      .core = first_with_same_core(read, folder, cpu),
                      .l3 = first_with_same_l3(read, folder),
                      .socket = sockets.emplace(socket, cpu).first->second});
  }
  read_numa_nodes(read, places);
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.key() < b.key(); });
  return places;
}

// Numbers objects in the order in which they are first seen.
class Numbering {
 public:
  std::uint32_t operator()(std::uint32_t first_cpu) {
    if (first_cpu == kNowhere) return kNowhere;
    return numbers_.emplace(first_cpu, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }

 private:
  std::map<std::uint32_t, std::uint32_t> numbers_;
};

}  // namespace

CpuTopology read_cpu_topology(const ReadText& read) {
  CpuTopology out;
  Numbering core;
  Numbering l3;
  Numbering numa;
  Numbering socket;
  for (const Place& place : read_places(read)) {
    out.push_back({.number = place.number,
                   .core = core(place.core),
                   .l3 = l3(place.l3),
                   .numa = numa(place.numa),
                   .socket = socket(place.socket),
                   .numa_node = place.numa_node});
  }
  return out;
}

std::optional<CpuSet> parse_cpu_list(std::string_view text) {
  text = without_newline(text);
  CpuSet out;
  if (text.empty()) return out;
  for (const std::string_view item : split(text, ',')) {
    const std::size_t dash = item.find('-');
    const auto first = cpu_number(item.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : cpu_number(item.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= kMaxCpus) return std::nullopt;
    for (std::uint32_t cpu = *first; cpu <= *last; ++cpu) out.push_back(cpu);
    if (out.size() > kMaxCpus) return std::nullopt;
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::string cpu_list_text(const CpuSet& cpus) {
  std::string out;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t end = i + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
    out += (i == 0 ? "" : ",") + std::to_string(cpus[i]);
    if (end > i + 1) out += "-" + std::to_string(cpus[end - 1]);
    i = end;
  }
  return out;
}

CpuTopology usable_part(const CpuTopology& topology, const CpuSet& allowed) {
  CpuTopology out;
  for (const Cpu& cpu : topology) {
    if (std::binary_search(allowed.begin(), allowed.end(), cpu.number)) out.push_back(cpu);
  }
  return out;
}

std::string locality_text(const CpuTopology& topology, const CpuSet& cpus) {
  constexpr std::array<std::pair<const char*, std::uint32_t Cpu::*>, 5> kParts{
      {{"SK", &Cpu::socket}, {"NM", &Cpu::numa}, {"L3", &Cpu::l3}, {"CR", &Cpu::core}, {"HT", &Cpu::number}}};
  const CpuTopology used = usable_part(topology, cpus);
  std::string out;
  for (const auto& [name, part] : kParts) {
    CpuSet numbers;
    for (const Cpu& cpu : used) {
      if (cpu.*part != kNowhere) numbers.push_back(cpu.*part);
    }
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    if (numbers.empty()) continue;
    out += (out.empty() ? "" : ":") + (name + cpu_list_text(numbers));
  }
  return out;
}

}  // namespace sml::plan
