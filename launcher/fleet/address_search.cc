#include "launcher/fleet/address_search.h"

#include <algorithm>
#include <utility>

#include "launcher/transport/session/wire_time.h"

namespace sml::fleet {

namespace {

bool contains_all(const std::vector<std::string>& list, const std::vector<std::string>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&list](const auto& one) { return std::count(list.begin(), list.end(), one) > 0; });
}

}  // namespace

AddressSearch::AddressSearch(std::span<const Host> hosts, std::string wanted)
    : hosts_(hosts), wanted_(std::move(wanted)) {
  for (const Host& host : hosts) asked_[host.id] = {};
}

std::vector<std::string> AddressSearch::candidates() const {
  return candidate_addresses(wanted_, known_addresses(hosts_.front()), locals_);
}

void AddressSearch::add_host(const Host& host) {
  const std::string& local = host.session->contact().local_address;
  if (host.runs() && std::find(locals_.begin(), locals_.end(), local) == locals_.end()) locals_.push_back(local);
}

void AddressSearch::begin(std::uint16_t port) {
  port_ = port;
  for (const Host& host : hosts_) add_host(host);
  for (const Host& host : hosts_) ask(host);
}

void AddressSearch::ask(const Host& host) {
  Asked& asked = asked_[host.id];
  add_host(host);
  if (port_ == 0 || is_first(host) || !host.runs() || asked.candidates) return;
  std::vector<std::string> now = candidates();
  if (!last_candidates_ || *last_candidates_ != now) {
    last_candidates_ = std::make_shared<const std::vector<std::string>>(std::move(now));
  }
  asked.candidates = last_candidates_;
  host.session->send(wire::Probe{*asked.candidates, port_, transport::milliseconds(kProbeTimeout)});
}

bool AddressSearch::ask_again() {
  const std::vector<std::string> all = candidates();
  bool some = false;
  for (const Host& host : hosts_) {
    Asked& asked = asked_[host.id];
    if (!asked.candidates || contains_all(*asked.candidates, all)) continue;
    asked = {};
    ask(host);
    some = true;
  }
  return some;
}

void AddressSearch::note(const Host& host, const wire::Probed& answer) {
  asked_[host.id].answer = HostProbe{host.index, answer.results};
}

std::optional<ChosenAddress> AddressSearch::outcome(Of hosts) const {
  const auto is_awaited = [this, hosts](const Host& host) {
    if (is_first(host) || has_answered(host)) return false;
    return hosts == Of::All || host.runs();
  };
  if (std::any_of(hosts_.begin(), hosts_.end(), is_awaited)) return std::nullopt;
  std::vector<HostProbe> answers;
  for (const Host& host : hosts_) {
    if (has_answered(host)) answers.push_back(*asked_.at(host.id).answer);
  }
  if (answers.empty()) return ChosenAddress{};
  return choose_address(candidates(), answers, hosts_.front().name(), port_);
}

std::string AddressSearch::address_of_lone_host() const {
  const bool asked = !wanted_.empty() || !hosts_.front().chosen_addresses.empty();
  return asked ? candidates().front() : "127.0.0.1";
}

}  // namespace sml::fleet
