// Counts the failures of each host, and decides which hosts the job excludes for them (--exclude-after) and for how
// long (--exclude-for). RestartController also leaves out hosts that are lost or unwell. Pure.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/strong.h"
#include "launcher/options/restart_options.h"

namespace sml::run {

class Exclusion {
 public:
  // `options` must outlive this.
  explicit Exclusion(const ExcludeOptions& options) : options_(options) {}

  // Records a failure of that host: a worker there was the root cause of a failed attempt, or an elastic job has gone
  // on without the host since workers failed there. If this excludes the host, returns the number of failures that led
  // to it; nullopt: the host is not excluded, or was already, and then the failure does not count.
  std::optional<std::uint32_t> failed(HostId host, TimePoint now);
  // The hosts that are excluded at `now`.
  std::vector<HostId> out(TimePoint now) const;

 private:
  struct OfHost {
    std::vector<TimePoint> failures;     // since it was last excluded
    std::optional<TimePoint> out_since;  // the last exclusion, which may be over; nullopt: never excluded
    std::uint32_t times_out = 0;         // the number of exclusions
  };
  bool is_out(const OfHost& host, TimePoint now) const;

  const ExcludeOptions& options_;
  std::map<HostId, OfHost> hosts_;
};

}  // namespace sml::run
