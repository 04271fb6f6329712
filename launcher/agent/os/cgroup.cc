#include "launcher/agent/os/cgroup.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/core/text.h"
#include "common/os/small_file.h"

namespace sml::os {

namespace {

bool lists(std::string_view controllers, std::string_view wanted) {
  while (!controllers.empty()) {
    if (take_until(controllers, ',') == wanted) return true;
  }
  return false;
}

constexpr std::string_view kName = "/sml-run-";
constexpr std::string_view kPattern = "XXXXXX";
constexpr int kAttempts = 5;
constexpr const char* kMounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};

bool is_name_of_ours(std::string_view path) {
  const std::size_t name = path.rfind('/');
  return name != std::string_view::npos && path.substr(name).starts_with(kName) &&
         path.size() - name == kName.size() + kPattern.size();
}

bool is_path_of_ours(std::string_view path) {
  return path.starts_with(kMounts[0]) && path.find("/..") == std::string_view::npos && is_name_of_ours(path);
}

std::vector<std::string> groups_in(const std::string& group) {
  std::vector<std::string> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(group.c_str()), ::closedir);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (entry->d_type == DT_DIR && name != "." && name != "..") out.push_back(group + "/" + entry->d_name);
  }
  return out;
}

// Groups can only be removed from the innermost outwards; their files cannot be removed and need not be. The kernel
// keeps groups that have processes.
void remove_groups(const std::string& group) {
  if (::rmdir(group.c_str()) == 0 || errno == ENOENT) return;
  for (const std::string& inner : groups_in(group)) remove_groups(inner);
  ::rmdir(group.c_str());
}

// Returns a descriptor of the group that holds a lock until all its copies are closed: whoever gets the lock of an
// sml-run group knows that its creators are dead. Empty if the group is already locked, or gone.
UniqueFd lock_group(const std::string& path) {
  UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (directory && ::flock(directory.get(), LOCK_EX | LOCK_NB) == 0) return directory;
  return {};
}

void remove_stale_groups(const std::string& above) {
  const std::string begin = above + std::string(kName);
  for (const std::string& path : groups_in(above)) {
    if (!path.starts_with(begin) || path.size() != begin.size() + kPattern.size()) continue;
    if (const UniqueFd stale = lock_group(path)) remove_groups(path);
  }
}

}  // namespace

// "hierarchy-id:controller,list:/path" (cgroups(7)); v2 has id 0 and no controllers.
std::optional<std::string> cgroup_path(std::string_view proc_cgroup, std::string_view controller) {
  while (!proc_cgroup.empty()) {
    const std::string_view line = take_until(proc_cgroup, '\n');
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const bool matches = controller.empty() ? controllers.empty() : lists(controllers, controller);
    if (matches) return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

std::vector<std::string> with_ancestors(std::string_view path) {
  std::vector<std::string> out;
  while (path.size() > 1 && path.front() == '/') {
    out.emplace_back(path);
    path = path.substr(0, path.rfind('/'));
  }
  out.emplace_back();
  return out;
}

std::optional<Cgroup> Cgroup::make() {
  const std::optional<std::string> own = cgroup_path(read_small_file("/proc/self/cgroup"), "");
  if (!own || own->find("/..") != std::string::npos) return std::nullopt;
  for (const char* mount : kMounts) {
    const std::string above = mount + (*own == "/" ? std::string() : *own);
    if (::access((above + "/cgroup.procs").c_str(), W_OK) != 0) continue;
    remove_stale_groups(above);
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      std::string path = above + std::string(kName) + std::string(kPattern);
      if (::mkdtemp(path.data()) == nullptr) break;
      UniqueFd directory = lock_group(path);
      // No lock: another process found the group before this one locked it, and took it for a stale one.
      const bool ours = directory && ::faccessat(directory.get(), "cgroup.procs", W_OK, 0) == 0;
      if (ours) return Cgroup(above, std::move(path), std::move(directory));
      ::rmdir(path.c_str());
    }
  }
  return std::nullopt;
}

std::string Cgroup::current() {
  const std::optional<std::string> own = cgroup_path(read_small_file("/proc/self/cgroup"), "");
  if (!own || !is_name_of_ours(*own)) return {};
  for (const char* mount : kMounts) {
    if (std::string path = mount + *own; ::access((path + "/cgroup.procs").c_str(), W_OK) == 0) return path;
  }
  return {};
}

std::optional<Cgroup> Cgroup::take_over(const std::string& path) {
  if (!is_path_of_ours(path)) return std::nullopt;
  UniqueFd directory = lock_group(path);
  if (!directory) return std::nullopt;
  return Cgroup(path.substr(0, path.rfind('/')), path, std::move(directory));
}

bool Cgroup::exists(const std::string& path) { return is_path_of_ours(path) && ::access(path.c_str(), F_OK) == 0; }

std::vector<pid_t> Cgroup::processes() const {
  const std::string text = read_small_file(path_ + "/cgroup.procs");
  std::vector<pid_t> out;
  const char* at = text.c_str();
  for (char* end = nullptr;; at = end) {
    const long pid = std::strtol(at, &end, 10);
    if (end == at) return out;
    out.push_back(static_cast<pid_t>(pid));
  }
}

Cgroup::~Cgroup() {
  if (directory_) remove_groups(path_);
}

void Cgroup::leave() {
  const UniqueFd file(::open((above_ + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  if (file) static_cast<void>(::write(file.get(), "0", 1) == 1);  // 0 stands for the writing process
}

pid_t Cgroup::fork_into() {
  clone_args args{};
  args.flags = CLONE_INTO_CGROUP;
  args.exit_signal = SIGCHLD;
  args.cgroup = static_cast<__u64>(directory_.get());
  return static_cast<pid_t>(::syscall(SYS_clone3, &args, sizeof args));
}

void Cgroup::kill() {
  const UniqueFd file(::openat(directory_.get(), "cgroup.kill", O_WRONLY | O_CLOEXEC));
  if (file) static_cast<void>(::write(file.get(), "1", 1) == 1);
}

bool Cgroup::populated() const {
  return read_small_file(path_ + "/cgroup.events").find("populated 1") != std::string::npos;
}

}  // namespace sml::os
