// Stands in for init while a test with real processes runs: whatever the test leaves behind comes to it, is counted and
// killed. Also the test's watchdog. Header only; one at a time.
#pragma once
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/agent/os/cgroup.h"
#include "tests/support/catch.h"
#include "tests/support/watchdog.h"

namespace sml::fake {

inline std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> out;
  std::ifstream list("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
  for (pid_t child = 0; list >> child;) out.push_back(child);
  return out;
}

// "R", "S", "T", "Z" ...; empty when there is no such process.
inline std::string state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string stat;
  std::getline(file, stat);
  const std::size_t end = stat.rfind(')');
  return end == std::string::npos || end + 2 >= stat.size() ? std::string() : stat.substr(end + 2, 1);
}

// A zombie is gone as far as tests are concerned: it only waits for its parent.
inline bool runs(pid_t pid) {
  const std::string state = state_of(pid);
  return !state.empty() && state != "Z" && state != "X";
}

// Looks again and again until `condition` holds; false when `limit` is over. For facts about other processes that no
// descriptor tells.
template <class Condition>
bool eventually(Condition condition, std::chrono::milliseconds limit = watchdog()) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    ::poll(nullptr, 0, 2);
  }
  return true;
}

class Init {
 public:
  Init() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1L);
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGALRM, &Init::give_up);
    // Twice, so that a single wait that hangs fails first, and says what it waited for.
    ::alarm(static_cast<unsigned>(std::chrono::ceil<std::chrono::seconds>(2 * watchdog()).count()));
  }
  ~Init() {
    ::alarm(0);
    kill_all();
  }
  Init(const Init&) = delete;
  Init& operator=(const Init&) = delete;

  // Waits until every process of the test has ended, and collects them; false when some stay.
  bool nothing_left() {
    return eventually([] { return collect(); });
  }

 private:
  static bool collect() {  // true: no child is left
    pid_t pid = 0;
    do {
      pid = ::waitpid(-1, nullptr, WNOHANG);
    } while (pid > 0 || (pid < 0 && errno == EINTR));
    return pid < 0;
  }
  static void kill_all() {
    for (int round = 0; round < 500 && !collect(); ++round) {
      for (const pid_t pid : children_of(::getpid())) {
        ::kill(-pid, SIGKILL);
        ::kill(pid, SIGKILL);
      }
      ::poll(nullptr, 0, 2);
    }
  }
  static void give_up(int) {
    std::fputs("watchdog: a test has not ended in time\n", stderr);
    kill_all();
    std::_Exit(70);
  }
};

// A folder that is gone with the test.
class ScratchFolder {
 public:
  ScratchFolder() { REQUIRE(::mkdtemp(path_.data()) != nullptr); }
  ~ScratchFolder() {
    const std::string command = "chmod -R u+rwx '" + path_ + "' 2>/dev/null; rm -rf '" + path_ + "'";
    if (std::system(command.c_str()) != 0) std::perror(path_.c_str());
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text, unsigned mode = 0755) const {
    const std::string file = path_ + "/" + name;
    std::ofstream(file, std::ios::binary) << text;
    ::chmod(file.c_str(), mode);
    return file;
  }

 private:
  std::string path_ = "/tmp/sml-test-XXXXXX";
};

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

// Reads a descriptor to its end.
inline std::string read_all(int fd) {
  std::string out;
  char buffer[65536];
  for (;;) {
    pollfd p{.fd = fd, .events = POLLIN, .revents = 0};
    if (::poll(&p, 1, static_cast<int>(watchdog().count())) <= 0) return out;
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return out;
    out.append(buffer, static_cast<std::size_t>(n));
  }
}

// Where the group (cgroup v2) that a process is in can be seen; empty where there is no such hierarchy.
inline std::string cgroup_folder(pid_t pid) {
  const auto path = os::cgroup_path(read_file("/proc/" + std::to_string(pid) + "/cgroup"), "");
  for (const std::string mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    const std::string folder = mount + path.value_or("/none");
    if (::access((folder + "/cgroup.procs").c_str(), F_OK) == 0) return folder;
  }
  return {};
}

inline std::string read_line(int fd) {
  std::string out;
  char c = 0;
  while (::read(fd, &c, 1) == 1 && c != '\n') out.push_back(c);
  return out;
}

}  // namespace sml::fake
