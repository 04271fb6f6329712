// Actions of sml-run on its own process. An interface, since tests/simulation has another implementation.
#pragma once
#include <csignal>

namespace sml::run {

class OwnProcess {
 public:
  virtual ~OwnProcess() = default;
  // Suspends this process, after Ctrl-Z. Returns once SIGCONT has continued it.
  virtual void stop() = 0;
};

// Uses the system's signals.
class SystemProcess final : public OwnProcess {
 public:
  void stop() override { ::raise(SIGSTOP); }
};

}  // namespace sml::run
