#include "launcher/control/runtime_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "common/os/boot.h"
#include "common/os/own_file.h"

namespace sml::control {

namespace {

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
constexpr std::size_t kLongestId = 64;
constexpr std::size_t kMostNames = 4096;

std::vector<std::string> candidates() {
  const std::string uid = std::to_string(::geteuid());
  std::vector<std::string> out;
  const char* folder = std::getenv("XDG_RUNTIME_DIR");
  if (folder != nullptr && *folder == '/') out.push_back(std::string(folder) + "/sml-run");
  out.push_back("/run/user/" + uid + "/sml-run");
  out.push_back("/tmp/sml-run-" + uid);
  return out;
}

bool is_private(int fd, uid_t owner) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == owner && (info.st_mode & 077U) == 0;
}

enum class Make : std::uint8_t { No, Yes };

Result<Folder> open_folder(const std::string& path, Make make) {
  Result<os::Place> place = os::find_place(path, os::Folders::MustExist);
  if (!place) return place.error();
  Folder out{path, std::move(place->folder), place->name, {}};
  if (make == Make::Yes && ::mkdirat(out.above.get(), out.name.c_str(), 0700) != 0 && errno != EEXIST) {
    return sys_error(ErrorKind::Io, "cannot make " + path, errno);
  }
  out.fd.reset(::openat(out.above.get(), out.name.c_str(), kFolder));
  if (!out.fd) return sys_error(ErrorKind::Io, "cannot open " + path, errno);
  if (!is_private(out.fd.get(), ::geteuid())) {
    return Error(ErrorKind::Io, path + " is not this user's alone (mode 0700)");
  }
  return out;
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// At most kMostNames of those that pass: others can fill a folder like /tmp with names.
std::vector<std::string> names_in(int folder, const std::function<bool(const char* name)>& passes) {
  std::vector<std::string> out;
  const int again = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, CloseFolder> list(again < 0 ? nullptr : ::fdopendir(again));
  if (!list) return out;
  while (const dirent* entry = ::readdir(list.get())) {
    if (out.size() == kMostNames) break;
    if (entry->d_name[0] != '.' && passes(entry->d_name)) out.emplace_back(entry->d_name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool is_there(int folder, const char* name, struct stat& info) {
  return ::fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

// Opens a path below `root`, resolving all links below it. Without openat2(2), which old kernels lack and containers
// forbid, it follows no link.
os::UniqueFd open_within(int root, const std::string& path) {
  open_how how{};
  how.flags = kFolder;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  os::UniqueFd out(static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
  if (out || (errno != ENOSYS && errno != EPERM)) return out;
  for (const std::string_view name : split(path.substr(1), '/')) {
    out.reset(::openat(out ? out.get() : root, std::string(name).c_str(), kFolder));
    if (!out) break;
  }
  return out;
}

}  // namespace

Result<Folder> make_runtime_folder() {
  std::optional<Error> first;
  for (const std::string& path : candidates()) {
    Result<Folder> folder = open_folder(path, Make::Yes);
    if (folder) return folder;
    if (!first) first = folder.error();
  }
  return *first;
}

std::vector<Folder> runtime_folders() {
  std::vector<Folder> out;
  for (const std::string& path : candidates()) {
    const bool known = std::any_of(out.begin(), out.end(), [&](const Folder& other) { return other.path == path; });
    if (known) continue;
    if (Result<Folder> folder = open_folder(path, Make::No)) out.push_back(std::move(*folder));
  }
  return out;
}

std::vector<os::UniqueFd> runtime_folders_in(int root, uid_t owner) {
  std::vector<os::UniqueFd> out;
  const auto look = [&](const std::string& path) {
    os::UniqueFd folder = open_within(root, path);
    if (folder && is_private(folder.get(), owner)) out.push_back(std::move(folder));
  };
  if (const os::UniqueFd users = open_within(root, "/run/user")) {
    const auto any = [](const char*) { return true; };
    for (const std::string& name : names_in(users.get(), any)) look("/run/user/" + name + "/sml-run");
  }
  if (const os::UniqueFd tmp = open_within(root, "/tmp")) {
    const auto is_theirs = [&](const char* name) {
      struct stat info {};
      return std::string_view(name).starts_with("sml-run-") && is_there(tmp.get(), name, info) && info.st_uid == owner;
    };
    for (const std::string& name : names_in(tmp.get(), is_theirs)) look("/tmp/" + name);
  }
  return out;
}

std::vector<std::string> sockets_in(int folder) {
  return names_in(folder, [folder](const char* name) {
    struct stat info {};
    return is_there(folder, name, info) && S_ISSOCK(info.st_mode);
  });
}

std::string socket_name(std::string_view job_id) {
  const auto is_plain = [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_'; };
  const bool plain =
      !job_id.empty() && job_id.size() <= kLongestId && std::all_of(job_id.begin(), job_id.end(), is_plain);
  return plain ? std::string(job_id) + "." + os::boot_name() : std::string();
}

bool is_of_this_boot(std::string_view socket_name) {
  const std::string boot = os::boot_name();
  return boot != os::kUnknownBoot && socket_name.ends_with("." + boot);
}

std::string path_through(int folder, std::string_view name) {
  return "/proc/self/fd/" + std::to_string(folder) + "/" + std::string(name);
}

}  // namespace sml::control
