// Collects hosts that are read one after another, and merges those that are the same machine by their name.
#pragma once
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/plan/machine/host.h"
#include "launcher/hosts/host_expression.h"

namespace sml::hosts {

// A host that is added again adds its slots to the first one, whose position stays. Names are compared without regard
// to case, as in DNS, and IPv6 addresses by their value. If hosts without slots are repeated, each mention of a host
// counts as one slot.
class HostCollector {
 public:
  // `expected` is only an estimate of the number of hosts.
  explicit HostCollector(std::size_t expected = 0);
  HostCollector(const HostCollector&) = delete;  // known_ refers to hosts_
  HostCollector& operator=(const HostCollector&) = delete;
  ~HostCollector() = default;

  // The number of further mentions that may be added, repeated ones included: this bounds the work even if a range is
  // repeated many times.
  std::size_t room() const { return plan::kMaxHosts - added_; }

  // Adds at most room() hosts. Error messages (kind Usage) continue a sentence that begins with the quoted expression:
  // the host is named both with and without slots, with another user or port, or gets too many slots.
  Result<void> add(plan::Host host);
  Result<void> add_each(AlikeHosts hosts);

  bool empty() const { return hosts_.empty(); }
  // The hosts in the order of their first mention. If a host without slots was added more than once, each host without
  // slots gets its number of mentions; otherwise such hosts stay without.
  std::vector<plan::Host> take() &&;

 private:
  Result<void> merge(std::size_t index, const plan::Host& host);

  // The set holds indices in hosts_: a set of names would be ten times as large, and each look-up would miss the cache.
  struct HashOfName {
    const std::vector<plan::Host>& hosts;
    std::size_t operator()(std::uint32_t index) const;
  };
  struct SameName {
    const std::vector<plan::Host>& hosts;
    bool operator()(std::uint32_t a, std::uint32_t b) const;
  };

  std::size_t added_ = 0;
  bool mentions_count_ = false;  // a host without slots was repeated
  std::vector<plan::Host> hosts_;
  std::vector<std::uint32_t> unnamed_;  // for each host, the number of mentions without slots
  boost::unordered_flat_set<std::uint32_t, HashOfName, SameName> known_;
};

}  // namespace sml::hosts
