// The only limit of time in tests: it ends what hangs, and judges nothing. Header only.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>

namespace sml::fake {

// By how much this machine is slower than an idle one, 1 or more. tests/run measures it.
inline double machine_factor() {
  const char* factor = std::getenv("MACHINE_FACTOR");
  return factor == nullptr ? 1.0 : std::max(1.0, std::atof(factor));
}

// A time that must not pass by itself on a slow machine, such as a heartbeat timeout.
inline std::chrono::milliseconds scaled(std::chrono::milliseconds time) {
  return std::chrono::milliseconds(static_cast<long>(static_cast<double>(time.count()) * machine_factor()));
}

// The same, as the value of an option.
inline std::string scaled_option(std::chrono::milliseconds time) { return std::to_string(scaled(time).count()) + "ms"; }

// After so long a single wait is a hang.
inline std::chrono::milliseconds watchdog() { return scaled(std::chrono::seconds(120)); }

}  // namespace sml::fake
