#include "common/os/own_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/core/text.h"
#include "common/os/trust.h"

namespace sml::os {

namespace {

constexpr int kMostLinksFollowed = 40;
constexpr int kFolder = O_PATH | O_DIRECTORY | O_CLOEXEC;

// Where others can write, another user can give a link of root's a second name: only links with one name are trusted.
bool is_trusted_link(const struct stat& link) { return is_trusted_owner(link.st_uid) && link.st_nlink < 2; }

bool is_proc(int folder) {
  struct statfs info {};
  return ::fstatfs(folder, &info) == 0 && info.f_type == PROC_SUPER_MAGIC;
}

Error refused(std::string what) { return Error(ErrorKind::Io, std::move(what)); }

// Walks to the folder of a path, link by link.
class Walk {
 public:
  Walk(const std::string& path, Folders folders, mode_t folder_mode)
      : path_(path), folders_(folders), folder_mode_(folder_mode) {
    add(path);
  }

  // Returns the folder with the last name of the path.
  Result<Place> finish() {
    while (todo_.size() > 1) {
      if (Result<void> done = step(); !done) return done.error();
    }
    if (Result<void> seen = look(); !seen) return seen.error();
    if (todo_.empty()) return fault(EISDIR);
    return Place{std::move(at_), todo_.back(), others_write_};
  }

 private:
  Error fault(int sys_errno) const { return sys_error(ErrorKind::Io, "cannot open " + path_, sys_errno); }
  Error no_folder(const std::string& name, int sys_errno) const {
    return sys_error(ErrorKind::Io, "cannot make the folder " + name + " of " + path_, sys_errno);
  }

  // Adds the names of a path that begins at the current folder, or at the root.
  void add(std::string_view path) {
    if (path.starts_with('/') || !at_) at_.reset(::open(path.starts_with('/') ? "/" : ".", kFolder));
    std::vector<std::string> names;
    for (const std::string_view name : split(path, '/')) {
      if (!name.empty() && name != ".") names.emplace_back(name);
    }
    todo_.insert(todo_.end(), names.rbegin(), names.rend());
  }

  // Examines the current folder.
  Result<void> look() {
    struct stat info {};
    if (!at_ || ::fstat(at_.get(), &info) != 0) return fault(errno);
    const bool others_write_here = others_can_write(at_.get(), info);
    const mode_t closed = (info.st_mode & S_IWOTH) != 0 ? S_IRWXU : ~mode_t{S_IWGRP | S_IWOTH};
    access_of_new_ = others_write_here ? closed : ~mode_t{0};
    others_write_ = others_write_ || others_write_here;
    return {};
  }

  Result<void> step() {
    if (Result<void> seen = look(); !seen) return seen;
    const std::string name = std::move(todo_.back());
    todo_.pop_back();
    const int follow = is_proc(at_.get()) ? 0 : O_NOFOLLOW;
    UniqueFd next(::openat(at_.get(), name.c_str(), O_PATH | O_CLOEXEC | follow));
    if (!next && errno == ENOENT && folders_ == Folders::AreMade) {
      if (::mkdirat(at_.get(), name.c_str(), folder_mode_ & access_of_new_) != 0 && errno != EEXIST) {
        return no_folder(name, errno);
      }
      next.reset(::openat(at_.get(), name.c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW));
    }
    struct stat info {};
    if (!next || ::fstat(next.get(), &info) != 0) return fault(errno);
    if (S_ISLNK(info.st_mode)) return follow_link(next.get(), info, name);
    if (!S_ISDIR(info.st_mode)) return folders_ == Folders::AreMade ? no_folder(name, ENOTDIR) : fault(ENOTDIR);
    at_ = std::move(next);
    return {};
  }

  Result<void> follow_link(int link, const struct stat& info, const std::string& name) {
    if (others_write_ && !is_trusted_link(info)) {
      return refused("cannot open " + path_ + ": " + name + " is a link of another user, where others can write");
    }
    if (++links_ > kMostLinksFollowed) return fault(ELOOP);
    std::array<char, PATH_MAX> target;
    const ssize_t size = ::readlinkat(link, "", target.data(), target.size());
    if (size < 0) return fault(errno);
    add(std::string_view(target.data(), static_cast<std::size_t>(size)));
    return {};
  }

  const std::string& path_;
  const Folders folders_;
  const mode_t folder_mode_;
  UniqueFd at_;
  std::vector<std::string> todo_;  // names, the next one last
  mode_t access_of_new_ = 0;       // at most, of a folder that is made here
  bool others_write_ = false;      // here or above
  int links_ = 0;
};

// Returns the target of a link in place of the file, if other users cannot have put it there.
Result<std::string> end_of_link(const Place& place, const std::string& path) {
  std::array<char, PATH_MAX> target;
  struct stat info {};
  const ssize_t size = ::readlinkat(place.folder.get(), place.name.c_str(), target.data(), target.size());
  const int looked = ::fstatat(place.folder.get(), place.name.c_str(), &info, AT_SYMLINK_NOFOLLOW);
  if (size <= 0 || looked != 0 || (place.others_write_above && !is_trusted_link(info))) {
    return refused("cannot open " + path + ": it is a link, which is not followed");
  }
  const std::string named(target.data(), static_cast<std::size_t>(size));
  return named.starts_with('/') ? named : path.substr(0, path.rfind('/') + 1) + named;
}

// Returns the place of the link target if that names an open file; else an error.
Result<Place> open_file_named_by(const std::string& end, const std::string& path) {
  Result<Place> there = find_place(end, Folders::MustExist);
  if (there && is_proc(there->folder.get())) return there;
  return refused("cannot open " + path + ": it is a link, which is not followed");
}

// Checks the owner and links of an existing file, in a folder where others can write.
Result<void> check_found(int fd, const Place& place, const std::string& path) {
  struct stat file {
  }, folder{};
  if (::fstat(fd, &file) != 0 || ::fstat(place.folder.get(), &folder) != 0) {
    return sys_error(ErrorKind::Io, "cannot open " + path, errno);
  }
  const bool is_theirs = !is_trusted_owner(file.st_uid) && (file.st_uid != folder.st_uid || !S_ISREG(file.st_mode));
  if (is_theirs && others_can_write(place.folder.get(), folder)) {
    return refused("cannot open " + path + ": it belongs to another user, and others can write in its folder");
  }
  if (place.others_write_above && S_ISREG(file.st_mode) && file.st_nlink > 1) {
    return refused("cannot open " + path + ": it is a file of another name too, and others can write in its folder");
  }
  return {};
}

int flags_of(const WriteRules& rules) {
  const int access = rules.access == Access::Write ? O_WRONLY : O_RDWR;
  return access | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
}

Result<UniqueFd> open_through(const std::string& path, const WriteRules& rules, int links) {
  const auto fault = [&path](int sys_errno) { return sys_error(ErrorKind::Io, "cannot open " + path, sys_errno); };
  const int flags = flags_of(rules);
  Result<Place> place = find_place(path, rules.folders, rules.folder_mode);
  if (!place) return place.error();
  const bool open_file = is_proc(place->folder.get());
  if (!open_file) {
    UniqueFd made(::openat(place->folder.get(), place->name.c_str(), flags | O_CREAT | O_EXCL, rules.mode));
    if (made || errno != EEXIST || rules.if_there == IfThere::Refuse) {
      return made ? Result<UniqueFd>(std::move(made)) : fault(errno);
    }
  }
  UniqueFd found(::openat(place->folder.get(), place->name.c_str(), flags | (open_file ? 0 : O_NOFOLLOW)));
  if (!found && errno == ELOOP) {
    const Result<std::string> end = end_of_link(*place, path);
    if (!end) return end.error();
    if (rules.last_link == LastLink::CountsAsOthers)
      return links > 0 ? open_through(*end, rules, links - 1) : fault(ELOOP);
    place = open_file_named_by(*end, path);
    if (!place) return place.error();
    found.reset(::openat(place->folder.get(), place->name.c_str(), flags));
  }
  if (!found) return fault(errno);
  const bool named_open_file = is_proc(place->folder.get());
  if (!named_open_file) {
    if (Result<void> checked = check_found(found.get(), *place, path); !checked) return checked.error();
  }
  struct stat info {};
  const bool regular = ::fstat(found.get(), &info) == 0 && S_ISREG(info.st_mode);
  if (rules.if_there == IfThere::Empty && regular && ::ftruncate(found.get(), 0) != 0) return fault(errno);
  return found;
}

}  // namespace

Result<Place> find_place(const std::string& path, Folders folders, mode_t folder_mode) {
  return Walk(path, folders, folder_mode).finish();
}

Result<UniqueFd> open_own_file(const std::string& path, const WriteRules& rules) {
  return open_through(path, rules, kMostLinksFollowed);
}

}  // namespace sml::os
