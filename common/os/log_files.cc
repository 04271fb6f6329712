#include "common/os/log_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sml::os {

namespace {

constexpr std::size_t kMostOpen = 4096;
constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;

Result<void> make_parents(const std::string& path) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    const std::string folder = path.substr(0, at);
    if (::mkdir(folder.c_str(), 0777) == 0 || errno == EEXIST) continue;
    struct stat info {};
    const int why = errno;  // a folder that is there may still be refused, on a read-only file system
    if (::stat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) continue;
    return sys_error(ErrorKind::Io, "cannot make the folder " + folder, why);
  }
  return {};
}

std::string older(const std::string& path, unsigned number) { return path + "." + std::to_string(number); }

}  // namespace

LogFiles::LogFiles(LogRules rules, std::vector<std::string> paths)
    : rules_(rules), max_open_(std::clamp<std::size_t>(descriptor_limit() / 4, 4, kMostOpen)) {
  files_.reserve(paths.size());
  for (std::string& path : paths) {
    files_.emplace_back();
    files_.back().given_up = path.empty();
    files_.back().path = std::move(path);
  }
}

Result<void> LogFiles::check() const {
  if (rules_.overwrite == Overwrite::Yes) return {};
  for (const File& file : files_) {
    struct stat info {};
    if (file.given_up || ::lstat(file.path.c_str(), &info) != 0) continue;
    return Error(ErrorKind::Config, file.path + " is there already, from an earlier job")
        .with_hint("name another folder, or --log-overwrite");
  }
  return {};
}

Result<void> LogFiles::create() {
  for (Index i = 0; i < files_.size(); ++i) {
    if (files_[i].given_up) continue;
    Result<void> made = make_parents(files_[i].path);
    const bool fresh = rules_.overwrite == Overwrite::No;
    if (made) made = open(i, kFlags | (fresh ? O_EXCL : O_TRUNC));
    if (made) {
      for (unsigned n = 1; !fresh && n <= kOlder; ++n) ::unlink(older(files_[i].path, n).c_str());
      continue;
    }
    for (File& file : files_) file.given_up = true;
    while (!open_.empty()) close_oldest();
    return made;
  }
  return {};
}

void LogFiles::close_oldest() {
  files_[open_.front()].fd.reset();
  open_.pop_front();
}

Result<void> LogFiles::open(Index index, int flags) {
  File& file = files_[index];
  if (open_.size() >= max_open_) close_oldest();
  file.fd.reset(::open(file.path.c_str(), flags, 0666));
  while (!file.fd && (errno == EMFILE || errno == ENFILE) && !open_.empty()) {
    close_oldest();
    file.fd.reset(::open(file.path.c_str(), flags, 0666));
  }
  if (!file.fd) return sys_error(ErrorKind::Io, "cannot open " + file.path, errno);
  open_.push_back(index);
  return {};
}

Result<void> LogFiles::write(Index index, std::string_view bytes) {
  File& file = files_[index];
  while (!file.given_up && !bytes.empty()) {
    const std::size_t part = part_that_fits(file, bytes);
    Result<void> done;
    if (part == 0) {
      done = rotate(index);
    } else {
      if (!file.fd) done = open(index, kFlags);
      if (done) done = append(file, bytes.substr(0, part));
      bytes.remove_prefix(part);
    }
    if (done) continue;
    file.given_up = true;
    return done;
  }
  return {};
}

// Whole lines as far as possible; 0: the file is full.
std::size_t LogFiles::part_that_fits(const File& file, std::string_view bytes) const {
  if (rules_.max_size == 0 || file.size + bytes.size() <= rules_.max_size) return bytes.size();
  const auto room = static_cast<std::size_t>(rules_.max_size - std::min(file.size, rules_.max_size));
  const std::size_t end = room == 0 ? std::string_view::npos : bytes.rfind('\n', room - 1);
  if (end != std::string_view::npos) return end + 1;
  return file.size == 0 ? room : 0;
}

Result<void> LogFiles::append(File& file, std::string_view bytes) {
  if (!write_all(file.fd.get(), bytes)) return sys_error(ErrorKind::Io, "cannot write " + file.path, errno);
  file.size += bytes.size();
  return {};
}

Result<void> LogFiles::rotate(Index index) {
  File& file = files_[index];
  file.fd.reset();
  open_.erase(std::remove(open_.begin(), open_.end(), index), open_.end());
  for (unsigned n = kOlder; n > 1; --n) ::rename(older(file.path, n - 1).c_str(), older(file.path, n).c_str());
  // Somebody may have taken it away meanwhile: that is theirs to do.
  if (::rename(file.path.c_str(), older(file.path, 1).c_str()) != 0 && errno != ENOENT) {
    return sys_error(ErrorKind::Io, "cannot rename " + file.path, errno);
  }
  file.size = 0;
  return {};
}

}  // namespace sml::os
