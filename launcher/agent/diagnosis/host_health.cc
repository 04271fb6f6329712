#include "launcher/agent/diagnosis/host_health.h"

#include <algorithm>

namespace sml::plan {

namespace {

std::string megabytes(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MB"; }

void look_at(const Space& space, std::vector<std::string>& out) {
  constexpr std::uint64_t kSmall = 16;
  if (space.path.empty() || space.size <= kLeastSpace * kSmall || space.free >= kLeastSpace) return;
  out.push_back("no space is left in " + space.path);
}

}  // namespace

std::vector<std::string> faults_of(const HostFacts& facts) {
  std::vector<std::string> out;
  if (facts.memory.total > 0 && facts.memory.available < kLeastMemory) {
    out.push_back("only " + megabytes(facts.memory.available) + " of its memory are free");
  }
  look_at(facts.shared_memory, out);
  look_at(facts.agent_folder, out);
  return out;
}

std::vector<std::string> accelerators_in_use(const std::vector<AcceleratorUse>& before,
                                             const std::vector<AcceleratorUse>& now) {
  std::vector<std::string> out;
  for (const AcceleratorUse& one : now) {
    const auto same = [&one](const AcceleratorUse& other) { return other.name == one.name; };
    const auto was = std::find_if(before.begin(), before.end(), same);
    const std::uint64_t allowed = was == before.end() ? kHeldByNobody : std::max(kHeldByNobody, was->memory_used);
    if (one.memory_used > allowed) out.push_back(one.name);
  }
  return out;
}

}  // namespace sml::plan
