#include "launcher/run/watch/hang_folder.h"

#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/os/own_file.h"

namespace sml::run {

namespace {

constexpr mode_t kFolderMode = 0700;  // reports contain command lines
constexpr mode_t kFileMode = 0600;

// Fails if the name exists, so that no link is followed.
Result<void> write_new(int folder, const std::string& name, const std::string& text, const std::string& path) {
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const os::UniqueFd file(::openat(folder, name.c_str(), flags, kFileMode));
  if (!file || !os::write_all(file.get(), text)) {
    return sys_error(ErrorKind::Io, "cannot write " + path + "/" + name, errno);
  }
  return {};
}

// The default name of torch, which its own reader of these files expects.
std::string recording_name(const report::Recording& recording) {
  const bool is_json = recording.bytes.starts_with('{');
  return fmt::format("{}_trace_rank_{}{}", is_json ? "torch" : "nccl", recording.rank.value(), is_json ? ".json" : "");
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

}  // namespace

Result<HangFolder> HangFolder::open(const std::string& path) {
  HangFolder out;
  if (path.empty()) return out;
  out.path_ = path;
  while (out.path_.size() > 1 && out.path_.ends_with('/')) out.path_.pop_back();
  const auto refused = [](const Error& why) { return Error(ErrorKind::Usage, "--hang-report: " + why.message()); };
  // find_place() of a file in the folder creates the folder.
  Result<os::Place> place = os::find_place(out.path_ + "/1", os::Folders::AreMade, kFolderMode);
  if (!place) return refused(place.error());
  if (::faccessat(place->folder.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) {
    return refused(sys_error(ErrorKind::Io, "no files can be made in " + out.path_, errno));
  }
  out.folder_ = std::move(place->folder);
  return out;
}

Result<os::UniqueFd> HangFolder::make_next(std::string& path) const {
  for (unsigned number = 1; number <= kMost; ++number) {
    const std::string name = std::to_string(number);
    path = path_ + "/" + name;
    const bool made = ::mkdirat(folder_.get(), name.c_str(), kFolderMode) == 0;
    if (!made && errno == EEXIST) continue;
    os::UniqueFd folder;
    if (made) folder.reset(::openat(folder_.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat info {};
    if (!folder || ::fstat(folder.get(), &info) != 0) return sys_error(ErrorKind::Io, "cannot make " + path, errno);
    if (info.st_uid != ::geteuid()) return Error(ErrorKind::Io, path + " has been replaced by another user");
    return folder;
  }
  return Error(ErrorKind::Io, fmt::format("there are {} reports in {} already", kMost, path_));
}

Result<std::string> HangFolder::keep(const Report& report) const {
  std::string path;
  if (!folder_) return path;
  const Result<os::UniqueFd> folder = make_next(path);
  if (!folder) return folder.error();
  const auto write = [&](const std::string& name, const std::string& text) {
    return write_new(folder->get(), name, text, path);
  };
  if (Result<void> done = write("table.txt", joined(report.table)); !done) return done.error();
  if (Result<void> done = write("ranks.json", report.json + "\n"); !done) return done.error();
  const std::size_t width = std::to_string(report.world_size - 1).size();
  for (const report::RankTrace& trace : report.traces.ranks) {
    const std::string name = fmt::format("rank.{:0{}}.txt", trace.rank.value(), width);
    if (Result<void> done = write(name, report::rank_details(trace)); !done) return done.error();
  }
  for (const report::Recording& one : report.recordings) {
    if (Result<void> done = write(recording_name(one), one.bytes); !done) return done.error();
  }
  return path;
}

}  // namespace sml::run
