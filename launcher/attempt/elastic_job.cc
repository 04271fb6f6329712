#include "launcher/attempt/elastic_job.h"

#include <algorithm>
#include <string>
#include <variant>

#include "common/core/text.h"
#include "launcher/launch/wire_time.h"

namespace sml::attempt {

bool is_elastic(const JobOptions& options, const plan::LaunchPlan& plan) {
  const bool wanted = options.restart.elastic == Elastic::Horovod && options.restart.max > 0;
  const bool may_outlive = options.on_failure == OnFailure::Abort && options.restart.least.may_shrink();
  return wanted && may_outlive && !plan.calls && plan.map.roles.empty() && plan.map.helpers == 0;
}

ElasticJob::ElasticJob(Around around) : around_(std::move(around)) {
  if (!is_elastic(around_.options, around_.plan)) return;
  const std::uint32_t most = around_.options.restart.max;
  rounds_.emplace(around_.plan.map, around_.options.restart.least, most - std::min(most, around_.restarts_used));
}

void ElasticJob::say(const std::string& text) const {
  if (around_.options.verbosity != Verbosity::Quiet) around_.owner.say(text);
}

std::vector<HostId> ElasticJob::hosts_out() const {
  std::vector<HostId> out;
  if (!rounds_) return out;
  for (const HostIndex host : rounds_->out()) out.push_back(around_.plan.map.hosts[host.value()].id);
  return out;
}

void ElasticJob::handle(const fleet::Host&, const wire::HorovodNews& m) {
  if (!rounds_ || !around_.run() || m.attempt != around_.plan.job.attempt + 1) return;
  const std::optional<Rank> rank = rounds_->rank_of(m.slot);
  if (m.step == wire::HorovodStep::Registered) {
    if (rank) rounds_->registered(*rank);
    return;
  }
  if (!rank || rounds_->ready(*rank) == ElasticRounds::Answer::Removed) {
    return around_.fleet.first().session->send(
        wire::HorovodRound{.attempt = m.attempt, .places = {{m.slot, std::string(ElasticRounds::kRemoved)}}});
  }
  look();
}

bool ElasticJob::outlives(Rank rank, const ExitStatus& status, const Workers::End& end) {
  if (!rounds_ || !around_.run()) return false;
  if (rounds_->is_out(rank)) return true;
  rounds_->ended(rank, succeeded(status) ? ElasticRounds::End::Success : ElasticRounds::End::Failure);
  if (end.failed_by_itself && !rounds_->some_may_go_on()) return false;
  if (end.failed_by_itself) {
    const HostIndex host = around_.plan.map.ranks[rank.value()].host;
    say("rank " + std::to_string(rank.value()) + " on " + around_.plan.map.hosts[host.value()].host.name + " " +
        describe(status) + "; the others may go on without it (hvd.elastic)");
  }
  look();
  return true;
}

// Without the store nobody meets.
bool ElasticJob::outlives(const fleet::Host& host, const Error& why) {
  if (!rounds_ || !around_.run() || host.position == 0 || why.kind() != ErrorKind::Lost) return false;
  const std::vector<HostIndex>& out = rounds_->out();
  if (std::find(out.begin(), out.end(), host.index) != out.end()) return true;
  rounds_->host_lost(host.index);
  if (!rounds_->some_may_go_on()) return false;
  lost_.push_back({host.index, host.name(), why, Clock::now()});
  say(host.name() + ": " + why.message() + "; the others may go on without it (hvd.elastic)");
  look();
  return true;
}

void ElasticJob::look() {
  const ElasticRounds::Step step = rounds_->look();
  if (const auto* next = std::get_if<ElasticRounds::Next>(&step)) return begin(*next);
  if (const auto* finished = std::get_if<ElasticRounds::Finished>(&step)) {
    return around_.stop(Error(ErrorKind::Lost, "some workers have ended with status 0, and " +
                                                   std::to_string(finished->waiting) +
                                                   " wait to go on with them (hvd.elastic)"));
  }
  if (std::holds_alternative<ElasticRounds::GivenUp>(step)) around_.give_up(std::exchange(lost_, {}));
}

void ElasticJob::begin(const ElasticRounds::Next& round) {
  const JobOptions& options = around_.options;
  wire::HorovodRound message{
      .attempt = around_.plan.job.attempt + 1, .keys = wire::HorovodKeys::Forgotten, .places = {}};
  for (const ElasticRounds::Next::Member& member : round.members) {
    message.places.push_back({rounds_->slot_of(member.rank), member.numbers});
  }
  for (const Rank rank : round.left) {
    around_.workers.do_without(rank);
    message.places.push_back({rounds_->slot_of(rank), std::string(ElasticRounds::kRemoved)});
  }
  lost_.clear();
  std::vector<std::string> names;
  const wire::Stop stop{options.stop.signal, launch::milliseconds(options.grace),
                        options.stop.target.value_or(SignalTarget::Group)};
  for (const fleet::Host& host : around_.fleet.hosts()) {
    if (std::find(round.out.begin(), round.out.end(), host.index) == round.out.end()) continue;
    names.push_back(host.name());
    if (host.runs()) host.session->end_workers(stop, launch::Afterwards::Stay);
  }
  const std::size_t workers = round.members.size();
  const std::string out =
      names.empty() ? std::string() : fold_names(names) + (names.size() == 1 ? " is out; " : " are out; ");
  say(out + std::to_string(workers) + (workers == 1 ? " worker goes" : " workers go") +
      " on with what its state has committed in memory: reset " + std::to_string(round.number));
  around_.fleet.first().session->send(message);
}

}  // namespace sml::attempt
