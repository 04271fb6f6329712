#include "common/os/trust.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/core/text.h"
#include "common/os/spawn.h"

namespace sml::os {

namespace {

constexpr int kMostLinks = 40;
constexpr const char* kSystemPath = "/usr/bin:/bin";

Error refused(const std::string& path, const std::string& why) {
  return Error(ErrorKind::Config, show(path, PATH_MAX) + " " + why);
}
Error fault(const std::string& path, int sys_errno) { return sys_error(ErrorKind::Config, show(path), sys_errno); }

bool is_read_only(const std::string& path) {
  struct statvfs mount {};
  return ::statvfs(path.c_str(), &mount) == 0 && (mount.f_flag & ST_RDONLY) != 0;
}

// Whether the file has an ACL. Then its group bits are the most that any listed user or group may have.
bool has_list(const std::string& path) { return ::getxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) > 0; }

bool is_own_group(gid_t group) { return group == 0 || (group == ::getegid() && group == ::geteuid()); }

// The others who can write there, besides the owner; empty: no one.
std::string writers(const std::string& path, const struct stat& info) {
  const bool all = (info.st_mode & S_IWOTH) != 0;
  const bool group = (info.st_mode & S_IWGRP) != 0 && (!is_own_group(info.st_gid) || has_list(path));
  if ((!all && !group) || is_read_only(path)) return {};
  return all ? "every user of this machine" : "others of its group " + std::to_string(info.st_gid);
}

bool names_open_file(const std::string& folder) {
  struct statfs info {};
  return folder.ends_with("/fd") && ::statfs(folder.c_str(), &info) == 0 && info.f_type == PROC_SUPER_MAGIC;
}

class Way {
 public:
  Result<void> go(const std::string& path) {
    struct stat top {};
    if (::stat("/", &top) != 0) return fault("/", errno);
    add(path);
    if (!path.starts_with('/') && !add_working_directory()) return fault(path, errno);
    enter({}, top);
    while (!todo_.empty()) {
      if (Result<void> done = step(); !done || is_open_file_) return done;
    }
    const std::string who = writers(place(), here_);
    return who.empty() ? Result<void>() : refused(place(), "can be written by " + who);
  }

 private:
  std::string place() const { return at_.empty() ? "/" : at_; }

  void add(std::string_view path) {
    const std::vector<std::string_view> names = split(path, '/');
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
      if (!name->empty() && *name != ".") todo_.emplace_back(*name);
    }
  }

  bool add_working_directory() {
    std::array<char, PATH_MAX> folder;
    if (::getcwd(folder.data(), folder.size()) == nullptr) return false;
    add(folder.data());
    return true;
  }

  static Result<void> check_owner(const std::string& path, const struct stat& info) {
    if (is_trusted_owner(info.st_uid)) return {};
    return refused(path, "belongs to user " + std::to_string(info.st_uid));
  }

  void enter(std::string path, const struct stat& info) {
    at_ = std::move(path);
    here_ = info;
  }

  Result<void> step() {
    const std::string name = std::move(todo_.back());
    todo_.pop_back();
    if (!S_ISDIR(here_.st_mode)) return fault(at_, ENOTDIR);
    std::string next = name == ".." ? at_.substr(0, std::max(at_.rfind('/'), std::size_t{0})) : at_ + "/" + name;
    struct stat info {};
    if (::lstat(next.empty() ? "/" : next.c_str(), &info) != 0) return fault(next, errno);
    const bool is_link = S_ISLNK(info.st_mode);
    if (const Result<void> owned = check_owner(next, info); !owned && !is_link) return owned;
    const std::string who = name == ".." ? std::string() : writers(place(), here_);
    if (!who.empty() && !is_kept(info)) return refused(place(), "can be written by " + who);
    if (is_link) return follow(next);
    enter(std::move(next), info);
    return {};
  }

  // Whether others can neither remove nor rename the entry, though they can write in its folder, and cannot have made
  // it as a second name of a trusted user's file.
  bool is_kept(const struct stat& info) const {
    return (here_.st_mode & S_ISVTX) != 0 && is_trusted_owner(info.st_uid) &&
           (S_ISDIR(info.st_mode) || info.st_nlink == 1);
  }

  Result<void> follow(const std::string& link) {
    is_open_file_ = names_open_file(at_);
    if (is_open_file_) return {};
    std::array<char, PATH_MAX> target;
    const ssize_t size = ::readlink(link.c_str(), target.data(), target.size());
    if (size < 0 || ++links_ > kMostLinks) return fault(link, size < 0 ? errno : ELOOP);
    const std::string_view named(target.data(), static_cast<std::size_t>(size));
    add(named);
    if (!named.starts_with('/')) return {};
    at_.clear();
    return ::stat("/", &here_) == 0 ? Result<void>() : fault("/", errno);
  }

  std::string at_;  // without links; empty: the root
  struct stat here_ {};
  std::vector<std::string> todo_;  // names, the next one last
  int links_ = 0;
  bool is_open_file_ = false;
};

bool is_program(const std::string& file) {
  struct stat info {};
  return ::stat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode) && ::access(file.c_str(), X_OK) == 0;
}

}  // namespace

bool is_trusted_owner(uid_t owner) {
  if (owner == 0 || owner == ::geteuid()) return true;
  struct stat top {};
  return ::stat("/", &top) == 0 && owner == top.st_uid;
}

bool others_can_write(const std::string& path, const struct stat& info) {
  return !is_trusted_owner(info.st_uid) || !writers(path, info).empty();
}
bool others_can_write(int fd, const struct stat& info) {
  return others_can_write("/proc/self/fd/" + std::to_string(fd), info);
}

Result<void> check_trust(const std::string& path) { return Way().go(path); }

TrustedProgram find_trusted_program(std::span<const std::string> candidates) {
  TrustedProgram out;
  for (const std::string& file : candidates) {
    if (!is_program(file)) continue;
    const Result<void> trusted = check_trust(file);
    if (trusted) {
      out.file = file;
      break;
    }
    out.passed_over.push_back(show(file) + " is not run, as " + trusted.error().message());
  }
  return out;
}

namespace {

bool is_there(const std::string& path) { return ::faccessat(AT_FDCWD, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0; }

// The trusted ones of the folders, which ':' separates, in which also `wanted` can be trusted where it is there; adds
// to `left_out` why others that have it are not among them.
std::string trusted_folders(std::string_view folders, const std::string& wanted, std::vector<std::string>& left_out) {
  std::string kept;
  for (const std::string_view folder : split(folders, ':')) {
    if (!folder.starts_with('/')) continue;
    const std::string path(folder);
    const std::string file = path + "/" + wanted;
    Result<void> trusted = check_trust(path);
    const bool has_file = is_there(file);
    if (trusted && has_file) trusted = check_trust(file);
    if (trusted) {
      kept.append(kept.empty() ? "" : ":").append(folder);
    } else if (has_file) {
      left_out.push_back(trusted.error().message());
    }
  }
  return kept;
}

// Keeps the trusted ones of the variable's folders, or `otherwise` if there are none.
std::vector<std::string> keep_trusted(std::vector<std::string>& environment, std::string_view variable,
                                      const std::string& wanted, std::string_view otherwise) {
  std::vector<std::string> left_out;
  for (std::string& entry : environment) {
    if (!entry.starts_with(variable)) continue;
    const std::string kept = trusted_folders(std::string_view(entry).substr(variable.size()), wanted, left_out);
    entry = std::string(variable).append(kept.empty() ? otherwise : kept);
  }
  return left_out;
}

// Reserved words and built-in commands, which the shell does not look up in PATH. The names of some are those of files,
// too.
bool is_word_of_shell(std::string_view word) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {".",     ":",      "alias", "bg",   "break",    "case",    "cd",     "command", "continue", "do",
       "done",  "echo",   "elif",  "else", "esac",     "eval",    "exec",   "exit",    "export",   "false",
       "fc",    "fg",     "fi",    "for",  "function", "getopts", "hash",   "if",      "jobs",     "kill",
       "local", "printf", "pwd",   "read", "readonly", "return",  "set",    "shift",   "source",   "test",
       "then",  "time",   "times", "trap", "true",     "type",    "ulimit", "umask",   "unalias",  "unset",
       "until", "wait",   "while", "!",    "{",        "}"});
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

// Whether the shell sets a variable by the word: NAME=..., or NAME+=... of bash.
bool is_assignment(std::string_view word) {
  constexpr std::string_view kOfNames = "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  constexpr std::size_t kDigits = 10;  // with which no name begins
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return false;
  std::string_view name = word.substr(0, equals);
  if (name.ends_with('+')) name.remove_suffix(1);
  return !name.empty() && name.find_first_not_of(kOfNames) == std::string_view::npos &&
         kOfNames.find(name.front()) >= kDigits;
}

// The word with which the line begins, if it is a plain one that names a program; else empty. All bytes are plain to
// the shell but those that end a word, and those by which it makes another word of it.
std::string_view first_program(std::string_view line) {
  constexpr std::string_view kEnds = " \t\n;&|<>";
  const std::size_t end = std::min(line.find_first_of(" \t\n;&|<>()$`\\\"'*?["), line.size());
  const std::string_view word = line.substr(0, end);
  const bool ends = end == line.size() || kEnds.find(line[end]) != std::string_view::npos;
  const bool plain = ends && !word.starts_with('#') && !word.starts_with('~') && !is_assignment(word);
  return plain && !is_word_of_shell(word) ? word : std::string_view();
}

// Returns the entries of the list that pass, and where it is one of libraries also names without a folder.
std::string trusted_ones(std::string list, bool libraries) {
  std::string kept;
  if (libraries) std::replace(list.begin(), list.end(), ' ', ':');  // both separate those of LD_PRELOAD
  for (const std::string_view part : split(list, ':')) {
    const bool is_name = libraries && !part.empty() && part.find('/') == std::string_view::npos;
    if (!is_name && (!part.starts_with('/') || !check_trust(std::string(part)))) continue;
    kept.append(kept.empty() ? "" : ":").append(part);
  }
  return kept;
}

}  // namespace

std::vector<std::string> keep_trusted_folders(std::vector<std::string>& environment, const std::string& library) {
  return keep_trusted(environment, "LD_LIBRARY_PATH=", library, {});
}

std::vector<std::string> keep_trusted_path(std::vector<std::string>& environment, const std::string& program) {
  return keep_trusted(environment, "PATH=", program, kSystemPath);
}

void keep_trusted_lists(std::vector<std::string>& environment) {
  std::erase_if(environment, [](std::string& entry) {
    const std::string name = entry.substr(0, entry.find('='));
    const bool libraries = name == "LD_PRELOAD" || name == "LD_AUDIT";
    if (!libraries && name != "PATH" && name != "LD_LIBRARY_PATH" && name != "PYTHONPATH") return false;
    std::string kept = trusted_ones(entry.substr(std::min(name.size() + 1, entry.size())), libraries);
    if (kept.empty() && name == "PATH") kept = kSystemPath;
    entry = name + "=" + kept;
    return kept.empty();
  });
}

Result<TrustedCommand> check_trust_of_command(const std::string& command, std::span<const std::string> environment,
                                              const std::string& directory) {
  const std::string_view line = trim(command);
  const std::string word(first_program(line));
  const bool is_path = word.find('/') != std::string::npos;
  TrustedCommand out{command, {}};
  for (const std::string& file : word.empty() ? std::vector<std::string>() : program_candidates(word, environment)) {
    const std::string full = file.starts_with('/') || directory.empty() ? file : directory + "/" + file;
    if (!is_path && !is_program(full)) continue;
    if (Result<void> trusted = check_trust(full); !trusted) return trusted.error();
    if (!is_program(full)) return refused(full, "may not be executed");
    out.line = shell_quote(file).append(line.substr(word.size()));
    break;
  }
  std::vector<std::string> variables(environment.begin(), environment.end());
  for (const std::string& why : keep_trusted_path(variables)) {
    out.left_out += (out.left_out.empty() ? "; PATH is used without a folder, as " : ", and another, as ") + why;
  }
  return out;
}

}  // namespace sml::os
