// Compares each version of a host list with the one before it: finds which hosts are new, which are no longer listed,
// and to which lost ones the job should connect again. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/strong.h"
#include "common/plan/ranks/job_map.h"

namespace sml::run {

class HostPool {
 public:
  // How long after the loss of a host that is still listed the job connects to it again; doubled each time, up to
  // kLongest.
  static constexpr Duration kAgain = std::chrono::seconds(60);
  static constexpr Duration kLongest = std::chrono::hours(1);

  // The first list has the hosts of `map`, that of the first plan. `slots`: the slots of a host for which a list gives
  // none; nullopt: as many as the first host has.
  HostPool(const plan::JobMap& map, std::optional<std::uint32_t> slots, TimePoint now);

  // The differences between a list and the one before it.
  struct News {
    std::vector<std::string> come;       // never listed before
    std::vector<std::string> back;       // listed again after they were withdrawn
    std::vector<std::string> withdrawn;  // no longer listed
    std::vector<std::string> resized;    // messages: the list gives the host another number of slots, which is ignored
    // the hosts to connect to now: new ones, with the next ids, and some that were lost
    std::vector<plan::MappedHost> added;
  };
  // Which hosts may be connected to now; the others wait for a later call.
  enum class MayConnect : std::uint8_t { Nobody, All };
  // Takes the next version of the list. `lost`: hosts that are lost and have no workers.
  News listed(const std::vector<plan::Host>& hosts, const std::vector<HostId>& lost, MayConnect may, TimePoint now);

  // The hosts that are not listed at present.
  std::vector<HostId> withdrawn() const;
  // Whether the list names no host but these.
  bool lists_only(const std::vector<HostId>& hosts) const;
  // The hosts added since the first list, by ascending id.
  const std::vector<plan::MappedHost>& newcomers() const { return newcomers_; }
  // When the list last changed.
  TimePoint changed() const { return changed_; }

 private:
  struct Known {
    plan::MappedHost host;
    bool is_listed = true;
    std::optional<TimePoint> again{};  // when to connect to it again; nullopt: it is not lost
    Duration pause = kAgain;           // before the next time
    std::uint32_t slots_said = 0;      // the other number of slots that `resized` has named last
  };
  Known* find(const std::string& name);
  void note_listed(Known& known, const plan::Host& host, News& news, TimePoint now);
  plan::MappedHost add(const plan::Host& host);

  std::vector<Known> known_;  // by HostId
  std::vector<plan::MappedHost> newcomers_;
  std::uint32_t slots_;
  TimePoint changed_;
};

}  // namespace sml::run
