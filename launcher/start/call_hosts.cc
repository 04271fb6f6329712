#include "launcher/start/call_hosts.h"

#include <string>
#include <utility>

#include "launcher/dialin/port.h"
#include "launcher/dialin/step_space.h"
#include "launcher/start/refusal.h"

namespace sml {

Result<os::UniqueFd> be_head_or_call(dialin::Settings& settings) {
  if (settings.port_taken == dialin::PortTaken::IsError) return os::UniqueFd();
  Result<std::optional<os::UniqueFd>> listener = dialin::listen_unless_taken(settings.port);
  if (!listener) return listener.error();
  if (*listener) return std::move(**listener);
  settings.own_index = 1;
  settings.place = dialin::PlaceRule::ChosenByHead;
  settings.part = "port " + std::to_string(settings.port) + " is taken on this host: the head is there, and is called";
  return os::UniqueFd();
}

std::optional<int> gather(dialin::Quorum& gathering, const Options& options, plan::LaunchPlan& plan,
                          dialin::Settings& settings, const PlanOfHosts& plan_of_hosts, os::UniqueFd listener) {
  if (!listener) {
    Result<os::UniqueFd> made = dialin::listen_on(settings.port);
    if (!made) return fail(options, made.error());
    listener = std::move(*made);
  }
  const Result<std::uint32_t> hosts = gathering.run({settings, std::move(listener), options.heartbeat_timeout});
  if (!hosts) {
    fail(options, hosts.error());
    return gathering.exit_code();
  }
  Result<plan::LaunchPlan> planned = plan_of_hosts(*hosts, gathering.shares());
  if (!planned) {
    gathering.give_up(planned.error());
    return fail(options, planned.error());
  }
  plan = std::move(*planned);
  settings.hosts.resize(*hosts);
  settings.least_hosts.reset();
  return std::nullopt;
}

Result<std::optional<dialin::CoordinatorPlan>> open_for_hosts(const Options& options,
                                                              const std::optional<dialin::Settings>& settings,
                                                              transport::PreLaunchTask* task,
                                                              std::shared_ptr<dialin::Coordinator> opened,
                                                              os::UniqueFd listener) {
  if (!settings || (settings->hosts.size() < 2 && !opened)) return std::optional<dialin::CoordinatorPlan>();
  if (opened) {
    return std::optional(
        dialin::CoordinatorPlan{*settings, os::UniqueFd(), options.heartbeat_timeout, task, std::move(opened)});
  }
  if (!listener) {
    Result<os::UniqueFd> made = dialin::listen_on(settings->port);
    if (!made) return made.error();
    listener = std::move(*made);
  }
  return std::optional(dialin::CoordinatorPlan{*settings, std::move(listener), options.heartbeat_timeout, task});
}

std::shared_ptr<dialin::Coordinator> head_of(std::optional<dialin::Quorum>& gathering, const Options& options) {
  const bool alone =
      options.dial_in.hosts == 1U && options.restart.discovery.callers == DiscoveryOptions::Callers::AtStart;
  return gathering && !alone ? gathering->take_head() : nullptr;
}

Result<os::UniqueFd> meet_others(dialin::Settings& settings, const Options& options, const ThisHost& here) {
  const bool detailed = options.verbosity == Verbosity::Verbose || options.check == Preflight::Yes;
  if (detailed) print("the hosts know each other by " + settings.proof);
  const auto tell = [&options](const std::string& text) {
    if (options.verbosity != Verbosity::Quiet) print(text);
  };
  os::UniqueFd listener;
  if (settings.space) {
    Result<os::UniqueFd> met = dialin::meet_in_space(settings, here.host_name, {options.start_timeout, tell});
    if (!met) return met;
    listener = std::move(*met);
  }
  return listener ? std::move(listener) : be_head_or_call(settings);
}

}  // namespace sml
