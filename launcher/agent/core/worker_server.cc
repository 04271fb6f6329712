#include "launcher/agent/core/worker_server.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/os/fd.h"
#include "launcher/agent/core/waits.h"

namespace sml::agent {

namespace {

constexpr std::size_t kAnswerRead = 16 << 10;
constexpr std::size_t kMostHead = 4096;

os::UniqueFd connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return {};
  std::memcpy(address.sun_path, path.data(), path.size());
  os::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  ucred peer{};  // the path may be the user's own choice, in a folder like /tmp
  socklen_t size = sizeof peer;
  const bool known = ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  return known && peer.uid == ::geteuid() ? std::move(socket) : os::UniqueFd();
}

}  // namespace

std::optional<std::string_view> body_of(std::string_view answer) {
  const std::size_t end = answer.find("\r\n\r\n");
  const std::string_view first = answer.substr(0, answer.find("\r\n"));
  if (end == answer.npos || !first.starts_with("HTTP/1.") || first.find(" 200") == first.npos) return std::nullopt;
  return answer.substr(end + 4);
}

bool WorkerServer::ask(const std::string& path, std::string_view handler, std::size_t most, Done done) {
  give_up();
  os::UniqueFd socket = connect_to(path);
  const std::string request = "POST /handler/" + std::string(handler) +
                              " HTTP/1.1\r\nHost: worker\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
  const bool sent = socket && ::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) ==
                                  static_cast<ssize_t>(request.size());
  if (!sent) return false;
  socket_.assign(socket.release());
  most_ = most + kMostHead;
  done_ = std::move(done);
  when_readable(socket_, lifetime_.guard([this] { read(); }));
  return true;
}

void WorkerServer::give_up() {
  boost::system::error_code ignored;
  socket_.close(ignored);
  answer_.clear();
  done_ = nullptr;
}

void WorkerServer::read() {
  std::array<char, kAnswerRead> buffer;
  const ssize_t n = ::read(socket_.native_handle(), buffer.data(), buffer.size());
  if (n > 0) answer_.append(buffer.data(), static_cast<std::size_t>(n));
  const bool waits = n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
  if (!waits || answer_.size() > most_) return finish();
  when_readable(socket_, lifetime_.guard([this] { read(); }));
}

// The server has closed the connection or sent too much.
void WorkerServer::finish() {
  std::optional<std::string> answer;
  const std::optional<std::string_view> body = body_of(answer_);
  if (body && answer_.size() <= most_) answer = std::string(*body);
  const Done done = std::move(done_);
  give_up();
  done(std::move(answer));
}

}  // namespace sml::agent
