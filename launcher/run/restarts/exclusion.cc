#include "launcher/run/restarts/exclusion.h"

#include <algorithm>

namespace sml::run {

std::optional<std::uint32_t> Exclusion::failed(HostId host, TimePoint now) {
  if (options_.after == 0) return std::nullopt;
  OfHost& of = hosts_[host];
  if (is_out(of, now)) return std::nullopt;
  of.failures.push_back(now);
  if (options_.within) std::erase_if(of.failures, [&](TimePoint at) { return at <= now - *options_.within; });
  const auto count = static_cast<std::uint32_t>(of.failures.size());
  if (count < options_.after) return std::nullopt;
  of.failures.clear();
  of.out_since = now;
  ++of.times_out;
  return count;
}

bool Exclusion::is_out(const OfHost& host, TimePoint now) const {
  const std::optional<Duration> cool_down = options_.cool_down_of(host.times_out);
  return host.out_since && (!cool_down || now < *host.out_since + *cool_down);
}

std::vector<HostId> Exclusion::out(TimePoint now) const {
  std::vector<HostId> out;
  for (const auto& [id, host] : hosts_) {
    if (is_out(host, now)) out.push_back(id);
  }
  return out;
}

}  // namespace sml::run
