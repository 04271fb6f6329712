#include "launcher/run/watch/usage_poller.h"

#include <map>
#include <utility>

#include "common/core/clock.h"

namespace sml::run {

namespace {

constexpr Duration kBetween = std::chrono::milliseconds(250);

}  // namespace

void UsagePoller::tell(Done done) {
  if (!deps_.workers_run()) return done({});
  if (!enqueue(std::move(done))) return;
  if (rates_.has_base(Clock::now())) return look();
  deps_.queries().ask<wire::WorkersUse>([this](const UsageReplies& replies) {
    if (add(replies).ranks.empty()) return answer({});
    timer_.expires_after(kBetween);
    timer_.async_wait([this](boost::system::error_code error) {
      if (!error) look();
    });
  });
}

void UsagePoller::tell_sums(Done done) {
  if (!deps_.workers_run()) return done({});
  if (enqueue(std::move(done))) look();
}

bool UsagePoller::enqueue(Done done) {
  waiting_.push_back(std::move(done));
  return waiting_.size() == 1;
}

void UsagePoller::look() {
  if (!deps_.workers_run()) return answer({});
  deps_.queries().ask<wire::WorkersUse>([this](const UsageReplies& replies) { answer(add(replies)); });
}

report::LiveUses UsagePoller::add(const UsageReplies& replies) {
  std::map<Rank, ProcessUse> look;
  for (const auto& [host, reply] : replies) {
    for (const wire::RankUse& worker : reply.workers) look.emplace(worker.rank, worker.use);
  }
  return {.ranks = rates_.add(look, Clock::now())};
}

void UsagePoller::answer(const report::LiveUses& uses) {
  for (const Done& done : std::exchange(waiting_, {})) done(uses);
}

}  // namespace sml::run
