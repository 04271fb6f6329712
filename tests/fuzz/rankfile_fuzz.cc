// Any text: a rankfile is refused with one line, or its ranks are all there in order, on hosts with valid names.
#include "common/plan/ranks/rankfile.h"

#include <cstdint>

#include "common/plan/machine/host.h"
#include "common/plan/ranks/rank_layout.h"
#include "tests/fuzz/require.h"

using sml::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto map_by = sml::plan::parse_map_by(text);
  if (map_by.has_error()) require(map_by.error().message().find('\n') == std::string::npos);
  const auto file = sml::plan::parse_rankfile(text, "f");
  if (file.has_error()) {
    require(file.error().kind() == sml::ErrorKind::Config);
    require(file.error().message().starts_with("f:"));
    require(file.error().message().find('\n') == std::string::npos && file.error().message().size() < 300);
    return 0;
  }
  for (std::uint32_t rank = 0; rank < file->entries.size(); ++rank) {
    const sml::plan::RankfileEntry& entry = file->entries[rank];
    require(entry.rank == rank);
    require(entry.host_index.has_value() != sml::plan::valid_host_name(entry.host));
    require(entry.cores.empty() || sml::plan::parse_core_groups(entry.cores).has_value());
  }
  return 0;
}
