// Time, and how the programs wait for it, in the place of libc and libstdc++: an executable's own definitions come
// before those of shared libraries, and the linker need not be asked. Outside of a world all is as it ever was.
//
// No interface can do this where Boost.Asio is: timers ask their clock by a static function, so that a clock of ours
// would be a global of the programs; and how long a loop may sleep until its next timer it tells nobody but epoll_wait.
// Besides, the programs wait deep inside, in run() of a loop and in poll() for the last of their output. Whatever else
// they ask of the system is handed to them, see README.md.
#include <cerrno>
#include <chrono>
#include <utility>

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "tests/simulation/host.h"
#include "tests/simulation/world.h"

namespace sml::sim {

namespace {

std::int64_t real_time(clockid_t clock) {
  timespec t{};
  ::clock_gettime(clock, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

TimePoint deadline_after(int timeout_ms) {
  return timeout_ms < 0 ? TimePoint::max() : world->now() + std::chrono::milliseconds(timeout_ms);
}

// Of the launcher; answers what `look` does as soon as that is not 0, or 0 at the end of the time.
template <class Look>
int wait_until(TimePoint deadline, Look look) {
  for (;;) {
    if (world->launcher_killed) throw Killed{};
    const int found = look();
    if (found != 0) return found;
    if (std::exchange(world->launcher_has_news, false) || !world->go_on(deadline)) return look();
  }
}

}  // namespace

// What these are in libstdc++.
std::chrono::steady_clock::time_point steady_now() noexcept asm("_ZNSt6chrono3_V212steady_clock3nowEv");
std::chrono::steady_clock::time_point steady_now() noexcept {
  using std::chrono::nanoseconds;
  if (world == nullptr) return std::chrono::steady_clock::time_point(nanoseconds(real_time(CLOCK_MONOTONIC)));
  const Process* process = world->current();
  return world->now() + (process != nullptr ? process->clock_offset : Duration::zero());
}

std::chrono::system_clock::time_point system_now() noexcept asm("_ZNSt6chrono3_V212system_clock3nowEv");
std::chrono::system_clock::time_point system_now() noexcept {
  using std::chrono::nanoseconds;
  constexpr std::int64_t kSomeDay = 1'700'000'000'000'000'000;
  if (world == nullptr) return std::chrono::system_clock::time_point(nanoseconds(real_time(CLOCK_REALTIME)));
  return std::chrono::system_clock::time_point(nanoseconds(kSomeDay) + world->now().time_since_epoch());
}

}  // namespace sml::sim

using sml::sim::world;

// Then an os::SideThread does its work itself, at a time that the seed decides.
extern "C" int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) noexcept { return EAGAIN; }

// Asio then looks at its clock whenever it looks at descriptors.
extern "C" int timerfd_create(clockid_t, int) noexcept {
  errno = EINVAL;
  return -1;
}

extern "C" int epoll_wait(int epoll, epoll_event* events, int most, int timeout_ms) {
  const auto look = [&](int wait) {
    return static_cast<int>(::syscall(SYS_epoll_pwait, epoll, events, most, wait, nullptr, 8));
  };
  if (world == nullptr) return look(timeout_ms);
  const int found = look(0);
  if (found != 0 || timeout_ms == 0) return found;
  if (sml::sim::Process* process = world->current()) {
    if (timeout_ms > 0) process->wakes = world->now() + std::chrono::milliseconds(timeout_ms);
    throw sml::sim::WouldBlock{};
  }
  return sml::sim::wait_until(sml::sim::deadline_after(timeout_ms), [&] { return look(0); });
}

// Of the launcher alone.
extern "C" int poll(pollfd* set, nfds_t size, int timeout_ms) {
  const auto look = [&](int wait) { return static_cast<int>(::syscall(SYS_poll, set, size, wait)); };
  if (world == nullptr || timeout_ms == 0) return look(timeout_ms);
  return sml::sim::wait_until(sml::sim::deadline_after(timeout_ms), [&] { return look(0); });
}
