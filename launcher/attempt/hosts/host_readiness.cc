#include "launcher/attempt/hosts/host_readiness.h"

#include <algorithm>
#include <utility>

#include "common/core/text.h"
#include "common/plan/environment/secrets.h"
#include "launcher/attempt/session_plans.h"

namespace sml::attempt {

// Prints which secrets are withheld, once, as soon as there is a host that does not receive them.
void HostReadiness::greet(const fleet::Host& host) {
  if (host.session->contact().is_local || options_.verbosity == Verbosity::Quiet) return;
  if (std::exchange(told_of_secrets_, true)) return;
  const std::vector<std::string> names = withheld_secrets(plan_);
  if (!names.empty()) owner_.print(plan::say_withheld(names));
}

void HostReadiness::prepared(const fleet::Host& host, const wire::Prepared& message) {
  constexpr std::size_t kLongest = 500;
  of(host).prepared = message.errors.empty();
  limits_.push_back({host.name(), message.limits});
  const std::string on_host = " on " + host.name();
  for (const wire::Bound& bound : message.bindings) {
    const std::string where = bound.where.empty() ? "is not bound" : "is bound to " + show(bound.where, kLongest);
    owner_.print("rank " + std::to_string(bound.rank.value()) + on_host + " " + where);
  }
  if (options_.verbosity == Verbosity::Quiet) return;
  for (const std::string& warning : message.warnings)
    owner_.print("warning: " + host.name() + ": " + show(warning, kLongest));
}

void HostReadiness::look_if_ready(const fleet::Host& host) {
  const bool ready = of(host).prepared && health_.passed(host) && !of(host).failed;
  if (ready && !std::exchange(of(host).ready, true)) events_.publish(report::HostReady{host.id});
  if (ready && all_ready()) compare_limits();
}

// Only before the workers start for the first time.
void HostReadiness::compare_limits() {
  const std::vector<report::HostLimits> all = std::exchange(limits_, {});
  if (plan_.job.attempt > 0 || options_.verbosity == Verbosity::Quiet) return;
  const std::string words = report::limit_differences(all);
  if (!words.empty()) owner_.print("warning: " + words);
}

void HostReadiness::fail(const fleet::Host& host) {
  of(host).ready = false;
  of(host).failed = true;
}

bool HostReadiness::all_ready() const {
  return std::all_of(hosts_.begin(), hosts_.end(), [](const auto& host_of) { return host_of.second.ready; });
}

bool HostReadiness::all_settled() const {
  return std::all_of(hosts_.begin(), hosts_.end(), [](const auto& h) { return h.second.ready || h.second.failed; });
}

std::string HostReadiness::awaited_step(const fleet::Host& host) const {
  const bool only_that = of(host).prepared && !health_.passed(host);
  return only_that ? "checking its health" : host.session->awaited();
}

void HostReadiness::say_whom_we_await() {
  const TimePoint now = Clock::now();
  if (options_.verbosity == Verbosity::Quiet || now < pace_.due()) return;
  pace_.printed(now);
  const std::string so_far = format_duration(std::chrono::floor<std::chrono::seconds>(pace_.waited(now))) + " of " +
                             format_duration(options_.start_timeout);
  std::map<std::string, std::vector<std::string>> by_step;
  for (const fleet::Host& host : fleet_.hosts()) {
    if (!of(host).ready) by_step[awaited_step(host)].push_back(host.name());
  }
  for (const auto& [step, names] : by_step) {
    owner_.print("waiting for " + fold_names(names) + " (" + step + "), " + so_far);
  }
  if (by_step.contains(std::string(transport::kShellIsSilent)) && !std::exchange(told_of_silent_shells_, true))
    owner_.print("hint: " + std::string(fleet::kSilentShellHint));
}

std::vector<const fleet::Host*> HostReadiness::fail_late() {
  std::vector<const fleet::Host*> late;
  for (const fleet::Host& host : fleet_.hosts()) {
    if (of(host).ready || of(host).failed) continue;
    of(host).failed = true;
    late.push_back(&host);
  }
  return late;
}

}  // namespace sml::attempt
