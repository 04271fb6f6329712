#include "launcher/hosts/host_collector.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "common/core/input_error.h"
#include "launcher/hosts/fields.h"

namespace sml::hosts {

namespace {

// Equal for names that denote the same host by their text alone; names are not resolved.
std::string key_of(const std::string& name) {
  in6_addr address{};
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool ipv6 = name.find(':') != std::string::npos && ::inet_pton(AF_INET6, name.c_str(), &address) == 1 &&
                    ::inet_ntop(AF_INET6, &address, text.data(), text.size()) != nullptr;
  return ipv6 ? text.data() : lower(name);
}

}  // namespace

std::size_t HostCollector::HashOfName::operator()(std::uint32_t index) const {
  return std::hash<std::string>()(key_of(hosts[index].name));
}

bool HostCollector::SameName::operator()(std::uint32_t a, std::uint32_t b) const {
  return key_of(hosts[a].name) == key_of(hosts[b].name);
}

HostCollector::HostCollector(std::size_t expected) : known_(0, HashOfName{hosts_}, SameName{hosts_}) {
  const std::size_t bounded = std::min(expected, plan::kMaxHosts);
  hosts_.reserve(bounded);
  unnamed_.reserve(bounded);
  known_.reserve(bounded);
}

Result<void> HostCollector::add(plan::Host host) {
  ++added_;
  const auto next = static_cast<std::uint32_t>(hosts_.size());
  hosts_.push_back(std::move(host));
  const auto [known, is_new] = known_.insert(next);
  if (is_new) {
    unnamed_.push_back(hosts_.back().slots ? 0 : 1);
    return {};
  }
  const plan::Host again = std::move(hosts_.back());
  hosts_.pop_back();
  return merge(*known, again);
}

Result<void> HostCollector::add_each(AlikeHosts hosts) {
  if (hosts.other_names.empty()) return add(std::move(hosts.first));
  Result<void> added = add(hosts.first);
  for (std::string& name : hosts.other_names) {
    if (!added) break;
    hosts.first.name = std::move(name);
    added = add(hosts.first);
  }
  return added;
}

Result<void> HostCollector::merge(std::size_t index, const plan::Host& host) {
  plan::Host& first = hosts_[index];
  if (first.slots.has_value() != host.slots.has_value()) {
    return usage_error("names {} again, once with and once without slots; give slots each time", first.name);
  }
  if (!host.user.empty() && !first.user.empty() && host.user != first.user) {
    return usage_error("names {} again with another user than {}", first.name, first.user);
  }
  if (host.port && first.port && host.port != first.port) {
    return usage_error(
        "names {} again with another port than {}; give each server behind one address a name of its own in the ssh "
        "config (Host, with HostName and Port)",
        first.name, *first.port);
  }
  if (first.user.empty()) first.user = host.user;
  if (!first.port) first.port = host.port;
  const std::uint32_t sum = host.slots ? *first.slots + *host.slots : ++unnamed_[index];
  if (sum > plan::kMaxSlotsPerHost) {
    return usage_error("brings {} to {} slots; a host has at most {}", first.name, sum, plan::kMaxSlotsPerHost);
  }
  if (host.slots) first.slots = sum;
  mentions_count_ = mentions_count_ || !host.slots;
  return {};
}

std::vector<plan::Host> HostCollector::take() && {
  if (mentions_count_) {
    for (std::size_t i = 0; i < hosts_.size(); ++i) hosts_[i].slots = hosts_[i].slots.value_or(unnamed_[i]);
  }
  return std::move(hosts_);
}

}  // namespace sml::hosts
