#include "launcher/attempt/hosts/stack_query.h"

#include <algorithm>
#include <utility>

#include "launcher/transport/session/wire_time.h"

namespace sml::attempt {

void StackQuery::ask(TraceTools tools, Done done) {
  waiting_.push_back(std::move(done));
  if (poll_.waits()) return;
  traces_ = {};
  const auto question = [tools](std::uint32_t id) {
    return wire::AskTraces{id, transport::milliseconds(kAgents), tools};
  };
  poll_.ask(question, kAll, [this](std::vector<std::string> silent) { conclude(std::move(silent)); });
}

void StackQuery::handle(const fleet::Host& host, const wire::Trace& m) {
  if (poll_.awaits(m.id)) traces_.ranks.push_back({m.rank, host.name(), {}, m.process});
}

void StackQuery::conclude(std::vector<std::string> silent) {
  traces_.silent = std::move(silent);
  std::sort(traces_.ranks.begin(), traces_.ranks.end(),
            [](const report::RankTrace& a, const report::RankTrace& b) { return a.rank < b.rank; });
  const std::vector<Done> waiting = std::exchange(waiting_, {});
  const report::Traces traces = std::exchange(traces_, {});
  for (const Done& done : waiting) done(traces);
}

}  // namespace sml::attempt
