#include "launcher/inputs/stop_grace.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "common/core/text.h"

namespace sml {

namespace {

struct Platform {
  std::string_view name;
  Duration limit;                                                           // from its TERM to its KILL
  Duration at_most;                                                         // of that, what workers may have
  enum class Limit : std::uint8_t { Fixed, OfThePod } kind = Limit::Fixed;  // OfThePod: may be set to another
};

std::optional<Platform> platform_of(const Options& options, const ThisHost& here, HostFinder& finder) {
  using std::chrono::seconds;
  const bool trains = options.mode == Mode::Train;
  // Hosts that are reached, rather than calling, may be on any platform.
  const bool told_to_call = options.dial_in.place || !options.dial_in.head.empty();
  if (!trains && !told_to_call && !finder.hosts_call(options)) return std::nullopt;
  if (!variable(here, "AWS_BATCH_JOB_ID").empty()) return Platform{"AWS Batch", seconds(30), seconds(20)};
  if (!variable(here, "KUBERNETES_SERVICE_HOST").empty()) {
    return Platform{"Kubernetes", seconds(30), seconds(20), Platform::Limit::OfThePod};
  }
  if (trains) return Platform{"SageMaker", seconds(120), seconds(100)};
  return std::nullopt;
}

}  // namespace

void choose_start_timeout(Options& options, HostFinder& finder) {
  const bool late = options.ssh.absent_hosts != AbsentHosts::Fail && finder.may_be_late(options);
  if (late) options.ssh.absent_hosts = AbsentHosts::AreAwaited;
  if (!options.start_timeout_given && (late || finder.hosts_call(options))) options.start_timeout = kContainersStart;
}

std::vector<std::string> choose_stop_grace(Options& options, const ThisHost& here, HostFinder& finder) {
  const std::optional<Platform> platform = platform_of(options, here, finder);
  if (!platform) return {};
  if (options.stop_grace && platform->kind == Platform::Limit::OfThePod) return {};
  const Duration wanted = options.stop_grace.value_or(platform->at_most);
  options.stop_grace = std::min(wanted, platform->at_most);
  if (wanted <= platform->at_most) return {};
  return {fmt::format("--stop-grace: {} kills what has not ended after {}; workers get {}", platform->name,
                      format_duration(platform->limit), format_duration(platform->at_most))};
}

}  // namespace sml
