#include "launcher/attempt/inquiry.h"

#include <algorithm>
#include <utility>

#include "launcher/launch/wire_time.h"

namespace sml::attempt {

void Inquiry::ask(TraceTools tools, Done done) {
  waiting_.push_back(std::move(done));
  if (waiting_.size() > 1) return;
  traces_ = {};
  unanswered_.clear();
  const wire::AskTraces question{++id_, launch::milliseconds(kAgents), tools};
  for (const fleet::Host& host : fleet_.hosts()) {
    if (!host.runs()) continue;
    unanswered_.insert(host.name());
    host.session->send(question);
  }
  timer_.expires_after(unanswered_.empty() ? Duration::zero() : kAll);
  timer_.async_wait([this, id = id_, alive = std::weak_ptr<bool>(alive_)](boost::system::error_code error) {
    if (!error && !alive.expired() && id == id_) conclude();
  });
}

void Inquiry::handle(const fleet::Host& host, const wire::Trace& m) {
  if (waiting_.empty() || m.id != id_) return;  // late
  traces_.ranks.push_back({m.rank, host.name(), {}, m.process});
}

void Inquiry::handle(const fleet::Host& host, const wire::Traced& m) {
  if (waiting_.empty() || m.id != id_) return;
  unanswered_.erase(host.name());
  if (unanswered_.empty()) conclude();
}

void Inquiry::conclude() {
  if (waiting_.empty()) return;
  timer_.cancel();
  traces_.silent.assign(unanswered_.begin(), unanswered_.end());
  std::sort(traces_.ranks.begin(), traces_.ranks.end(),
            [](const report::RankTrace& a, const report::RankTrace& b) { return a.rank < b.rank; });
  const std::vector<Done> waiting = std::exchange(waiting_, {});
  const report::Traces traces = std::exchange(traces_, {});
  for (const Done& done : waiting) done(traces);
}

}  // namespace sml::attempt
