// What a list of hosts that changes has said so far: who has come, who is not in it any more. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/strong.h"
#include "common/plan/job_map.h"

namespace sml::run {

class HostPool {
 public:
  // How long after it was lost a host that is listed is reached again; twice as long each time, up to the second.
  static constexpr Duration kAgain = std::chrono::seconds(60);
  static constexpr Duration kLongest = std::chrono::hours(1);

  // The hosts of the first plan are those of the first list. `slots`: of a host for which the list names none; nothing:
  // as the first has.
  HostPool(const plan::JobMap& map, std::optional<std::uint32_t> slots, TimePoint now);

  // What a further list says that the one before did not.
  struct News {
    std::vector<std::string> come;        // no list has had them
    std::vector<std::string> back;        // they were withdrawn
    std::vector<std::string> withdrawn;   // they are listed no more
    std::vector<std::string> resized;     // sentences: the list has other slots for them
    std::vector<plan::MappedHost> reach;  // these, now: those that come, with ids that follow, and some that were lost
  };
  // Who may be reached now; the others are at a later call.
  enum class Reach : std::uint8_t { Nobody, All };
  // `lost`: hosts that are, and have no workers.
  News listed(const std::vector<plan::Host>& hosts, const std::vector<HostId>& lost, Reach may, TimePoint now);

  // Nobody lists them now.
  std::vector<HostId> withdrawn() const;
  // Those that have come, ids ascending.
  const std::vector<plan::MappedHost>& newcomers() const { return newcomers_; }
  // When the list was another one for the last time.
  TimePoint changed() const { return changed_; }

 private:
  struct Known {
    plan::MappedHost host;
    bool is_listed = true;
    std::optional<TimePoint> again{};  // when it is reached again; nothing: it is not lost
    Duration pause = kAgain;
    std::uint32_t slots_said = 0;  // in the place of its own
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
