#include "common/os/logs/log_files.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sml::os {

namespace {

constexpr std::size_t kMostOpen = 4096;
constexpr mode_t kMode = 0666;  // less the umask

// Whether enough descriptors are free to walk through folders.
bool has_room() {
  const std::array<UniqueFd, 3> needed{UniqueFd(::open("/", O_PATH | O_CLOEXEC)),
                                       UniqueFd(::open("/", O_PATH | O_CLOEXEC)),
                                       UniqueFd(::open("/", O_PATH | O_CLOEXEC))};
  return std::all_of(needed.begin(), needed.end(), [](const UniqueFd& fd) { return static_cast<bool>(fd); });
}

// Whether open() could create a file and its folders, as far as can be checked in advance.
Result<void> check_folder(const std::string& path) {
  std::string missing;
  for (std::string folder = path; !folder.empty();) {
    folder.resize(folder.rfind('/'));
    const std::string named = folder.empty() ? "/" : folder;
    struct stat info {};
    const int why = ::stat(named.c_str(), &info) == 0 ? 0 : errno;
    if (why == ENOENT || why == ENOTDIR) {  // made then, or one above it is to blame
      missing = named;
      continue;
    }
    if (why == 0 && S_ISDIR(info.st_mode) && ::access(named.c_str(), W_OK | X_OK) == 0) return {};
    const int refused = why != 0 ? why : S_ISDIR(info.st_mode) ? errno : ENOTDIR;
    const std::string what = missing.empty() ? "cannot make files in " + named : "cannot make the folder " + missing;
    return sys_error(ErrorKind::Io, what, refused);
  }
  return {};
}

std::string older(const std::string& path, unsigned number) { return path + "." + std::to_string(number); }

Result<void> remove_older(const std::string& path) {
  const Result<Place> place = find_place(path, Folders::MustExist);
  if (!place) return place.error();
  for (unsigned n = 1; n <= LogFiles::kOlder; ++n) ::unlinkat(place->folder.get(), older(place->name, n).c_str(), 0);
  return {};
}

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
  std::string last;
  for (const File& file : files_) {
    if (file.given_up || file.path.find('/') == std::string::npos) continue;
    std::string folder = file.path.substr(0, file.path.rfind('/'));
    if (folder == last) continue;
    if (Result<void> usable = check_folder(file.path); !usable) return usable;
    last = std::move(folder);
  }
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
    Result<void> made = make(i);
    if (made) continue;
    for (File& file : files_) file.given_up = true;
    while (!open_.empty()) close_oldest();
    return made;
  }
  return {};
}

Result<void> LogFiles::make(Index index) {
  const bool fresh = rules_.overwrite == Overwrite::No;
  Result<void> made = open(index, fresh ? IfThere::Refuse : IfThere::Empty);
  if (made && !fresh) made = remove_older(files_[index].path);
  return made;
}

Result<void> LogFiles::add(std::vector<std::string> paths) {
  Result<void> all;
  for (std::string& path : paths) {
    const Index index = files_.size();
    File& file = files_.emplace_back();
    file.given_up = path.empty();
    file.path = std::move(path);
    if (file.given_up) continue;
    if (Result<void> made = make(index); !made) {
      file.given_up = true;
      if (all) all = std::move(made);
    }
  }
  return all;
}

void LogFiles::close_oldest() {
  files_[open_.front()].fd.reset();
  open_.pop_front();
}

Result<void> LogFiles::open(Index index, IfThere if_there) {
  File& file = files_[index];
  if (open_.size() >= max_open_) close_oldest();
  while (!has_room() && !open_.empty()) close_oldest();
  Result<UniqueFd> fd = open_own_file(file.path, {.if_there = if_there, .folders = Folders::AreMade, .mode = kMode});
  if (!fd) return fd.error();
  file.fd = std::move(*fd);
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
      if (!file.fd) done = open(index, IfThere::Keep);
      if (done) done = append(file, bytes.substr(0, part));
      bytes.remove_prefix(part);
    }
    if (done) continue;
    file.given_up = true;
    return done;
  }
  return {};
}

// The length of the part that still fits, in whole lines as far as possible; 0 if the file is full.
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
  const Result<Place> place = find_place(file.path, Folders::MustExist);
  if (!place) return place.error();
  const int folder = place->folder.get();
  for (unsigned n = kOlder; n > 1; --n) {
    ::renameat(folder, older(place->name, n - 1).c_str(), folder, older(place->name, n).c_str());
  }
  // ENOENT: someone has removed or renamed the file meanwhile, which is allowed.
  if (::renameat(folder, place->name.c_str(), folder, older(place->name, 1).c_str()) != 0 && errno != ENOENT) {
    return sys_error(ErrorKind::Io, "cannot rename " + file.path, errno);
  }
  file.size = 0;
  return {};
}

}  // namespace sml::os
