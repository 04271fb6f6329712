#include "launcher/os/last_signals.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>

#include <sys/types.h>

namespace sml::os {

namespace {

constexpr pid_t kKernel = -1;

// The senders of one signal. The handler notes them on whichever thread has the signal; the loop takes them.
struct Senders {
  static constexpr std::uint32_t kMost = 16;  // that wait for the loop; older ones are forgotten
  std::array<std::atomic<pid_t>, kMost> pids{};
  std::atomic<std::uint32_t> noted = 0;
  std::uint32_t taken = 0;
  void (*next)(int) = nullptr;
};
static_assert(std::atomic<pid_t>::is_always_lock_free);  // for the handler

std::array<Senders, NSIG> all_senders;

// The set's own handler, which is called next, does not learn who has sent the signal.
void note_sender(int signo, siginfo_t* info, void*) {
  Senders& of = all_senders[static_cast<std::size_t>(signo)];
  of.pids[of.noted % Senders::kMost] = info->si_code > 0 ? kKernel : info->si_pid;
  ++of.noted;
  of.next(signo);
}

}  // namespace

void LastSignals::add(int signo) {
  set_.add(signo);
  added_.push_back(signo);
  struct sigaction action = {};
  if (::sigaction(signo, nullptr, &action) != 0 || (action.sa_flags & SA_SIGINFO) != 0) return;
  all_senders[static_cast<std::size_t>(signo)].next = action.sa_handler;
  action.sa_sigaction = note_sender;
  action.sa_flags |= SA_SIGINFO;
  ::sigaction(signo, &action, nullptr);
}

std::string LastSignals::take_sender(int signo) {
  Senders& of = all_senders[static_cast<std::size_t>(signo)];
  const std::uint32_t noted = of.noted;
  if (of.taken == noted) return {};
  if (noted - of.taken > Senders::kMost) of.taken = noted - Senders::kMost;
  const pid_t pid = of.pids[of.taken++ % Senders::kMost];
  return pid == kKernel ? "the kernel" : "process " + std::to_string(pid);
}

void LastSignals::let_go() {
  boost::system::error_code ignored;
  set_.clear(ignored);
  added_.clear();
}

// The set has the default action put back, which would be to end.
LastSignals::~LastSignals() {
  sigset_t ours;
  sigset_t before;
  ::sigemptyset(&ours);
  for (const int signo : added_) ::sigaddset(&ours, signo);
  ::pthread_sigmask(SIG_BLOCK, &ours, &before);
  boost::system::error_code ignored;
  set_.clear(ignored);
  for (const int signo : added_) ::signal(signo, SIG_IGN);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace sml::os
