#include "launcher/run/restarts/next_hosts.h"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "common/core/clock.h"
#include "common/core/exit_status.h"
#include "launcher/hosts/exclude_list.h"
#include "launcher/run/restarts/exclude_file.h"

namespace sml::run {

namespace {

std::int64_t unix_seconds() {
  using std::chrono::seconds;
  return std::chrono::duration_cast<seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

bool lacks_processes(const ExitStatus& status) {
  const auto* failed = std::get_if<SpawnFailed>(&status);
  return failed != nullptr && failed->step == SpawnStep::Fork &&
         (failed->sys_errno == EAGAIN || failed->sys_errno == ENOMEM);
}

}  // namespace

std::vector<std::string> NextHosts::blame_unwell(const report::JobOutcome& verdict, const plan::JobMap& map,
                                                 const plan::JobMap& planned, const ChangingHosts& changing) {
  const bool unwell = verdict.root_cause != nullptr && lacks_processes(verdict.root_cause->status);
  if (verdict.by != report::FailureCause::Worker || !unwell) return {};
  const plan::MappedHost& host = map.hosts[map.ranks[verdict.root_cause->rank.value()].host.value()];
  unwell_.push_back(host.id);
  if (after(planned, changing)) return {host.host.name + " is out: it is not well, no worker can be started there"};
  unwell_.pop_back();
  return {};
}

std::vector<std::string> NextHosts::blame(const report::JobOutcome& verdict, const plan::JobMap& map) {
  if (verdict.by != report::FailureCause::Worker || verdict.root_cause == nullptr) return {};
  const HostIndex index = map.ranks[verdict.root_cause->rank.value()].host;
  const plan::MappedHost& host = map.hosts[index.value()];
  const std::optional<std::uint32_t> failures = exclusion_.failed(host.id, Clock::now());
  if (!failures) return {};
  const std::string why =
      std::to_string(*failures) + (*failures == 1 ? " attempt has" : " attempts have") + " failed there";
  events_.publish(report::HostExcluded{index, *failures});
  const std::string& file = options_.exclude.file;
  if (!file.empty()) {
    const std::string words = why + "; " + report::in_words(verdict);
    files_.write("--exclude-file", [file, line = hosts::exclude_line(host.host.name, unix_seconds(), words)] {
      return append_line(file, line);
    });
  }
  return {host.host.name + " is out: " + why + " (--exclude-after)"};
}

void NextHosts::blame(const std::vector<HostId>& hosts) {
  for (const HostId host : hosts) static_cast<void>(exclusion_.failed(host, Clock::now()));
}

std::vector<HostId> NextHosts::out() const {
  std::vector<HostId> out = fleet_.lost();
  const std::vector<HostId> excluded = exclusion_.out(Clock::now());
  out.insert(out.end(), excluded.begin(), excluded.end());
  out.insert(out.end(), unwell_.begin(), unwell_.end());
  return out;
}

Result<plan::JobMap> NextHosts::after(plan::JobMap map, const ChangingHosts& changing) const {
  return changing.next(std::move(map), out());
}

Result<plan::JobMap> NextHosts::after_round(plan::JobMap round, std::vector<HostId> out,
                                            const ChangingHosts& changing) const {
  const std::vector<HostId> others = this->out();
  out.insert(out.end(), others.begin(), others.end());
  return changing.next_round(std::move(round), out);
}

bool NextHosts::all_are_out_for_good(const ChangingHosts& changing) const {
  const bool for_good = options_.elastic == Elastic::Horovod && !options_.exclude.cool_down;
  return for_good && changing.lists_only(exclusion_.out(Clock::now()));
}

}  // namespace sml::run
