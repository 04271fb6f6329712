// Which hosts are out because attempts have failed on them. Pure.
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
  // `options` outlive this.
  explicit Exclusion(const ExcludeOptions& options) : options_(options) {}

  // An attempt has failed, and its root cause was on that host. A number: it is out, after so many.
  std::optional<std::uint32_t> failed(HostId host, TimePoint now);
  // Those that are out now.
  std::vector<HostId> out(TimePoint now) const;

 private:
  struct OfHost {
    std::vector<TimePoint> failures;  // since it was out
    std::optional<TimePoint> out_since;
  };
  bool is_out(const OfHost& host, TimePoint now) const;

  const ExcludeOptions& options_;
  std::map<HostId, OfHost> hosts_;
};

}  // namespace sml::run
