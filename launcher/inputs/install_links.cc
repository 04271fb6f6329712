#include "launcher/inputs/install_links.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "common/core/input_error.h"
#include "common/core/text.h"
#include "common/os/fd.h"

namespace sml {

namespace {

using std::string_view;

constexpr std::array kNames{"mpirun",   "mpiexec", "mpiexec.hydra", "horovodrun",
                            "torchrun", "srun",    "deepspeed",     "accelerate"};

// The target of a link; nullopt: there is no link.
std::optional<std::string> target_of(int folder, const char* name) {
  std::array<char, PATH_MAX> target{};
  const ssize_t size = ::readlinkat(folder, name, target.data(), target.size());
  if (size < 0) return std::nullopt;
  return std::string(target.data(), static_cast<std::size_t>(size));
}

string_view last_name(string_view path) { return path.substr(path.rfind('/') + 1); }

enum class There : std::uint8_t { Nothing, Ours, Other };

There look_at(int folder, const char* name, const std::string& program) {
  if (const std::optional<std::string> target = target_of(folder, name)) {
    return last_name(*target) == last_name(program) ? There::Ours : There::Other;
  }
  return errno == ENOENT ? There::Nothing : There::Other;
}

Result<void> refuse_others(int folder, const std::string& path, const std::string& program) {
  std::string others;
  for (const char* name : kNames) {
    if (look_at(folder, name, program) != There::Other) continue;
    others += (others.empty() ? "" : ", ") + std::string(name);
  }
  if (others.empty()) return {};
  return config_error("{} has files of others: {}; nothing was changed", show(path), others)
      .with_hint("name a folder of their own, and put it before others in PATH");
}

}  // namespace

Result<std::string> own_program() {
  const std::optional<std::string> path = target_of(AT_FDCWD, "/proc/self/exe");
  if (!path) return sys_error(ErrorKind::Config, "/proc/self/exe", errno);
  if (::access(path->c_str(), X_OK) == 0) return *path;
  return sys_error(ErrorKind::Config, show(*path), errno);
}

Result<std::vector<std::string>> install_links(const std::string& folder, const std::string& program) {
  std::error_code refused;
  std::filesystem::create_directories(folder, refused);
  if (refused) return config_error(show(folder) + ": " + refused.message());
  const os::UniqueFd place(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!place) return sys_error(ErrorKind::Config, show(folder), errno);
  if (Result<void> free = refuse_others(place.get(), folder, program); !free) return free.error();
  std::vector<std::string> made;
  for (const char* name : kNames) {
    const std::string path = folder + (folder.ends_with('/') ? "" : "/") + name;
    if (look_at(place.get(), name, program) == There::Ours) ::unlinkat(place.get(), name, 0);
    if (::symlinkat(program.c_str(), place.get(), name) != 0) return sys_error(ErrorKind::Config, show(path), errno);
    made.push_back(path);
  }
  return made;
}

}  // namespace sml
