#include "common/wire/messages.h"

#include <algorithm>

namespace sml::wire {

namespace {

enum How : std::uint8_t { kExited, kSignaled, kSpawnFailed };

// Moves what all of them have in common out of them.
plan::Environment take_common(const std::vector<plan::Environment*>& environments) {
  if (environments.empty()) return {};
  const auto has = [](const plan::Environment& list, const std::string& entry) {
    return std::find(list.begin(), list.end(), entry) != list.end();
  };
  plan::Environment out = *environments.front();
  for (const plan::Environment* own : environments) {
    std::erase_if(out, [&](const std::string& entry) { return !has(*own, entry); });
  }
  for (plan::Environment* own : environments) {
    std::erase_if(*own, [&](const std::string& entry) { return has(out, entry); });
  }
  return out;
}

void put_before(plan::Environment& own, const plan::Environment& common) {
  own.insert(own.begin(), common.begin(), common.end());
}

}  // namespace

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

void pack_environments(std::vector<App>& apps, std::vector<Worker>& workers) {
  for (std::uint32_t i = 0; i < apps.size(); ++i) {
    std::vector<plan::Environment*> own;
    for (Worker& worker : workers) {
      if (worker.app == i) own.push_back(&worker.environment);
    }
    apps[i].environment = take_common(own);
  }
}

void unpack_environments(const std::vector<App>& apps, std::vector<Worker>& workers) {
  for (Worker& worker : workers) {
    if (worker.app < apps.size()) put_before(worker.environment, apps[worker.app].environment);
  }
}

void pack_environments(Start& start) {
  std::vector<plan::Environment*> own;
  for (RankVariables& one : start.variables) own.push_back(&one.environment);
  start.common = take_common(own);
}

void unpack_environments(Start& start) {
  for (RankVariables& one : start.variables) put_before(one.environment, start.common);
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
