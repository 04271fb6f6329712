// Many clients of one server: how long the answers take, when each asks again at once, and when they ask at a fixed
// rate.
//
//   store_clients CLIENTS QUESTIONS RATE
//
// First a bare echo of the same sizes (epoll, no other work) in a process of its own, then torch's store at
// MASTER_ADDR:MASTER_PORT. Prints lines "NAME LOAD P50_US P99_US", where LOAD is "full" or "rate", three times.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kValue = 64;

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

void put_bytes(std::string& out, const std::string& bytes) {
  const std::uint64_t size = bytes.size();
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out += bytes;
}

std::string hello() { return std::string("\0\xce\xf7\x85\x3c", 5); }
std::string set_request() {
  std::string out(1, 1);
  put_bytes(out, "/bench");
  put_bytes(out, std::string(kValue, 'v'));
  return out;
}
std::string get_request() {
  std::string out(1, 3);
  put_bytes(out, "/bench");
  return out;
}

void wait_on(int epoll, int fd) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) fail("epoll_ctl");
}

// Answers every question with kValue + 8 bytes, as the store's GET does.
[[noreturn]] void echo(int listener) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int epoll = epoll_create1(0);
  wait_on(epoll, listener);
  std::array<epoll_event, 256> events;
  char buffer[4096] = {};
  const std::size_t question = get_request().size();
  for (;;) {
    const int n = epoll_wait(epoll, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < n; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == listener) {
        const int client = accept(listener, nullptr, nullptr);
        const int on = 1;
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        wait_on(epoll, client);
      } else if (recv(fd, buffer, question, MSG_WAITALL) <= 0) {
        close(fd);
      } else {
        send(fd, buffer, kValue + 8, MSG_NOSIGNAL);
      }
    }
  }
}

struct EchoServer {
  pid_t pid;
  sockaddr_in address;
};

EchoServer start_echo() {
  EchoServer server{};
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  server.address.sin_family = AF_INET;
  server.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof server.address;
  if (bind(listener, reinterpret_cast<sockaddr*>(&server.address), size) != 0 || listen(listener, 4096) != 0)
    fail("bind");
  getsockname(listener, reinterpret_cast<sockaddr*>(&server.address), &size);
  server.pid = fork();
  if (server.pid == 0) echo(listener);
  close(listener);
  return server;
}

int connected(const sockaddr_in& address) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0 || connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("connect");
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

void tell(int fd, const std::string& bytes) {
  if (send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) fail("send");
}

class Clients {
 public:
  Clients(const sockaddr_in& address, const std::string& first, std::size_t count) : epoll_(epoll_create1(0)) {
    for (std::size_t i = 0; i < count; ++i) {
      fds_.push_back(connected(address));
      if (!first.empty()) tell(fds_.back(), first);
      wait_on(epoll_, fds_.back());
    }
    asked_.resize(static_cast<std::size_t>(*std::max_element(fds_.begin(), fds_.end())) + 1);
  }
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;
  ~Clients() {
    for (const int fd : fds_) close(fd);
    close(epoll_);
  }

  // Each asks again as soon as it has its answer. Microseconds of each answer.
  std::vector<double> ask_without_pause(std::size_t questions) {
    std::size_t left = fds_.size() * questions;
    const auto next = [&](int fd, Clock::time_point now) {
      if (left == 0) return;
      --left;
      ask(fd, now);
    };
    for (const int fd : fds_) next(fd, Clock::now());
    std::vector<double> took;
    while (took.size() < fds_.size() * questions) answers(took, -1, next);
    return took;
  }

  // One after the other asks, at a fixed rate; an answer is as late as the moment when its question was due tells.
  std::vector<double> ask_at(double per_second, std::size_t total) {
    const auto begin = Clock::now();
    const auto due = [&](std::size_t i) {
      return begin + std::chrono::nanoseconds(static_cast<std::int64_t>(static_cast<double>(i) / per_second * 1e9));
    };
    std::vector<double> took;
    for (std::size_t i = 0; took.size() < total;) {
      for (; i < total && Clock::now() >= due(i); ++i) ask(fds_[i % fds_.size()], due(i));
      answers(took, i < total ? 0 : -1, [](int, Clock::time_point) {});
    }
    return took;
  }

 private:
  void ask(int fd, Clock::time_point at) {
    asked_[static_cast<std::size_t>(fd)].push_back(at);
    tell(fd, question_);
  }

  // Takes what is there, or waits for `timeout` milliseconds.
  template <class Answered>
  void answers(std::vector<double>& took, int timeout, Answered answered) {
    std::array<epoll_event, 256> events;
    char buffer[4096];
    const int n = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), timeout);
    for (int i = 0; i < n; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      std::deque<Clock::time_point>& asked = asked_[static_cast<std::size_t>(fd)];
      if (recv(fd, buffer, kValue + 8, MSG_WAITALL) != static_cast<ssize_t>(kValue + 8) || asked.empty()) fail("recv");
      const auto now = Clock::now();
      took.push_back(std::chrono::duration<double, std::micro>(now - asked.front()).count());
      asked.pop_front();
      answered(fd, now);
    }
  }

  int epoll_;
  std::vector<int> fds_;
  std::vector<std::deque<Clock::time_point>> asked_;  // by descriptor: of what has no answer yet
  const std::string question_ = get_request();
};

void report(const char* name, const char* load, std::vector<double> took) {
  std::sort(took.begin(), took.end());
  std::printf("%s %s %.0f %.0f\n", name, load, took[took.size() / 2], took[took.size() * 99 / 100]);
  std::fflush(stdout);
}

struct Load {
  std::size_t clients;
  std::size_t questions;  // of each
  double rate;            // of all, a second
};

void measure(const char* name, const sockaddr_in& address, const std::string& first, const Load& load) {
  Clients clients(address, first, load.clients);
  report(name, "full", clients.ask_without_pause(load.questions));
  report(name, "rate", clients.ask_at(load.rate, load.clients * load.questions));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("store_clients CLIENTS QUESTIONS RATE\n", stderr);
    return 2;
  }
  const Load load{std::strtoul(argv[1], nullptr, 10), std::strtoul(argv[2], nullptr, 10),
                  std::strtod(argv[3], nullptr)};
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  const char* port = std::getenv("MASTER_PORT");
  const char* host = std::getenv("MASTER_ADDR");
  sockaddr_in store{};
  store.sin_family = AF_INET;
  if (port == nullptr || host == nullptr || inet_pton(AF_INET, host, &store.sin_addr) != 1) {
    std::fputs("store_clients: is a worker of sml-run\n", stderr);
    return 2;
  }
  store.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port)));
  const EchoServer server = start_echo();
  for (int round = 0; round < 3; ++round) {
    measure("echo", server.address, "", load);
    measure("store", store, hello() + set_request(), load);
  }
  kill(server.pid, SIGKILL);
  waitpid(server.pid, nullptr, 0);
  return 0;
}
