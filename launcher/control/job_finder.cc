#include "launcher/control/job_finder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/core/clock.h"
#include "common/core/text.h"
#include "common/core/text_cursor.h"
#include "common/os/small_file.h"
#include "launcher/control/runtime_folder.h"

namespace sml::control {

namespace {

constexpr int kAnswerWithinMs = 3000;  // for all jobs together
constexpr std::size_t kAnswerPiece = std::size_t{64} << 10;
constexpr std::size_t kMostOfAnother = 64;  // sockets of one other user that are asked

Error gone(const JobSocket& socket) { return Error(ErrorKind::Lost, socket.called() + " does not run any more"); }

bool is_this_user(uid_t user) { return user == ::geteuid(); }

// ---- processes of sml-run

struct Launcher {
  pid_t pid = 0;
  uid_t uid = 0;  // in this process's user namespace
};

std::optional<uid_t> user_of(const std::string& status) {
  constexpr std::string_view kLine = "\nUid:\t";
  const std::size_t at = status.find(kLine);
  if (at == std::string::npos) return std::nullopt;
  return leading_number<uid_t>(std::string_view(status).substr(at + kLine.size()));
}

// All launchers but this process, this user's first. Root sees those of all users, including users of containers.
std::vector<Launcher> launchers() {
  std::vector<Launcher> out;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    const auto pid = leading_number<pid_t>(name);
    if (!pid || *pid == ::getpid()) continue;
    if (os::read_small_file("/proc/" + name + "/comm") != "sml-run\n") continue;
    const std::optional<uid_t> uid = user_of(os::read_small_file("/proc/" + name + "/status"));
    if (uid && (is_this_user(*uid) || is_this_user(0))) out.push_back({*pid, *uid});
  }
  std::stable_partition(out.begin(), out.end(), [](const Launcher& one) { return is_this_user(one.uid); });
  return out;
}

// ---- sockets

using FileId = std::pair<dev_t, ino_t>;

std::optional<FileId> id_of(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return std::nullopt;
  return FileId(info.st_dev, info.st_ino);
}

class SocketSearch {
 public:
  void add_own() {
    for (Folder& folder : runtime_folders()) add(std::move(folder.fd), {}, ::geteuid());
  }
  // Adds the sockets in the root folder of a launcher that was found. Returns false if that cannot be inspected.
  bool add_of(const Launcher& launcher) {
    const std::string path = "/proc/" + std::to_string(launcher.pid) + "/root";
    const os::UniqueFd root(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const std::optional<FileId> id = root ? id_of(root.get()) : std::nullopt;
    struct stat mounts {};
    if (!id || ::stat(("/proc/" + std::to_string(launcher.pid) + "/ns/mnt").c_str(), &mounts) != 0) return false;
    std::vector<pid_t>& there = roots_[{*id, mounts.st_ino, launcher.uid}];
    there.push_back(launcher.pid);
    if (there.size() > 1) return true;
    for (os::UniqueFd& folder : runtime_folders_in(root.get(), launcher.uid)) {
      add(std::move(folder), Root(*id, mounts.st_ino, launcher.uid), launcher.uid);
    }
    return true;
  }
  std::vector<JobSocket> take() {
    std::vector<JobSocket> out;
    for (auto& [socket, root] : sockets_) {
      if (root) socket.peers = roots_.at(*root);
      out.push_back(std::move(socket));
    }
    return out;
  }

 private:
  // With the mount namespace, as two processes may have the same root but other mounts in it, and the user whose
  // folders are searched.
  using Root = std::tuple<FileId, ino_t, uid_t>;

  void add(os::UniqueFd folder, std::optional<Root> root, uid_t owner) {
    const std::optional<FileId> id = id_of(folder.get());
    if (!id || !folders_.insert(*id).second) return;
    const auto shared = std::make_shared<const os::UniqueFd>(std::move(folder));
    for (std::string& name : sockets_in(shared->get())) {
      if (!is_this_user(owner) && ++of_others_[owner] > kMostOfAnother) return;
      sockets_.emplace_back(JobSocket{shared, std::move(name), owner}, root);
    }
  }

  std::set<FileId> folders_;
  std::map<Root, std::vector<pid_t>> roots_;  // launchers by their root
  std::map<uid_t, std::size_t> of_others_;
  std::vector<std::pair<JobSocket, std::optional<Root>>> sockets_;
};

// Connects to the socket itself, even if its name is given to another file meanwhile.
Result<os::UniqueFd> connect_to(const JobSocket& socket) {
  const os::UniqueFd file(::openat(socket.folder->get(), socket.name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!file) return gone(socket);
  os::UniqueFd out(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!out) return sys_error(ErrorKind::Io, "cannot make a socket", errno);
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (::connect(out.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return out;
  if (errno == ECONNREFUSED || errno == ENOENT) return gone(socket);
  return sys_error(ErrorKind::Io, socket.called() + " cannot be asked", errno);
}

// Whether the job's launcher listens there.
bool is_launcher(const ucred& peer, const JobSocket& socket) {
  const bool found = std::find(socket.peers.begin(), socket.peers.end(), peer.pid) != socket.peers.end();
  return peer.uid == socket.owner && (socket.peers.empty() || found);
}

void remove_if_dead(const JobSocket& socket) {
  if (socket.peers.empty() && is_of_this_boot(socket.name)) {
    ::unlinkat(socket.folder->get(), socket.name.c_str(), 0);
  }
}

std::string note_about(const std::vector<pid_t>& pids) {
  std::string text;
  for (const pid_t pid : pids) text += (text.empty() ? "" : ", ") + std::to_string(pid);
  return "sml-run with pid " + text + (pids.size() == 1 ? " does not answer: it is" : " do not answer: they are") +
         " in a container of another user, or waits for the first host of its job; ask there";
}

// ---- all jobs in parallel

struct Asked {
  JobSocket socket;
  Conversation talk;
  std::optional<Result<std::optional<Answer>>> answer{};
};

Error no_answer(Duration limit) {
  return Error(ErrorKind::Timeout,
               "its launcher does not answer within " + format_duration(limit) + "; it may be stopped (Ctrl-Z)");
}

// Waits until each job has answered, or the time is over.
void await_answers(std::vector<Asked>& all) {
  const Duration timeout = std::chrono::milliseconds(kAnswerWithinMs);
  const TimePoint limit = Clock::now() + timeout;
  for (;;) {
    std::vector<pollfd> waits;
    for (Asked& one : all) {
      if (!one.answer) one.answer = one.talk.take();
      if (!one.answer) waits.push_back({one.talk.fd(), POLLIN, 0});
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - Clock::now()).count();
    if (waits.empty() || left <= 0) break;
    ::poll(waits.data(), waits.size(), static_cast<int>(left));
  }
  for (Asked& one : all) {
    if (!one.answer) one.answer = Result<std::optional<Answer>>(no_answer(timeout));
  }
}

// Collects the answers.
class Hearing {
 public:
  void add(Asked one) {
    auto& answer = *one.answer;
    if (!answer) return add_note(one.socket, answer.error().message());
    if (!*answer) {
      if (!one.socket.is_ours()) add_note(one.socket, "it has just ended, or does not answer this user");
      return;
    }
    const auto* refused = std::get_if<Refused>(&**answer);
    auto* summary = std::get_if<Summary>(&**answer);
    if (refused != nullptr) return add_note(one.socket, refused->why);
    if (summary == nullptr) return add_note(one.socket, "it answers something else");
    if (summary->job.id != one.socket.job()) return add_note(one.socket, "it gives another id in its answer");
    one.socket.peers = one.talk.peer() > 0 ? std::vector{one.talk.peer()} : std::move(one.socket.peers);
    found_.jobs.push_back({std::move(one.socket), std::move(summary->job)});
  }
  void add_note(const JobSocket& socket, const std::string& why) {
    if (socket.is_ours()) return found_.notes.push_back(socket.called() + ": " + why);
    ++of_others_[{socket.owner, why}];
  }
  void add_unseen(const std::set<pid_t>& pids) {
    if (!pids.empty()) found_.notes.push_back(note_about({pids.begin(), pids.end()}));
  }
  Found take() {
    auto& jobs = found_.jobs;
    std::stable_sort(jobs.begin(), jobs.end(), [](const FoundJob& a, const FoundJob& b) {
      return std::pair(a.socket.is_ours(), a.summary.age_ms) > std::pair(b.socket.is_ours(), b.summary.age_ms);
    });
    drop_false_ones();
    for (const auto& [what, count] : of_others_) {
      found_.notes.push_back("user " + std::to_string(what.first) + ", " + std::to_string(count) +
                             (count == 1 ? " job: " : " jobs: ") + what.second);
    }
    return std::move(found_);
  }

 private:
  // Drops jobs of other users that have the id of a job of this user.
  void drop_false_ones() {
    std::set<std::string> ours;
    for (const FoundJob& job : found_.jobs) {
      if (job.socket.is_ours()) ours.insert(job.socket.job());
    }
    std::erase_if(found_.jobs, [&](const FoundJob& job) {
      const bool is_false = !job.socket.is_ours() && ours.contains(job.socket.job());
      if (is_false) add_note(job.socket, "it has the id of a job of yours, " + job.socket.job());
      return is_false;
    });
  }

  Found found_;
  std::map<std::pair<uid_t, std::string>, std::size_t> of_others_;  // notes, and how often
};

std::vector<JobSocket> sockets_that_fit(const std::string& id, std::span<const FoundJob> jobs) {
  std::vector<JobSocket> same, longer;
  for (const FoundJob& job : jobs) {
    if (job.socket.job() == id) same.push_back(job.socket);
    if (job.socket.job().starts_with(id)) longer.push_back(job.socket);
  }
  return same.empty() ? longer : same;
}

}  // namespace

bool JobSocket::is_ours() const { return is_this_user(owner); }

std::string JobSocket::called() const {
  return "job " + show(job()) + (is_ours() ? "" : " of user " + std::to_string(owner));
}

Result<Conversation> Conversation::begin(const JobSocket& job, const Request& request, std::size_t longest_answer) {
  Result<os::UniqueFd> socket = connect_to(job);
  if (!socket) return socket.error();
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket->get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || !is_launcher(peer, job)) {
    return Error(ErrorKind::Io, "another process listens in its place, of user " + std::to_string(peer.uid));
  }
  const std::string bytes = encode(request);
  if (::send(socket->get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) {
    return gone(job);
  }
  Conversation out;
  out.socket_ = std::move(*socket);
  out.longest_ = longest_answer;
  out.peer_ = peer.pid;
  return out;
}

std::optional<Result<std::optional<Answer>>> Conversation::take() {
  for (;;) {
    Result<std::optional<Answer>> answer = take_answer(buffer_, longest_);
    if (!answer || *answer) return answer;
    std::array<char, kAnswerPiece> bytes;
    const ssize_t size = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return std::nullopt;
    if (size <= 0) return Result<std::optional<Answer>>(std::optional<Answer>());
    buffer_.append(bytes.data(), static_cast<std::size_t>(size));
  }
}

Result<std::optional<Answer>> Conversation::next(int timeout_ms) {
  for (const TimePoint limit = Clock::now() + std::chrono::milliseconds(timeout_ms);;) {
    if (auto answer = take()) return std::move(*answer);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - Clock::now()).count();
    pollfd ready{socket_.get(), POLLIN, 0};
    const int n = ::poll(&ready, 1, timeout_ms < 0 ? -1 : static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (n == 0) return no_answer(std::chrono::milliseconds(timeout_ms));
  }
}

Found find_jobs() {
  SocketSearch sockets;
  sockets.add_own();
  std::set<pid_t> unseen;
  const TimePoint limit = Clock::now() + std::chrono::milliseconds(kAnswerWithinMs);
  for (const Launcher& launcher : launchers()) {  // this user's first, so that no other user can use up their time
    if (!is_this_user(launcher.uid) && Clock::now() > limit) break;
    if (!sockets.add_of(launcher)) unseen.insert(launcher.pid);
  }
  Hearing hearing;
  std::vector<Asked> asked;
  for (JobSocket& socket : sockets.take()) {
    Result<Conversation> talk = Conversation::begin(socket, Request{}, kMaxSummary);
    if (talk) {
      unseen.erase(talk->peer());
      asked.push_back({std::move(socket), std::move(*talk)});
    } else if (talk.error().kind() == ErrorKind::Lost) {
      remove_if_dead(socket);
    } else {
      hearing.add_note(socket, talk.error().message());
    }
  }
  await_answers(asked);
  for (Asked& one : asked) hearing.add(std::move(one));
  hearing.add_unseen(unseen);
  return hearing.take();
}

Result<JobSocket> find_job(const std::string& id) {
  Found found = find_jobs();
  const auto others =
      std::find_if(found.jobs.begin(), found.jobs.end(), [](const FoundJob& job) { return !job.socket.is_ours(); });
  std::vector<JobSocket> fit = sockets_that_fit(id, {found.jobs.begin(), others});
  if (fit.empty() && !id.empty()) fit = sockets_that_fit(id, {others, found.jobs.end()});
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
