// Any bytes: as a program file they name libraries that are in them, and as a list of mapped files whole lines.
#include "common/plan/program/mpi_use.h"

#include <cstdint>

#include "tests/fuzz/require.h"

using sml::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sml::plan;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto read = [&bytes](std::uint64_t offset, std::size_t wanted) {
    require(wanted <= 65536);
    return offset < bytes.size() ? bytes.substr(offset, wanted) : std::string();
  };
  for (const std::string& name : needed_libraries(read)) {
    require(!name.empty() && name.find('\0') == std::string::npos && bytes.find(name) != std::string::npos);
  }
  (void)mpi_chance(read);
  for (const std::string& file : mapped_files(bytes)) require(file.starts_with('/') && file.find('\n') == file.npos);
  return 0;
}
