// Who of a worker's processes gets a signal.
#pragma once
#include <csignal>
#include <cstdint>

namespace sml {

enum class SignalTarget : std::uint8_t {
  Group,   // all of its process group, data loaders included
  Worker,  // its own process alone
};

// What no program handles is for all.
inline SignalTarget target_of(int signo, SignalTarget wanted) {
  return signo == SIGKILL || signo == SIGSTOP || signo == SIGCONT ? SignalTarget::Group : wanted;
}

}  // namespace sml
