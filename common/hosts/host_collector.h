// Hosts as they are read one after another, each machine once.
#pragma once
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/hosts/host_expression.h"
#include "common/plan/host.h"

namespace sml::hosts {

// A host that comes again adds its slots to the first, whose position stays; names are compared without regard to
// capitals, as the domain name system does, and addresses as numbers. Where no slots are named at all, being named
// again is a second slot, and then every mention of any host counts one.
class HostCollector {
 public:
  // For about `expected` hosts; more or fewer may come.
  explicit HostCollector(std::size_t expected = 0);
  HostCollector(const HostCollector&) = delete;  // known_ looks into hosts_
  HostCollector& operator=(const HostCollector&) = delete;
  ~HostCollector() = default;

  // How many more mentions are taken, those of the same host too: what is expanded stays bounded, however often a range
  // is repeated.
  std::size_t room() const { return plan::kMaxHosts - added_; }

  // Adds at most room() hosts. Errors (kind Usage) are clauses that go on after the quoted expression: once with and
  // once without slots; another user or port; too many slots.
  Result<void> add(plan::Host host);
  Result<void> add_each(AlikeHosts hosts);

  bool empty() const { return hosts_.empty(); }
  std::vector<plan::Host> take() &&;

 private:
  Result<void> merge(std::size_t index, const plan::Host& host);

  // In the set a host is its index in hosts_: a set of names is ten times as large, and each look a miss of the cache.
  struct HashOfName {
    const std::vector<plan::Host>& hosts;
    std::size_t operator()(std::uint32_t index) const;
  };
  struct SameName {
    const std::vector<plan::Host>& hosts;
    bool operator()(std::uint32_t a, std::uint32_t b) const;
  };

  std::size_t added_ = 0;
  bool mentions_count_ = false;  // a host without slots came again
  std::vector<plan::Host> hosts_;
  std::vector<std::uint32_t> unnamed_;  // of each host, the mentions without slots
  boost::unordered_flat_set<std::uint32_t, HashOfName, SameName> known_;
};

}  // namespace sml::hosts
