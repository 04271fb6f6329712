#include "common/plan/environment/rendezvous_variables.h"

#include <algorithm>
#include <array>

namespace sml::plan {

namespace {

constexpr std::string_view kAgentStore = "TORCHELASTIC_USE_AGENT_STORE";
constexpr std::array<std::string_view, 5> kUsers{"MASTER_ADDR", "MASTER_PORT", kAgentStore, "HOROVOD_CONTROLLER",
                                                 "HOROVOD_CPU_OPERATIONS"};
constexpr std::array<std::string_view, 5> kRanks{"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK"};

bool wants_own_store(const Environment& user, const Environment& launcher) {
  if (find_variable(user, "MASTER_ADDR") != nullptr || find_variable(user, "MASTER_PORT") != nullptr) return true;
  const std::string* agent_store = find_variable(user, kAgentStore);
  if (agent_store != nullptr) return value_of(*agent_store) != "True";
  const std::string* libuv = find_variable(user, "USE_LIBUV");
  if (libuv == nullptr) libuv = find_variable(launcher, "USE_LIBUV");
  return libuv != nullptr && value_of(*libuv) == "0";
}

// `rest` follows the name, as in `["MASTER_PORT"] = ...`. True if a value is assigned.
bool is_assigned(std::string_view rest) {
  constexpr std::string_view kBetween = "\"' \t]";
  rest.remove_prefix(std::min(rest.find_first_not_of(kBetween), rest.size()));
  return rest.starts_with('=') && !rest.starts_with("==");
}

bool sets(std::string_view script, std::string_view name) {
  for (std::size_t at = script.find(name); at != std::string_view::npos; at = script.find(name, at + 1)) {
    if (is_assigned(script.substr(at + name.size()))) return true;
  }
  return false;
}

}  // namespace

bool names_own_address(std::span<const std::string> command, std::string_view script) {
  constexpr std::string_view kUrl = "tcp://";
  const auto has_url = [&](std::string_view text) { return text.find(kUrl) != std::string_view::npos; };
  return std::any_of(command.begin(), command.end(), has_url) || has_url(script) || sets(script, "MASTER_ADDR") ||
         sets(script, "MASTER_PORT");
}

TorchStore choose_torch_store(const LaunchPlan& plan, TorchStore asked) {
  const std::string* entry = find_variable(plan.user_environment, kAgentStore);
  const bool served = entry != nullptr && value_of(*entry) == "True";
  if (asked == TorchStore::OfRank0 && !served) return asked;
  for (std::size_t i = 0; i < plan.program_count(); ++i) {
    if (wants_own_store(plan.program(i).user_environment, plan.launcher_environment)) return TorchStore::OfRank0;
  }
  return TorchStore::OfAgent;
}

TorchStore usual_torch_store(const LaunchPlan& plan, NamesAddress program) {
  const bool of_rank_0 = plan.map.members() == 1 || program == NamesAddress::Yes;
  return of_rank_0 ? TorchStore::OfRank0 : TorchStore::OfAgent;
}

bool user_decides(std::string_view name) { return std::find(kUsers.begin(), kUsers.end(), name) != kUsers.end(); }

std::vector<std::string> ignored_variables(const LaunchPlan& plan) {
  std::vector<std::string> out;
  if (plan.job.world == WorldTold::No) return out;
  for (const std::string_view name : kRanks) {
    bool set = false;
    for (std::size_t i = 0; i < plan.program_count(); ++i) {
      set = set || find_variable(plan.program(i).user_environment, name) != nullptr;
    }
    if (set) out.push_back(std::string(name) + " is not set to the value of -x or --env-file: each rank has its own");
  }
  return out;
}

}  // namespace sml::plan
