#include "launcher/attempt/hosts/usage_query.h"

#include <utility>

namespace sml::attempt {

void UsageQuery::ask(Done done) {
  waiting_.push_back(std::move(done));
  if (poll_.waits()) return;
  workers_.clear();
  poll_.ask([](std::uint32_t id) { return wire::AskUse{id}; }, kLimit,
            [this](const std::vector<std::string>&) { conclude(); });
}

void UsageQuery::handle(const fleet::Host& host, const wire::WorkersUse& m) {
  if (!poll_.awaits(m.id)) return;
  workers_.insert(workers_.end(), m.workers.begin(), m.workers.end());
  poll_.answered(host, m.id);
}

void UsageQuery::conclude() {
  const std::vector<Done> waiting = std::exchange(waiting_, {});
  const std::vector<wire::RankUse> workers = std::exchange(workers_, {});
  for (const Done& done : waiting) done(workers);
}

}  // namespace sml::attempt
