#include "common/wire/messages.h"

namespace sml::wire {

namespace {
enum How : std::uint8_t { kExited, kSignaled, kSpawnFailed };
}

std::vector<std::uint16_t> ports_of(const Prepared& message, ServiceKind kind) {
  std::vector<std::uint16_t> out;
  for (const Service& service : message.services) {
    if (service.kind == kind) out.push_back(service.port);
  }
  return out;
}

std::uint16_t port_of(const Prepared& message, ServiceKind kind) {
  const std::vector<std::uint16_t> ports = ports_of(message, kind);
  return ports.empty() ? std::uint16_t{0} : ports.front();
}

ExitedWorker pack_exit(Rank rank, const ExitStatus& status, EndedBy ended_by, std::uint64_t at_ns) {
  ExitedWorker m{.rank = rank, .how = kExited, .value = 125, .detail = 0, .ended_by = ended_by, .at_ns = at_ns};
  if (const auto* e = std::get_if<Exited>(&status)) {
    m.value = e->code;
  } else if (const auto* s = std::get_if<Signaled>(&status)) {
    m.how = kSignaled;
    m.value = s->signo;
    m.detail = s->core_dumped ? 1 : 0;
  } else if (const auto* f = std::get_if<SpawnFailed>(&status)) {
    m.how = kSpawnFailed;
    m.value = f->sys_errno;
    m.detail = static_cast<std::uint8_t>(f->step);
  }
  return m;
}

ExitStatus unpack_exit(const ExitedWorker& m) {
  switch (m.how) {
    case kExited:
      if (m.value >= 0 && m.value <= 255) return Exited{m.value};
      break;
    case kSignaled:
      if (m.value >= 1 && m.value <= 64) return Signaled{m.value, m.detail != 0};
      break;
    case kSpawnFailed:
      if (m.detail <= static_cast<std::uint8_t>(SpawnStep::Binding)) {
        return SpawnFailed{static_cast<SpawnStep>(m.detail), m.value};
      }
      break;
    default: break;
  }
  return Lost{"its agent reported an end that nobody understands"};
}

}  // namespace sml::wire
