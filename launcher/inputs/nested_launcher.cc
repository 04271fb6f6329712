#include "launcher/inputs/nested_launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "common/core/text.h"
#include "common/os/spawn.h"
#include "launcher/dialects/dialect.h"
#include "launcher/os/this_program.h"

namespace sml {

namespace {

using dialects::Dialect;
using std::string_view;

constexpr string_view kTorchModules[] = {"torch.distributed.run", "torch.distributed.launch"};

string_view file_name(string_view path) { return path.substr(path.rfind('/') + 1); }

// A launcher that a command starts, and its arguments. An empty name: it starts none.
struct Called {
  std::string name;
  Dialect dialect = Dialect::Own;
  std::span<const std::string> arguments;
};

Called launcher_of(std::span<const std::string> command) {
  const Dialect dialect = dialects::dialect_called(command.front());
  const bool launches = dialect != Dialect::Accelerate || (command.size() > 1 && command[1] == "launch");
  if (dialect != Dialect::Own && launches) {
    return {std::string(file_name(command.front())), dialect, command.subspan(1)};
  }
  const bool python = file_name(command.front()).starts_with("python");
  if (!python || command.size() < 3 || command[1] != "-m") return {};
  const bool known =
      std::find(std::begin(kTorchModules), std::end(kTorchModules), command[2]) != std::end(kTorchModules);
  return known ? Called{command[2], Dialect::Torchrun, command.subspan(3)} : Called{};
}

// Whether the line is the same by the name sml-run: short options of these have other meanings here.
bool reads_alike(Dialect dialect) {
  return dialect == Dialect::Torchrun || dialect == Dialect::Mpirun || dialect == Dialect::Hydra ||
         dialect == Dialect::Horovodrun;
}

bool is_once_on_each_host(const plan::JobMap& map) {
  const auto has_one = [](const plan::MappedHost& host) { return host.ranks.size() <= 1; };
  return map.group_world_size() > 1 && std::all_of(map.hosts.begin(), map.hosts.end(), has_one);
}

}  // namespace

std::string advice_on_launcher(std::span<const std::string> command) {
  constexpr std::size_t kShown = 40;
  if (command.empty()) return "";
  const Called called = launcher_of(command);
  if (called.name.empty()) return "";
  const std::string itself = show(called.name, kShown) + " is a launcher itself; ";
  if (!reads_alike(called.dialect)) return itself + "start its program instead: sml-run -np N PROGRAM";
  std::string line;
  for (const std::string& word : called.arguments) {
    const std::string next = " " + shell_quote(word);
    if (line.size() + next.size() > kShown) {
      line += " ...";
      break;
    }
    line += next;
  }
  return fmt::format("{}leave the word out: sml-run{}", itself, show(line, 100));
}

std::vector<std::string> warnings_of_launchers(const plan::LaunchPlan& plan) {
  std::vector<std::string> out;
  if (is_once_on_each_host(plan.map)) return out;
  for (std::size_t i = 0; i < plan.program_count(); ++i) {
    const std::vector<std::string>& command = plan.program(i).command;
    std::string advice = advice_on_launcher(command);
    if (advice.empty() || std::find(out.begin(), out.end(), advice) != out.end()) continue;
    const std::vector<std::string> files = os::program_candidates(command.front(), os::own_search_path());
    if (std::any_of(files.begin(), files.end(), os::is_this_program)) continue;
    out.push_back(std::move(advice));
  }
  return out;
}

}  // namespace sml
