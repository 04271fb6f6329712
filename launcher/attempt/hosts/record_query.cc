#include "launcher/attempt/hosts/record_query.h"

#include <utility>

#include "launcher/transport/session/wire_time.h"

namespace sml::attempt {

void RecordQuery::ask(Done done) {
  waiting_.push_back(std::move(done));
  if (poll_.waits()) return;
  records_.clear();
  poll_.ask(
      [](std::uint32_t id) {
        return wire::AskRecorded{id, transport::milliseconds(kAgents)};
      },
      kAll, [this](const std::vector<std::string>&) { conclude(); });
}

void RecordQuery::handle(const wire::Recorded& m) {
  if (poll_.awaits(m.id)) records_[m.rank] += m.bytes;
}

void RecordQuery::conclude() {
  const std::vector<Done> waiting = std::exchange(waiting_, {});
  std::vector<report::Recording> all;
  for (auto& [rank, bytes] : std::exchange(records_, {})) all.push_back({rank, bytes});
  for (const Done& done : waiting) done(all);
}

}  // namespace sml::attempt
