#include "launcher/run/watch/usage_poller.h"

#include <map>
#include <tuple>
#include <utility>

#include "common/core/clock.h"

namespace sml::run {

namespace {

constexpr Duration kBetween = std::chrono::milliseconds(250);

}  // namespace

template <class Reply>
void UsagePoller::ask_hosts() {
  ++parts_awaited_;
  attempt_->queries().ask<Reply>([this](const auto& replies) {
    for (const auto& [host, reply] : replies) std::get<Reply>(answer_.hosts[host]) = reply;
    conclude_part();
  });
}

void UsagePoller::ask(Done done) {
  if (!workers_run()) return done({});
  if (!enqueue(std::move(done))) return;
  parts_awaited_ = 1;
  [this]<class... Replies>(const std::tuple<Replies...>&) { (ask_hosts<Replies>(), ...); }(wire::StatusReplies());
  if (rates_.has_base(Clock::now())) return look();
  attempt_->queries().ask<wire::WorkersUse>([this](const UsageReplies& replies) {
    if (add(replies).empty()) return take({});
    timer_.expires_after(kBetween);
    timer_.async_wait([this](boost::system::error_code error) {
      if (!error) look();
    });
  });
}

void UsagePoller::ask_sums(Done done) {
  if (!workers_run()) return done({});
  if (!enqueue(std::move(done))) return;
  parts_awaited_ = 1;
  look();
}

bool UsagePoller::enqueue(Done done) {
  waiting_.push_back(std::move(done));
  return waiting_.size() == 1;
}

void UsagePoller::look() {
  if (!workers_run()) return take({});
  attempt_->queries().ask<wire::WorkersUse>([this](const UsageReplies& replies) { take(add(replies)); });
}

report::RankUses UsagePoller::add(const UsageReplies& replies) {
  std::map<Rank, ProcessUse> look;
  for (const auto& [host, reply] : replies) {
    for (const wire::RankUse& worker : reply.workers) look.emplace(worker.rank, worker.use);
  }
  return rates_.add(look, Clock::now());
}

void UsagePoller::take(report::RankUses ranks) {
  answer_.ranks = std::move(ranks);
  conclude_part();
}

void UsagePoller::conclude_part() {
  if (--parts_awaited_ > 0) return;
  const report::LiveUses all = std::exchange(answer_, {});
  for (const Done& done : std::exchange(waiting_, {})) done(all);
}

}  // namespace sml::run
