#include "tests/support/fake_transport.h"

namespace sml::fake {

std::string TransportLog::all_sent() const {
  std::string out;
  for (const std::string& bytes : sent) out += bytes;
  return out;
}

ScriptedTransport::~ScriptedTransport() {
  log_->events = nullptr;
  log_->destroyed = true;
}

}  // namespace sml::fake
