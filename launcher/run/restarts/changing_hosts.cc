#include "launcher/run/restarts/changing_hosts.h"

#include <algorithm>
#include <utility>

#include "common/core/text.h"
#include "launcher/plan/growth.h"
#include "launcher/plan/regroup.h"

namespace sml::run {

namespace {

bool contains(const std::vector<HostId>& list, HostId id) {
  return std::find(list.begin(), list.end(), id) != list.end();
}

std::string sentence(const std::vector<std::string>& names, std::string_view what) {
  return fold_names(names) + (names.size() == 1 ? " is " : " are ") + std::string(what);
}

}  // namespace

ChangingHosts::ChangingHosts(boost::asio::io_context& loop, const plan::JobMap& map, Deps deps)
    : deps_(std::move(deps)),
      options_(deps_.options),
      first_size_(map.world_size()),
      pool_(map, options_.discovery.slots, Clock::now()),
      discovery_(loop, options_.discovery, deps_.head, [this](const auto& hosts) { listed(hosts); }) {}

// Reports only the first of several failures in a row.
void ChangingHosts::failed(const Error& why) {
  if (!std::exchange(has_failed_, true)) deps_.printer.print(why.message() + "; the hosts stay as they were");
}

void ChangingHosts::listed(const Result<std::vector<plan::Host>>& hosts) {
  if (!hosts) return failed(hosts.error());
  if (hosts->empty()) return failed(Error(ErrorKind::Config, "the list of hosts is empty"));
  has_failed_ = false;
  const HostPool::News news = pool_.listed(*hosts, deps_.hosts.lost(), deps_.hosts.may_come(), Clock::now());
  announce(news);
  if (!news.come.empty() || !news.back.empty() || !news.withdrawn.empty()) {
    deps_.events.publish(report::HostListChanged{news.come, news.back, news.withdrawn});
  }
  for (const plan::MappedHost& host : news.added) deps_.hosts.come(host);
  deps_.hosts.look_for_growth();
}

// Hosts that call are reported as lost when they have gone, so only new ones are reported here.
void ChangingHosts::announce(const HostPool::News& news) const {
  if (options_.discovery.callers == DiscoveryOptions::Callers::AnyTime) {
    if (!news.come.empty())
      deps_.printer.print(fold_names(news.come) + (news.come.size() == 1 ? " has called" : " have called"));
    return;
  }
  if (!news.come.empty()) deps_.printer.print(sentence(news.come, "new in the list of hosts"));
  if (!news.back.empty()) deps_.printer.print(sentence(news.back, "in the list of hosts again"));
  if (!news.withdrawn.empty()) deps_.printer.print(sentence(news.withdrawn, "not in the list of hosts any more"));
  for (const std::string& text : news.resized) deps_.printer.print(text);
}

void ChangingHosts::add_newcomers(plan::JobMap& map) const {
  for (const plan::MappedHost& host : pool_.newcomers()) {
    if (host.id.value() >= map.hosts.size()) map.hosts.push_back(host);
  }
}

Result<plan::JobMap> ChangingHosts::next(plan::JobMap map, const std::vector<HostId>& out) const {
  return by(&ChangingHosts::without, std::move(map), out);
}

Result<plan::JobMap> ChangingHosts::next_round(plan::JobMap round, const std::vector<HostId>& out) const {
  return by(&ChangingHosts::round_without, std::move(round), out);
}

Result<plan::JobMap> ChangingHosts::by(Rule rule, plan::JobMap map, const std::vector<HostId>& out) const {
  add_newcomers(map);
  const std::vector<HostId> withdrawn = pool_.withdrawn();
  std::vector<HostId> all = out;
  all.insert(all.end(), withdrawn.begin(), withdrawn.end());
  Result<plan::JobMap> next = (this->*rule)(map, all);
  return next || withdrawn.empty() ? next : (this->*rule)(std::move(map), out);
}

// New hosts may replace those that are out.
Result<plan::JobMap> ChangingHosts::without(plan::JobMap map, const std::vector<HostId>& hosts) const {
  plan::let_back(map, hosts);
  if (!options_.discovery.is_on()) return plan::regroup(std::move(map), hosts, options_.least);
  const plan::LeastSize any{.hosts = 1, .ranks = {}};
  Result<plan::JobMap> some = plan::regroup(map, hosts, options_.least.may_shrink() ? any : options_.least);
  if (!some) return some;
  plan::JobMap grown = this->grown(std::move(*some), most());
  return is_enough(grown) ? Result<plan::JobMap>(std::move(grown))
                          : plan::regroup(std::move(map), hosts, options_.least);
}

plan::JobMap ChangingHosts::grown(plan::JobMap map, const plan::MostSize& most) const {
  std::vector<HostId> ready;
  const std::vector<HostId> withdrawn = pool_.withdrawn();
  for (const plan::MappedHost& host : map.hosts) {
    if (!contains(withdrawn, host.id) && deps_.hosts.is_ready(host.id)) ready.push_back(host.id);
  }
  return plan::grow(std::move(map), most, ready);
}

plan::MostSize ChangingHosts::most() const {
  const DiscoveryOptions& discovery = options_.discovery;
  return {options_.most_hosts, discovery.most_ranks, discovery.ranks_per_host, options_.spares};
}

bool ChangingHosts::is_enough(const plan::JobMap& map) const {
  return map.group_world_size() >= options_.least.hosts.value_or(1) &&
         map.world_size() >= options_.least.ranks.value_or(1);
}

// Waiting hosts do not take another host's place: the workers' state in memory is copied from the first of those that
// stay.
Result<plan::JobMap> ChangingHosts::round_without(plan::JobMap round, const std::vector<HostId>& hosts) const {
  for (plan::MappedHost& host : round.hosts) {
    if (host.duty == plan::HostDuty::Spare) host.duty = plan::HostDuty::Out;
  }
  const plan::JobMap before = round;
  Result<plan::JobMap> some = plan::regroup(std::move(round), hosts, {.hosts = 1, .ranks = {}});
  if (!some) return some;
  plan::let_back(*some, hosts);
  plan::JobMap next = options_.discovery.is_on() ? grown(std::move(*some), most()) : std::move(*some);
  plan::MostSize as_many = most();  // as the job had at first: that is what spares are for
  as_many.ranks = std::min(first_size_, as_many.ranks.value_or(first_size_));
  as_many.spares = 0;
  next = grown(std::move(next), as_many);
  return is_enough(next) ? Result<plan::JobMap>(std::move(next)) : plan::regroup(before, hosts, options_.least);
}

std::optional<Duration> ChangingHosts::wait_for(const Result<plan::JobMap>& next, TimePoint now) {
  if (next || !may_mend()) {
    wait_end_.reset();
    return std::nullopt;
  }
  if (!wait_end_) {
    wait_end_ = now + options_.discovery.wait;
    deps_.printer.print(next.error().message() + "; others are waited for, up to " +
                        format_duration(options_.discovery.wait) + " (--elastic-timeout)");
  }
  return now < *wait_end_ ? std::optional(options_.discovery.interval) : std::nullopt;
}

std::string ChangingHosts::reason_to_regroup(const plan::JobMap& now, const plan::JobMap& next, TimePoint at) const {
  const std::optional<Duration>& growth = options_.discovery.grow_after;
  const Duration quiet = at - pool_.changed();
  const std::vector<HostId> withdrawn = pool_.withdrawn();
  const std::vector<HostIndex> places = next.places();
  std::vector<std::string> gone;
  for (const plan::MappedHost& host : now.hosts) {
    const bool has_gone = contains(withdrawn, host.id) && next.hosts[places[host.id.value()].value()].ranks.empty();
    if (!host.ranks.empty() && has_gone) gone.push_back(host.host.name);
  }
  if (!gone.empty() && quiet >= growth.value_or(kQuiet)) return sentence(gone, "listed no more");
  const bool grows = growth && quiet >= *growth && next.world_size() > now.world_size();
  return grows ? "there are hosts for " + std::to_string(next.world_size()) + " ranks (--grow-after)" : "";
}

}  // namespace sml::run
