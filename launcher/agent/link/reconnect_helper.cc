#include "launcher/agent/link/reconnect_helper.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <optional>
#include <string_view>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/core/clock.h"
#include "common/core/stop_signals.h"
#include "common/os/fd.h"
#include "common/wire/codec.h"
#include "common/wire/handshake.h"
#include "launcher/agent/link/reconnect_wire.h"

namespace sml::agent {

namespace {

bool readable(int fd, TimePoint until) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    pollfd one{fd, POLLIN, 0};
    const int n = ::poll(&one, 1, left.count() < 0 ? 0 : static_cast<int>(left.count()));
    if (n >= 0 || errno != EINTR) return n > 0;
  }
}

// Reads no byte beyond `size`: the following bytes are for the agent.
bool read_exactly(std::string& frame, std::size_t size, TimePoint until) {
  while (frame.size() < size) {
    char piece[512];
    const std::size_t wanted = std::min(size - frame.size(), sizeof piece);
    if (!readable(STDIN_FILENO, until)) return false;
    const ssize_t n = ::read(STDIN_FILENO, piece, wanted);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return false;
    frame.append(piece, static_cast<std::size_t>(n));
  }
  return true;
}

// Reads the request that names the agent; `frame` receives its bytes.
std::optional<wire::ReconnectRequest> read_request(std::string& frame, TimePoint until) {
  if (!read_exactly(frame, wire::kFrameHeader, until)) return std::nullopt;
  const std::size_t size = wire::kFrameHeader + wire::payload_length(frame);
  if (size > wire::kMaxReturn || !read_exactly(frame, size, until)) return std::nullopt;
  wire::Decoder<wire::ToAgent> decoder;
  decoder.feed(frame);
  Result<std::optional<wire::ToAgent>> message = decoder.next();
  if (!message || !message->has_value()) return std::nullopt;
  auto* request = std::get_if<wire::ReconnectRequest>(&**message);
  return request == nullptr ? std::nullopt : std::optional(std::move(*request));
}

// Receives one byte; returns 0 if the socket has closed.
char answer_of(int agent) {
  char answer = 0;
  for (;;) {
    const ssize_t n = ::recv(agent, &answer, 1, 0);
    if (n == 1) return answer;
    if (n == 0 || errno != EINTR) return 0;
  }
}

}  // namespace

int run_reconnect_helper(const std::string& mark, std::chrono::milliseconds timeout) {
  const TimePoint until = Clock::now() + timeout;
  ::signal(SIGPIPE, SIG_IGN);
  for (const int signo : kStopSignals) ::signal(signo, SIG_IGN);  // it ends with its agent
  for (const int signo : kNoticeSignals) ::signal(signo, SIG_IGN);
  ::prctl(PR_SET_NAME, "sml-run-return");
  if (!os::write_all(STDOUT_FILENO, wire::agent_line(mark))) return 1;
  std::string frame;
  const std::optional<wire::ReconnectRequest> request = read_request(frame, until);
  if (!request) return 1;
  const os::UniqueFd agent = make_reconnect_socket();
  const ReconnectAddress at = reconnect_address(request->reconnect_socket);
  // Another process may have taken the agent's name.
  const bool there = ::connect(agent.get(), reinterpret_cast<const sockaddr*>(&at.address), at.size) == 0 &&
                     peer_of_our_user(agent.get()) == request->pid;
  if (!there || !hand_over(agent.get(), frame, {STDIN_FILENO, STDOUT_FILENO})) {
    (void)os::write_all(STDOUT_FILENO, wire::cannot_return_line(mark, "its agent has gone"));
    return 1;
  }
  if (!readable(agent.get(), until) || answer_of(agent.get()) != kTaken) {
    (void)os::write_all(STDOUT_FILENO, wire::cannot_return_line(mark, "its agent does not take the connection"));
    return 1;
  }
  // Only the agent may end the connection, so the helper closes its own copies.
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) ::close(fd);
  return answer_of(agent.get()) == kGoodbye ? 0 : 1;
}

}  // namespace sml::agent
