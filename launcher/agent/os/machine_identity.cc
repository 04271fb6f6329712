#include "launcher/agent/os/machine_identity.h"

#include <array>

#include <unistd.h>

#include "common/os/small_file.h"

namespace sml::os {

std::string machine_identity() {
  std::string out = read_small_file("/proc/sys/kernel/random/boot_id");
  if (out.empty()) return {};
  for (const char* name : {"/proc/self/ns/net", "/proc/self/ns/pid"}) {
    std::array<char, 64> target{};
    const ssize_t size = ::readlink(name, target.data(), target.size());
    if (size <= 0) return {};
    out.append(target.data(), static_cast<std::size_t>(size)).push_back('\n');
  }
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) return {};
  return out + host.data();
}

}  // namespace sml::os
