#include "launcher/starters/starters.h"

#include <algorithm>
#include <array>

namespace sml::starters {

// PALS and Slurm first: their jobs have variables of the others, too, where these run inside of them.
std::span<const Starter* const> all_starters() {
  static const std::array all{&pals(), &srun(), &blaunch(), &qrsh(), &pbs(), &flux(), &oarsh(), &kubectl()};
  return all;
}

const Starter* find_starter(std::string_view name) {
  const std::span<const Starter* const> all = all_starters();
  const auto found = std::find_if(all.begin(), all.end(), [name](const Starter* s) { return s->name == name; });
  return found == all.end() ? nullptr : *found;
}

const Starter* starter_of_tool(std::string_view program) {
  const std::string_view file = program.substr(program.rfind('/') + 1);
  const std::span<const Starter* const> all = all_starters();
  if (file.empty()) return nullptr;
  const auto calls = [file](const Starter* s) { return s->tool == file || s->other_tool == file; };
  const auto found = std::find_if(all.begin(), all.end(), calls);
  return found == all.end() ? nullptr : *found;
}

std::vector<std::string_view> way_names() {
  std::vector<std::string_view> names{kAuto};
  for (const Way& way : kWays) names.push_back(way.name);
  for (const Starter* starter : all_starters()) names.push_back(starter->name);
  return names;
}

std::string way_in_words(std::string_view name) {
  if (const Starter* starter = find_starter(name)) return std::string(starter->tool);
  const auto* found = std::find_if(kWays.begin(), kWays.end(), [name](const Way& way) { return way.name == name; });
  return std::string(found == kWays.end() ? name : found->in_words);
}

}  // namespace sml::starters
