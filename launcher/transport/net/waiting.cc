#include "launcher/transport/net/waiting.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sml::net {
namespace {

constexpr auto kPollSlice = std::chrono::milliseconds(200);  // delay until a cancel is noticed without an eventfd

int milliseconds_until(TimePoint deadline, bool sliced) {
  auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  if (sliced) left = std::min<std::chrono::milliseconds>(left, kPollSlice);
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

// The needed part of tcp_info of <linux/tcp.h>, which cannot be included beside glibc's <netinet/tcp.h>.
struct KernelTcpInfo {
  tcp_info known_to_glibc;
  std::uint64_t pacing_rate;
  std::uint64_t max_pacing_rate;
  std::uint64_t bytes_acked;
  std::uint64_t bytes_received;
};
static_assert(sizeof(tcp_info) == 104);

}  // namespace

CancelToken::CancelToken() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void CancelToken::cancel() {
  cancelled_.store(true, std::memory_order_release);
  const std::uint64_t one = 1;
  if (event_) [[maybe_unused]]
    const auto n = ::write(event_.get(), &one, sizeof one);
  const std::lock_guard lock(mutex_);
  if (guarded_ >= 0) ::shutdown(guarded_, SHUT_RDWR);
  if (guarded_group_ > 0) ::kill(-guarded_group_, SIGKILL);
}

void CancelToken::guard_group(pid_t group) {
  const std::lock_guard lock(mutex_);
  guarded_group_ = group;
  if (group > 0 && cancelled()) ::kill(-group, SIGKILL);
}

void CancelToken::guard(int fd) {
  const std::lock_guard lock(mutex_);
  guarded_ = fd;
  if (fd >= 0 && cancelled()) ::shutdown(fd, SHUT_RDWR);
}

Waited wait_for(int fd, short events, TimePoint deadline, const CancelToken& cancel) {
  while (!cancel.cancelled()) {
    std::array<pollfd, 2> set{{{fd, events, 0}, {cancel.fd(), POLLIN, 0}}};
    const int n = ::poll(set.data(), set.size(), milliseconds_until(deadline, cancel.fd() < 0));
    // A far side that sends continuously does not get more time.
    if (n > 0 && set[0].revents != 0) return Clock::now() < deadline ? Waited::Ready : Waited::TimedOut;
    if (n < 0 && errno != EINTR) return Waited::Ready;  // the next operation on fd reports the error
    if (Clock::now() >= deadline) return cancel.cancelled() ? Waited::Cancelled : Waited::TimedOut;
  }
  return Waited::Cancelled;
}

void arm_quick_ack(int fd) {
  const int one = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &one, sizeof one);
}

std::uint64_t bytes_received(int fd) {
  KernelTcpInfo info{};
  socklen_t size = sizeof info;
  return ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.bytes_received : 0;
}

}  // namespace sml::net
