#include "launcher/os/last_signals.h"

#include <csignal>

namespace sml::os {

void LastSignals::add(int signo) {
  set_.add(signo);
  added_.push_back(signo);
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
