#include "launcher/attempt/dynamic/elastic_job.h"

#include <algorithm>
#include <ctime>
#include <string>
#include <utility>
#include <variant>

#include "common/core/text.h"
#include "launcher/attempt/session_plans.h"
#include "launcher/transport/session/wire_time.h"

namespace sml::attempt {

ElasticJob::ElasticJob(Deps deps, ElasticJoin::Deps joining) : deps_(deps), joining_(joining) {
  if (!is_elastic(deps_.context.options, deps_.plan)) return;
  const std::uint32_t most = deps_.context.options.restart.max;
  const auto following = [this](const plan::JobMap& round, std::vector<HostId> out) {
    std::erase_if(out, [this](HostId host) { return has_cooled_down(host); });
    return deps_.context.owner.next_round(round, out);
  };
  rounds_.emplace(deps_.plan.map, following, most - std::min(most, deps_.restarts_used));
}

bool ElasticJob::has_cooled_down(HostId host) const {
  const auto found = cooling_.find(host);
  if (found == cooling_.end() || !found->second.since) return false;
  const std::optional<Duration> time = deps_.context.options.restart.exclude.cool_down_of(found->second.times);
  return time && Clock::now() >= *found->second.since + *time;
}

void ElasticJob::note_failed_hosts(const ElasticRounds::Next& round) {
  for (const ElasticRounds::Next::Joining& joining : round.joining) {
    if (const auto back = cooling_.find(joining.host); back != cooling_.end()) back->second.since.reset();
  }
  for (const HostId host : rounds_->out()) {
    CoolingDown& cooling = cooling_[host];
    if (cooling.since) continue;
    cooling.since = Clock::now();
    ++cooling.times;
  }
}

void ElasticJob::print(const std::string& text) const {
  if (deps_.context.options.verbosity != Verbosity::Quiet) deps_.context.owner.print(text);
}

const std::vector<HostId>& ElasticJob::hosts_out() const {
  static const std::vector<HostId> kNone;
  return rounds_ ? rounds_->out() : kNone;
}

void ElasticJob::handle(const fleet::Host&, const wire::HorovodNews& m) {
  if (!rounds_ || !deps_.machine.runs() || m.attempt != deps_.plan.job.attempt + 1) return;
  const std::optional<Rank> rank = rounds_->rank_of(m.slot);
  if (m.step == wire::HorovodStep::Registered) {
    if (!rank) return;
    rounds_->registered(*rank);
    return note_endpoint(*rank, read_registration(m.registration));
  }
  if (!rank || rounds_->ready(*rank) == ElasticRounds::Answer::Removed) {
    return deps_.context.fleet.first().session->send(
        wire::HorovodRound{.attempt = m.attempt, .places = {{m.slot, std::string(ElasticRounds::kRemoved)}}});
  }
  look();
}

void ElasticJob::note_endpoint(Rank rank, Result<NotificationEndpoint> endpoint) {
  if (endpoint) {
    endpoints_[rank] = std::move(*endpoint);
  } else if (!std::exchange(is_deaf_, true)) {
    print("rank " + std::to_string(rank.value()) +
          " has registered with Horovod's store in words that we do not know (" + endpoint.error().message() +
          "); hosts that come or go are for the next restart");
  }
}

bool ElasticJob::outlives(Rank rank, const ExitStatus& status, const Workers::End& end) {
  if (!rounds_ || !deps_.machine.runs()) return false;
  if (rounds_->is_out(rank)) return true;
  rounds_->ended(rank, succeeded(status) ? ElasticRounds::End::Success : ElasticRounds::End::Failure);
  if (end.failed_by_itself && !rounds_->some_may_go_on()) return false;
  if (end.failed_by_itself) {
    const HostIndex host = deps_.plan.map.ranks[rank.value()].host;
    print("rank " + std::to_string(rank.value()) + " on " + deps_.plan.map.hosts[host.value()].host.name + " " +
          describe(status) + "; the others may go on without it (hvd.elastic)");
  }
  look();
  return true;
}

// Rank 0's host has the store, without which the workers cannot rendezvous.
bool ElasticJob::outlives(const fleet::Host& host, const Error& why) {
  if (!rounds_ || !deps_.machine.runs() || deps_.context.fleet.is_first(host) || why.kind() != ErrorKind::Lost)
    return false;
  if (!rounds_->has_members_on(host.id)) return true;
  rounds_->host_lost(host.id);
  if (!rounds_->some_may_go_on()) return false;
  lost_.push_back({host.index, host.name(), why, Clock::now()});
  print(host.name() + ": " + why.message() + "; the others may go on without it (hvd.elastic)");
  look();
  return true;
}

// ---- hosts that come and go

// As in Horovod's launcher, only rank 0 gets the notice; all others learn of it at the next commit.
void ElasticJob::look_at_hosts() {
  if (!hears_of_hosts() || !deps_.machine.runs() || joining_.is_reaching()) return;
  if (rounds_->lacks_a_reset()) {
    return deps_.control.stop_for(Error(ErrorKind::Lost,
                                        "other hosts are listed, and no restart is left to go on with these "
                                        "(--max-restarts, or --reset-limit of horovodrun)"));
  }
  if (notified_ || !rounds_->hosts_have_changed()) return;
  const Rank leader = rounds_->leader();
  const auto endpoint = endpoints_.find(leader);
  if (endpoint == endpoints_.end()) return;  // not yet: it has just joined
  notified_ = true;
  const std::time_t now = std::time(nullptr);
  notified_at_ = std::max<std::int64_t>(now, notified_at_ + 1);
  deps_.context.fleet.send(deps_.plan.map.ranks[leader.value()].host,
                           wire::HorovodCall{.attempt = deps_.plan.job.attempt + 1,
                                             .rank = leader,
                                             .port = endpoint->second.port,
                                             .request = notice(endpoint->second, notified_at_)});
}

void ElasticJob::handle(const fleet::Host&, const wire::HorovodAnswer& m) {
  const auto endpoint = endpoints_.find(m.rank);
  if (!rounds_ || !deps_.machine.runs() || m.attempt != deps_.plan.job.attempt + 1 || endpoint == endpoints_.end())
    return;
  if (is_heard(endpoint->second, m.answer)) {
    return print(
        "the workers have been told that other hosts are there: they go on with these after their next commit "
        "(hvd.elastic)");
  }
  if (m.rank != rounds_->leader() || !notified_) return;
  is_deaf_ = true;
  print("rank " + std::to_string(m.rank.value()) +
        " does not hear that other hosts are there (hvd.elastic); these are for the next restart");
}

// ---- from one round to the next

void ElasticJob::look() {
  if (joining_.is_reaching()) return;  // look() runs again when the hosts are reached
  const ElasticRounds::Step step = rounds_->look();
  if (const auto* next = std::get_if<ElasticRounds::Next>(&step)) {
    const auto again = [this] {
      if (deps_.machine.runs()) look();
    };
    if (joining_.are_ready(*next, again)) begin(*next);
    return;
  }
  if (rounds_->anyone_runs()) return;
  joining_.let_go();  // no worker is left to go on with
  if (std::holds_alternative<ElasticRounds::Continue>(step)) return;
  if (const auto* finished = std::get_if<ElasticRounds::Finished>(&step)) {
    return deps_.control.stop_for(Error(ErrorKind::Lost, "some workers have ended with status 0, and " +
                                                             std::to_string(finished->waiting) +
                                                             " wait to go on with them (hvd.elastic)"));
  }
  deps_.control.give_up(std::exchange(lost_, {}));
}

void ElasticJob::end_workers_on(const std::vector<HostId>& hosts) const {
  const JobOptions& options = deps_.context.options;
  const wire::Stop stop{options.stop.signal, transport::milliseconds(options.grace),
                        options.stop.target.value_or(SignalTarget::Group)};
  for (const fleet::Host& host : deps_.context.fleet.hosts()) {
    const bool is_one = std::find(hosts.begin(), hosts.end(), host.id) != hosts.end();
    if (is_one && host.runs()) host.session->end_workers(stop, transport::Afterwards::Stay);
  }
}

void ElasticJob::say_begin(const ElasticRounds::Next& round) const {
  const auto names = [this](const auto& hosts, auto id_of) {
    const std::vector<HostIndex> places = deps_.plan.map.places();
    std::vector<std::string> out;
    for (const auto& host : hosts) out.push_back(deps_.plan.map.hosts[places[id_of(host).value()].value()].host.name);
    return out;
  };
  const std::vector<std::string> out = names(round.out, [](HostId id) { return id; });
  const std::vector<std::string> in = names(round.joining, [](const auto& one) { return one.host; });
  std::string text;
  if (!out.empty()) text += fold_names(out) + (out.size() == 1 ? " is out; " : " are out; ");
  if (!in.empty()) {
    const std::size_t fresh = round.map.world_size() - round.members.size();
    text += pluralize(fresh, "worker") + (fresh == 1 ? " joins on " : " join on ") + fold_names(in) + "; ";
  }
  const std::size_t workers = round.members.size();
  print(text + std::to_string(workers) + (workers == 1 ? " worker goes" : " workers go") +
        " on with what its state has committed in memory: reset " + std::to_string(round.number));
}

// The store gets the addresses of joining hosts before their workers connect to it.
void ElasticJob::begin(const ElasticRounds::Next& round) {
  wire::HorovodRound message{.attempt = deps_.plan.job.attempt + 1,
                             .keys = wire::HorovodKeys::Forgotten,
                             .places = {},
                             .hosts = joining_.addresses(round)};
  for (const ElasticRounds::Next::Member& member : round.members) {
    message.places.push_back({rounds_->slot_of(member.rank), member.numbers});
  }
  for (const Rank rank : round.left) {
    deps_.workers.do_without(rank);
    message.places.push_back({rounds_->slot_of(rank), std::string(ElasticRounds::kRemoved)});
    endpoints_.erase(rank);
  }
  lost_.clear();
  notified_ = false;
  end_workers_on(round.out);
  deps_.context.fleet.first().session->send(message);
  rounds_->begin(round, Rank(deps_.plan.map.world_size()));
  note_failed_hosts(round);
  joining_.begin(round);
  say_begin(round);
}

}  // namespace sml::attempt
