#include "common/hosts/host_collector.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/hosts/fields.h"

namespace sml::hosts {

namespace {

Error bad(std::string clause) { return Error(ErrorKind::Usage, std::move(clause)); }

// Equal for names that are the same host by their letters alone: nothing is resolved.
std::string key_of(const std::string& name) {
  in6_addr address{};
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool ipv6 = name.find(':') != std::string::npos && ::inet_pton(AF_INET6, name.c_str(), &address) == 1 &&
                    ::inet_ntop(AF_INET6, &address, text.data(), text.size()) != nullptr;
  return ipv6 ? text.data() : lower(name);
}

}  // namespace

HostCollector::HostCollector(std::size_t expected) {
  const std::size_t bounded = std::min(expected, plan::kMaxHosts);
  hosts_.reserve(bounded);
  known_.reserve(bounded);
}

Result<void> HostCollector::add(plan::Host host) {
  ++added_;
  const std::uint32_t unnamed = host.slots ? 0 : 1;
  const auto [known, is_new] = known_.try_emplace(key_of(host.name), Mentions{hosts_.size(), unnamed});
  if (!is_new) return merge(known->second, host);
  hosts_.push_back(std::move(host));
  return {};
}

Result<void> HostCollector::merge(Mentions& known, const plan::Host& host) {
  plan::Host& first = hosts_[known.index];
  if (first.slots.has_value() != host.slots.has_value()) {
    return bad(fmt::format("names {} again, once with and once without slots; give slots each time", first.name));
  }
  if (!host.user.empty() && !first.user.empty() && host.user != first.user) {
    return bad(fmt::format("names {} again with another user than {}", first.name, first.user));
  }
  if (host.port && first.port && host.port != first.port) {
    return bad(fmt::format("names {} again with another port than {}", first.name, *first.port));
  }
  if (first.user.empty()) first.user = host.user;
  if (!first.port) first.port = host.port;
  const std::uint32_t sum = host.slots ? *first.slots + *host.slots : ++known.unnamed;
  if (sum > plan::kMaxSlotsPerHost) {
    return bad(fmt::format("brings {} to {} slots; a host has at most {}", first.name, sum, plan::kMaxSlotsPerHost));
  }
  if (host.slots) first.slots = sum;
  mentions_count_ = mentions_count_ || !host.slots;
  return {};
}

std::vector<plan::Host> HostCollector::take() && {
  if (mentions_count_) {
    for (const auto& [key, mentions] : known_) {
      plan::Host& host = hosts_[mentions.index];
      host.slots = host.slots.value_or(mentions.unnamed);
    }
  }
  return std::move(hosts_);
}

}  // namespace sml::hosts
