// Hosts as they are read one after another, each machine once.
#pragma once
#include <boost/unordered/unordered_flat_map.hpp>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/plan/host.h"

namespace sml::hosts {

// A host that comes again adds its slots to the first, whose position stays; names are compared without regard to
// capitals, as the domain name system does, and addresses as numbers. Where no slots are named at all, being named
// again is a second slot, and then every mention of any host counts one.
class HostCollector {
 public:
  // For about `expected` hosts; more or fewer may come.
  explicit HostCollector(std::size_t expected = 0);

  // How many more mentions are taken, those of the same host too: what is expanded stays bounded, however often a range
  // is repeated.
  std::size_t room() const { return plan::kMaxHosts - added_; }

  // Adds at most room() hosts. Errors (kind Usage) are clauses that go on after the quoted expression: once with and
  // once without slots; another user or port; too many slots.
  Result<void> add(plan::Host host);

  bool empty() const { return hosts_.empty(); }
  std::vector<plan::Host> take() &&;

 private:
  struct Mentions {
    std::size_t index;
    std::uint32_t unnamed;  // without slots
  };
  Result<void> merge(Mentions& known, const plan::Host& host);

  std::size_t added_ = 0;
  bool mentions_count_ = false;  // a host without slots came again
  std::vector<plan::Host> hosts_;
  boost::unordered_flat_map<std::string, Mentions> known_;
};

}  // namespace sml::hosts
