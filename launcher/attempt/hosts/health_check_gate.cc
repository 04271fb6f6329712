#include "launcher/attempt/hosts/health_check_gate.h"

#include <algorithm>
#include <utility>

#include "common/core/text.h"
#include "launcher/transport/session/wire_time.h"

namespace sml::attempt {

HealthCheckGate::HealthCheckGate(std::string command, std::uint32_t attempt, Duration start_timeout)
    : asks_(attempt > 0 || !command.empty()) {
  // Before the first attempt no accelerator was in use, so none has to become free.
  const Duration wait = attempt == 0 ? Duration::zero() : std::min(kAcceleratorLimit, start_timeout * 5 / 6);
  question_ = {.id = attempt + 1,
               .command = std::move(command),
               .limit_ms = transport::milliseconds(std::min(kCommandLimit, start_timeout * 5 / 6)),
               .accelerators_ms = transport::milliseconds(wait)};
}

void HealthCheckGate::ask(fleet::Host& host) {
  if (!asks_ || !host.runs() || !asked_.insert(host.id).second) return;
  host.session->send(question_);
}

std::optional<Result<void>> HealthCheckGate::note(const fleet::Host& host, const wire::Health& m) {
  constexpr std::size_t kLongest = 1000;
  if (m.id != question_.id || !asked_.contains(host.id)) return std::nullopt;
  if (m.problems.empty()) {
    well_.insert(host.id);
    return Result<void>();
  }
  return Result<void>(Error(ErrorKind::Spawn, "not well: " + show(m.problems.front(), kLongest)));
}

}  // namespace sml::attempt
