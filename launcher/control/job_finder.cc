#include "launcher/control/job_finder.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/core/clock.h"
#include "common/core/text.h"
#include "common/os/small_file.h"
#include "launcher/control/runtime_folder.h"

namespace sml::control {

namespace {

constexpr int kAnswerWithinMs = 3000;
constexpr std::size_t kAnswerPiece = std::size_t{64} << 10;

Error gone(const Door& door) { return Error(ErrorKind::Lost, "job " + show(door.job()) + " does not run any more"); }

// ---- processes of sml-run

struct Launcher {
  pid_t pid = 0;
  uid_t uid = 0;  // as we see it
};

std::optional<uid_t> user_of(const std::string& status) {
  constexpr std::string_view kLine = "\nUid:\t";
  const std::size_t at = status.find(kLine);
  if (at == std::string::npos) return std::nullopt;
  uid_t uid = 0;
  const char* begin = status.data() + at + kLine.size();
  return std::from_chars(begin, status.data() + status.size(), uid).ec == std::errc() ? std::optional(uid)
                                                                                      : std::nullopt;
}

// Those that are not this one. Root sees the jobs of containers whose users have numbers of their own here.
std::vector<Launcher> launchers() {
  std::vector<Launcher> out;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc() || pid == ::getpid()) continue;
    if (os::read_small_file("/proc/" + name + "/comm") != "sml-run\n") continue;
    const std::optional<uid_t> uid = user_of(os::read_small_file("/proc/" + name + "/status"));
    if (uid && (*uid == ::geteuid() || ::geteuid() == 0)) out.push_back({pid, *uid});
  }
  return out;
}

// ---- doors

using FileId = std::pair<dev_t, ino_t>;

std::optional<FileId> id_of(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return std::nullopt;
  return FileId(info.st_dev, info.st_ino);
}

class Doors {
 public:
  void add_own() {
    for (Folder& folder : runtime_folders()) add(std::move(folder.fd), ::geteuid(), Door::Root::Ours);
  }
  // Of those that have another root folder. Answers false for one that cannot be looked into.
  bool add_of(const Launcher& launcher) {
    const std::string path = "/proc/" + std::to_string(launcher.pid) + "/root";
    const os::UniqueFd root(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const std::optional<FileId> id = root ? id_of(root.get()) : std::nullopt;
    struct stat mounts {};
    if (!id || ::stat(("/proc/" + std::to_string(launcher.pid) + "/ns/mnt").c_str(), &mounts) != 0) return false;
    if (!roots_.emplace(*id, mounts.st_ino).second) return true;
    for (os::UniqueFd& folder : runtime_folders_in(root.get(), launcher.uid)) {
      add(std::move(folder), launcher.uid, Door::Root::Others);
    }
    return true;
  }
  std::vector<Door> take() { return std::move(doors_); }

 private:
  void add(os::UniqueFd folder, uid_t owner, Door::Root root) {
    const std::optional<FileId> id = id_of(folder.get());
    if (!id || !folders_.insert(*id).second) return;
    const auto shared = std::make_shared<const os::UniqueFd>(std::move(folder));
    for (std::string& name : sockets_in(shared->get())) doors_.push_back({shared, std::move(name), owner, root});
  }

  std::set<FileId> folders_;
  std::set<std::pair<FileId, ino_t>> roots_;  // with the namespace of mounts: two may have one root, and other folders
  std::vector<Door> doors_;
};

Result<os::UniqueFd> connect_to(const Door& door) {
  os::UniqueFd out(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const std::string path = path_through(door.folder->get(), door.name);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (!out || path.size() >= sizeof address.sun_path) return Error(ErrorKind::Io, "cannot make a socket");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (::connect(out.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return out;
  if (errno == ECONNREFUSED || errno == ENOENT) return gone(door);
  return sys_error(ErrorKind::Io, "job " + show(door.job()) + " cannot be asked", errno);
}

void remove_if_dead(const Door& door) {
  if (door.root == Door::Root::Ours && is_of_this_boot(door.name)) {
    ::unlinkat(door.folder->get(), door.name.c_str(), 0);
  }
}

std::string note_about(const std::vector<pid_t>& pids) {
  std::string text;
  for (const pid_t pid : pids) text += (text.empty() ? "" : ", ") + std::to_string(pid);
  return "cannot be asked here, as in a container or where hosts wait for their head: sml-run with pid " + text;
}

}  // namespace

Result<Conversation> Conversation::begin(const Door& door, const Request& request) {
  Result<os::UniqueFd> socket = connect_to(door);
  if (!socket) return socket.error();
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket->get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != door.owner) {
    return Error(ErrorKind::Io, "job " + show(door.job()) + " is another user's");
  }
  const std::string bytes = encode(request);
  if (::send(socket->get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) {
    return gone(door);
  }
  Conversation out;
  out.socket_ = std::move(*socket);
  out.peer_ = peer.pid;
  return out;
}

Result<std::optional<Answer>> Conversation::next(int patience_ms) {
  for (const TimePoint limit = Clock::now() + std::chrono::milliseconds(patience_ms);;) {
    Result<std::optional<Answer>> answer = take_answer(buffer_);
    if (!answer || *answer) return answer;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - Clock::now()).count();
    pollfd ready{socket_.get(), POLLIN, 0};
    const int n = ::poll(&ready, 1, patience_ms < 0 ? -1 : static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) {
      return Error(ErrorKind::Timeout, "its launcher does not answer within " +
                                           format_duration(std::chrono::milliseconds(patience_ms)) +
                                           "; it may be stopped (Ctrl-Z)");
    }
    std::array<char, kAnswerPiece> bytes;
    const ssize_t size = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (size <= 0) return std::optional<Answer>();
    buffer_.append(bytes.data(), static_cast<std::size_t>(size));
  }
}

Found find_jobs() {
  Found out;
  Doors doors;
  doors.add_own();
  const std::vector<Launcher> running = launchers();
  std::set<pid_t> unseen;
  for (const Launcher& launcher : running) {
    if (!doors.add_of(launcher)) unseen.insert(launcher.pid);
  }
  for (Door& door : doors.take()) {
    Result<Conversation> asked = Conversation::begin(door, Request{});
    if (!asked && asked.error().kind() == ErrorKind::Lost) {
      remove_if_dead(door);
      continue;
    }
    const Result<std::optional<Answer>> answer =
        asked ? asked->next(kAnswerWithinMs) : Result<std::optional<Answer>>(asked.error());
    if (asked) unseen.erase(asked->peer());
    if (answer && !*answer) continue;  // it has ended just now
    const auto* summary = answer ? std::get_if<Summary>(&**answer) : nullptr;
    const auto* refused = answer ? std::get_if<Refused>(&**answer) : nullptr;
    if (summary != nullptr) {
      out.jobs.push_back({std::move(door), summary->job});
      continue;
    }
    const std::string why = refused != nullptr ? refused->why
                            : answer           ? "it answers something else"
                                               : answer.error().message();
    out.notes.push_back("job " + show(door.job()) + ": " + why);
  }
  std::stable_sort(out.jobs.begin(), out.jobs.end(),
                   [](const FoundJob& a, const FoundJob& b) { return a.summary.age_ms > b.summary.age_ms; });
  if (!unseen.empty()) out.notes.push_back(note_about({unseen.begin(), unseen.end()}));
  return out;
}

Result<Door> find_job(const std::string& id) {
  Found found = find_jobs();
  std::vector<Door> fit;
  for (FoundJob& job : found.jobs) {
    if (job.summary.id == id) return std::move(job.door);
    if (job.summary.id.starts_with(id)) fit.push_back(std::move(job.door));
  }
  if (fit.size() == 1) return std::move(fit.front());
  const std::string hint = "sml-run ps lists those that run";
  if (!fit.empty()) {
    const std::string what = id.empty() ? " jobs run; name one" : " jobs have an id that begins with " + show(id, 80);
    return Error(ErrorKind::Usage, std::to_string(fit.size()) + what).with_hint(hint);
  }
  std::string why = id.empty() ? "no job of yours runs on this machine" : "no job of yours has the id " + show(id, 80);
  for (const std::string& note : found.notes) why += "; " + note;
  return Error(ErrorKind::Usage, std::move(why)).with_hint(hint);
}

}  // namespace sml::control
