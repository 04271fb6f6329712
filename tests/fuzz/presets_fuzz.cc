// Any text: a list of presets is refused, or gives every rank variables, each once, that are documented.
#include "common/plan/environment/presets.h"

#include <algorithm>
#include <cstdint>

#include "tests/fuzz/require.h"

using sml::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sml::plan;
  const auto presets = parse_presets({reinterpret_cast<const char*>(data), size});
  if (!presets) {
    require(presets.error().kind() == sml::ErrorKind::Usage);
    return 0;
  }
  std::vector<ProgramShare> programs{{.np = 3, .hosts = {}}};
  if (!arrange_programs(*presets, programs)) return 0;
  const auto map = map_programs({{{"a", "", 2}, {"b", "", 1}}, "-H"}, programs, Oversubscribe::No);
  require(map.has_value());
  const std::vector<PresetPort> ports = preset_ports(*presets, *map);
  const std::vector<std::string> addresses{"10.0.0.1", "fd00::1"};
  const std::vector<VariableMeaning> known = preset_variables();
  for (const RankAssignment& rank : map->ranks) {
    const Environment environment = preset_environment(*presets, *map, rank, {"j", 0, 0}, {addresses, ports});
    for (const std::string& entry : environment) {
      const auto is_it = [&](const VariableMeaning& v) { return v.name == name_of(entry); };
      require(std::any_of(known.begin(), known.end(), is_it));
      require(find_variable(environment, name_of(entry)) == &entry);
    }
  }
  return 0;
}
