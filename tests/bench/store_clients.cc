// Many clients of one server, each with one question under way: how long the answers take.
//
//   store_clients CLIENTS QUESTIONS
//
// First a bare echo of the same sizes (epoll, no other work) in a process of its own, then torch's store at
// MASTER_ADDR:MASTER_PORT. Prints a line "NAME P50_US P99_US" for each, in turn, three times.
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

// Answers every read with kValue + 8 bytes, as the store's GET does.
[[noreturn]] void echo(int listener) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int epoll = epoll_create1(0);
  wait_on(epoll, listener);
  std::array<epoll_event, 256> events;
  char buffer[4096] = {};
  for (;;) {
    const int n = epoll_wait(epoll, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < n; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == listener) {
        const int client = accept(listener, nullptr, nullptr);
        const int on = 1;
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        wait_on(epoll, client);
      } else if (recv(fd, buffer, sizeof buffer, 0) <= 0) {
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

// Every client asks again as soon as it has its answer.
std::vector<double> ask(const sockaddr_in& address, const std::string& first, std::size_t clients,
                        std::size_t questions) {
  const std::string question = get_request();
  const int epoll = epoll_create1(0);
  std::vector<int> fds;
  for (std::size_t i = 0; i < clients; ++i) {
    fds.push_back(connected(address));
    if (!first.empty()) tell(fds.back(), first);
    wait_on(epoll, fds.back());
  }
  std::vector<Clock::time_point> asked(static_cast<std::size_t>(*std::max_element(fds.begin(), fds.end())) + 1);
  std::vector<double> took;
  const std::size_t total = clients * questions;
  for (const int fd : fds) {
    asked[static_cast<std::size_t>(fd)] = Clock::now();
    tell(fd, question);
  }
  std::array<epoll_event, 256> events;
  char buffer[4096];
  while (took.size() < total) {
    const int n = epoll_wait(epoll, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < n; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (recv(fd, buffer, sizeof buffer, 0) != static_cast<ssize_t>(kValue + 8)) fail("recv");
      const auto now = Clock::now();
      took.push_back(std::chrono::duration<double, std::micro>(now - asked[static_cast<std::size_t>(fd)]).count());
      asked[static_cast<std::size_t>(fd)] = now;
      if (took.size() + clients <= total) tell(fd, question);
    }
  }
  for (const int fd : fds) close(fd);
  close(epoll);
  return took;
}

void report(const char* name, std::vector<double> took) {
  std::sort(took.begin(), took.end());
  std::printf("%s %.0f %.0f\n", name, took[took.size() / 2], took[took.size() * 99 / 100]);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("store_clients CLIENTS QUESTIONS\n", stderr);
    return 2;
  }
  const std::size_t clients = std::strtoul(argv[1], nullptr, 10);
  const std::size_t questions = std::strtoul(argv[2], nullptr, 10);
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
    report("echo", ask(server.address, "", clients, questions));
    report("store", ask(store, hello() + set_request(), clients, questions));
  }
  kill(server.pid, SIGKILL);
  waitpid(server.pid, nullptr, 0);
  return 0;
}
