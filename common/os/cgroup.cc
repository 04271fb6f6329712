#include "common/os/cgroup.h"

#include <csignal>

#include <dirent.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/os/small_file.h"

namespace sml::os {

namespace {

bool lists(std::string_view controllers, std::string_view wanted) {
  while (!controllers.empty()) {
    const std::string_view one = controllers.substr(0, controllers.find(','));
    if (one == wanted) return true;
    controllers.remove_prefix(std::min(one.size() + 1, controllers.size()));
  }
  return false;
}

// Groups can only be removed from the innermost outwards; their files cannot be removed, and need not be.
void remove_groups(const std::string& group) {
  if (DIR* folder = ::opendir(group.c_str())) {
    while (const dirent* entry = ::readdir(folder)) {
      const std::string_view name = entry->d_name;
      if (entry->d_type == DT_DIR && name != "." && name != "..") remove_groups(group + "/" + entry->d_name);
    }
    ::closedir(folder);
  }
  ::rmdir(group.c_str());
}

}  // namespace

// "hierarchy-id:controller,list:/path" (cgroups(7)); v2 has id 0 and no controllers.
std::optional<std::string> cgroup_path(std::string_view proc_cgroup, std::string_view controller) {
  while (!proc_cgroup.empty()) {
    const std::string_view line = proc_cgroup.substr(0, proc_cgroup.find('\n'));
    proc_cgroup.remove_prefix(std::min(line.size() + 1, proc_cgroup.size()));
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
  for (const char* mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    const std::string above = mount + (*own == "/" ? std::string() : *own);
    if (::access((above + "/cgroup.procs").c_str(), W_OK) != 0) continue;
    std::string path = above + "/sml-run-" + std::to_string(::getpid());
    if (::mkdir(path.c_str(), 0755) != 0) continue;
    UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory && ::faccessat(directory.get(), "cgroup.procs", W_OK, 0) == 0) {
      return Cgroup(std::move(path), std::move(directory));
    }
    ::rmdir(path.c_str());
  }
  return std::nullopt;
}

Cgroup::~Cgroup() {
  if (directory_) remove_groups(path_);
}

void Cgroup::disown() { directory_.reset(); }

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
