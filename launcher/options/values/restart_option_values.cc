// Setters of option_values.h for restarts and their hosts.
#include "common/plan/machine/host.h"
#include "common/plan/ranks/rank_layout.h"
#include "launcher/options/values/option_values.h"
#include "launcher/options/values/value_reading.h"

namespace sml {

namespace {

using namespace std::chrono_literals;
using std::string_view;

}  // namespace

Result<void> set_max_restarts(Options& o, string_view value) {
  constexpr std::uint32_t kMost = 1'000'000;
  return store(o.restart.max, number(value, {0, kMost}));
}
Result<void> set_min_hosts(Options& o, string_view value) {
  return store(o.restart.least.hosts, number(value, {1, static_cast<std::uint32_t>(plan::kMaxHosts)}));
}
Result<void> set_min_np(Options& o, string_view value) {
  return store(o.restart.least.ranks, number(value, {1, plan::kMaxWorldSize}));
}
Result<void> set_restart_delay(Options& o, string_view value) {
  return store(o.restart.delay, RestartDelay::parse(value));
}

Result<void> set_max_fruitless(Options& o, string_view value) {
  constexpr std::uint32_t kMost = 1'000'000;
  return store(o.restart.most_without_progress, number(value, {0, kMost}));
}
Result<void> set_progress_file(Options& o, string_view value) {
  if (value.empty()) return bad_value(value, "the name of a file");
  return keep(o.restart.progress_file, value);
}

Result<void> set_discovery_script(Options& o, string_view value) {
  if (value.empty()) return bad_value(value, "a command, as for sh");
  return keep(o.restart.discovery.script, value);
}
Result<void> set_discovery_interval(Options& o, string_view value) {
  return store(o.restart.discovery.interval, duration(value, 10ms));
}
Result<void> set_elastic(Options& o, string_view value) {
  if (value != "horovod") return bad_value(value, "horovod");
  o.restart.elastic = Elastic::Horovod;
  return {};
}
Result<void> set_elastic_timeout(Options& o, string_view value) {
  return store(o.restart.discovery.wait, duration(value, 0ms));
}
Result<void> set_watch_hosts(Options& o, string_view) {
  o.restart.discovery.watch_hosts = DiscoveryOptions::Watch::Yes;
  return {};
}
Result<void> set_grow_after(Options& o, string_view value) {
  return store(o.restart.discovery.grow_after, duration(value, 0ms));
}
Result<void> set_max_np(Options& o, string_view value) {
  return store(o.restart.discovery.most_ranks, number(value, {1, plan::kMaxWorldSize}));
}

Result<void> set_health_check(Options& o, string_view value) {
  if (value.empty()) return bad_value(value, "a command, as for sh");
  return keep(o.restart.health_check, value);
}

Result<void> set_exclude_after(Options& o, string_view value) { return o.restart.exclude.read_after(value); }
Result<void> set_exclude_for(Options& o, string_view value) { return o.restart.exclude.read_cool_down(value); }
Result<void> set_exclude_file(Options& o, string_view value) {
  if (value.empty()) return bad_value(value, "the name of a file");
  return keep(o.restart.exclude.file, value);
}

Result<void> add_give_up(Options& o, string_view value) {
  const Result<std::vector<GiveUpRule>> rules = GiveUpRule::parse(value);
  if (!rules) return rules.error();
  o.restart.give_up.insert(o.restart.give_up.end(), rules->begin(), rules->end());
  return {};
}

}  // namespace sml
