// Converts an error to a preflight error: the reason, sent to the launcher, why nothing can be started on this host.
// Text beyond wire::kMaxText is cut off.
#pragma once
#include "common/core/error.h"
#include "common/wire/limits.h"
#include "common/wire/messages.h"

namespace sml::agent {

inline wire::PreflightError preflight_error(const Error& e) {
  return {.kind = static_cast<std::uint8_t>(e.kind()),
          .message = e.message().substr(0, wire::kMaxText),
          .hint = e.hint().substr(0, wire::kMaxText)};
}

}  // namespace sml::agent
