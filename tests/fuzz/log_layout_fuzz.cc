// A layout from the command line, with a host name from anywhere: the path stays inside the folder.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "launcher/output/log_layout.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = std::min(text.find('\n'), size);
  const auto layout = sml::output::LogLayout::parse(text.substr(0, cut));
  if (!layout) return 0;
  const std::string path = layout->path({.rank = sml::Rank(3),
                                         .local_rank = sml::LocalRank(1),
                                         .host = text.substr(cut),
                                         .job = text.substr(cut),
                                         .stream = sml::Stream::Stdout,
                                         .world_size = 8});
  for (const std::string around = "/" + path + "/"; const char* bad : {"/../", "/./"}) {
    if (around.find(bad) != std::string::npos) std::abort();
  }
  if (path.starts_with('/') || path.find('\0') != std::string::npos) std::abort();
  return 0;
}
