#include "launcher/dialin/coordinator/connection_limiter.h"

#include <algorithm>
#include <array>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace sml::dialin {

namespace {

constexpr std::size_t kMostSources = 4096;
constexpr std::size_t kNetworkBytes = 8;

}  // namespace

std::string source_of(const std::string& address) {
  in6_addr v6{};
  if (::inet_pton(AF_INET6, address.substr(0, address.find('%')).c_str(), &v6) != 1) return address;
  std::fill(std::begin(v6.s6_addr) + kNetworkBytes, std::end(v6.s6_addr), 0);
  std::array<char, INET6_ADDRSTRLEN> text{};
  return ::inet_ntop(AF_INET6, &v6, text.data(), text.size()) == nullptr ? address : std::string(text.data()) + "/64";
}

std::optional<ConnectionLimiter::Admission> ConnectionLimiter::knock(const std::string& address, TimePoint now) {
  const std::string source = source_of(address);
  const auto penalty = penalty_.find(source);
  if (penalty != penalty_.end() && penalty->second > now + kTolerated) return std::nullopt;
  const auto of_it =
      std::count_if(callers_.begin(), callers_.end(), [&](const Caller& c) { return c.source == source; });
  if (static_cast<std::size_t>(of_it) >= kMostOfOne) return std::nullopt;
  Admission admission{next_++, std::nullopt};
  if (callers_.size() >= kMost) {
    admission.displaced = callers_.front().id;
    left(callers_.front().id, now);
  }
  callers_.push_back({admission.id, source});
  return admission;
}

void ConnectionLimiter::settled(Id id) {
  const auto caller = std::find_if(callers_.begin(), callers_.end(), [id](const Caller& c) { return c.id == id; });
  if (caller == callers_.end()) return;
  penalty_.erase(caller->source);
  callers_.erase(caller);
}

void ConnectionLimiter::left(Id id, TimePoint now) {
  const auto caller = std::find_if(callers_.begin(), callers_.end(), [id](const Caller& c) { return c.id == id; });
  if (caller == callers_.end()) return;
  punish(caller->source, now);
  callers_.erase(caller);
}

void ConnectionLimiter::punish(const std::string& source, TimePoint now) {
  if (penalty_.size() >= kMostSources && !penalty_.contains(source)) forget(now);
  TimePoint& until = penalty_[source];
  until = std::min(std::max(until, now) + kPenalty, now + kLongest);
}

// Drops expired penalties; drops all if there are still too many sources.
void ConnectionLimiter::forget(TimePoint now) {
  std::erase_if(penalty_, [now](const auto& one) { return one.second <= now; });
  if (penalty_.size() >= kMostSources) penalty_.clear();
}

}  // namespace sml::dialin
