// The processes of a worker that get a signal.
#pragma once
#include <csignal>
#include <cstdint>

namespace sml {

enum class SignalTarget : std::uint8_t {
  Group,   // the whole process group, data loaders included
  Worker,  // only the worker's own process
};

// Signals that no program can handle always go to the whole group.
inline SignalTarget target_of(int signo, SignalTarget wanted) {
  return signo == SIGKILL || signo == SIGSTOP || signo == SIGCONT ? SignalTarget::Group : wanted;
}

}  // namespace sml
