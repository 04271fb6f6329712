#include "launcher/inputs/hosts/start_by.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "common/core/text.h"
#include "launcher/hosts/fields.h"
#include "launcher/starters/starters.h"

namespace sml {

namespace {

using hosts::first_label;
using starters::Starter;

bool is_remote(const plan::MappedHost& host, const ThisHost& here) {
  return host.host.name != "localhost" && first_label(host.host.name) != first_label(here.names.own);
}

bool has_remote(const plan::LaunchPlan& plan, const ThisHost& here) {
  return std::any_of(plan.map.hosts.begin(), plan.map.hosts.end(),
                     [&here](const plan::MappedHost& host) { return is_remote(host, here); });
}

// A clause that names what describes a log-in; empty if nothing does.
std::string ssh_option_given(const plan::LaunchPlan& plan, const SshOptions& ssh) {
  if (!ssh.command.empty()) return "--ssh-command is given";
  if (gives_ssh_options(ssh)) return "options for SSH are given";
  const auto is_account = [](const plan::MappedHost& m) { return !m.host.user.empty() || m.host.port; };
  const auto account = std::find_if(plan.map.hosts.begin(), plan.map.hosts.end(), is_account);
  if (account == plan.map.hosts.end()) return {};
  return fmt::format("a {} is given for {}", account->host.user.empty() ? "port" : "user", show(account->host.name));
}

bool in_job_of(const Starter& starter, const ThisHost& here) {
  return !starter.job_variable.empty() && !variable(here, starter.job_variable).empty();
}

// The first host that is not in the job of that system; empty if all are. Null: the system does not name its hosts.
std::optional<std::string> outsider(const plan::LaunchPlan& plan, const std::optional<plan::HostList>& job,
                                    const ThisHost& here) {
  if (!job) return std::nullopt;
  std::set<std::string> names;
  for (const plan::Host& host : job->hosts) names.insert(first_label(host.name));
  for (const plan::MappedHost& mapped : plan.map.hosts) {
    if (is_remote(mapped, here) && !names.contains(first_label(mapped.host.name))) return mapped.host.name;
  }
  return std::string();
}

plan::AgentStart by_ssh(std::string because) { return {std::string(starters::kSsh), std::move(because)}; }

Error refused(std::string_view name, std::string_view why) {
  return {ErrorKind::Usage, fmt::format("--start-by {}: {}", name, why)};
}

Result<plan::AgentStart> start_by_name(const plan::LaunchPlan& plan, const Options& options, const ThisHost& here) {
  const std::string& name = options.start_by;
  if (name == starters::kSsh) return by_ssh("--start-by asks for it");
  if (const std::string option = ssh_option_given(plan, options.ssh); !option.empty()) {
    return refused(name, fmt::format("{}, of which {} has no use; leave one of the two out", option,
                                     starters::way_in_words(name)));
  }
  const Starter* starter = starters::find_starter(name);
  if (starter != nullptr && !starter->job_variable.empty() && !in_job_of(*starter, here)) {
    return refused(name, fmt::format("sml-run does not run in a job of {}, as {} is not set", starter->system,
                                     starter->job_variable));
  }
  return plan::AgentStart{name, "--start-by asks for it"};
}

// The first starter whose system has this job and all its hosts. Warns where only its tool is missing.
plan::AgentStart start_by_job(plan::LaunchPlan& plan, const Options& options, const ThisHost& here,
                              HostFinder& finder) {
  if (const std::string option = ssh_option_given(plan, options.ssh); !option.empty()) return by_ssh(option);
  std::string because = "this is no job of a batch system that has a starter";
  for (const Starter* starter : starters::all_starters()) {
    if (!in_job_of(*starter, here)) continue;
    const std::optional<std::string> other = outsider(plan, finder.hosts_of_job(starter->host_source, options), here);
    if (!other) continue;
    if (!other->empty()) {
      because = fmt::format("{} is not in the job of {}", show(*other), starter->system);
      continue;
    }
    if (here.programs.has_tool && !here.programs.has_tool(*starter)) {
      plan.warnings.push_back(
          fmt::format("this is a job of {}, but there is no {} in PATH to start the other hosts "
                      "with; SSH is used; --start-by ssh avoids this line",
                      starter->system, starter->tool));
      return by_ssh(fmt::format("there is no {} in PATH", starter->tool));
    }
    return {std::string(starter->name), fmt::format("this is a job of {}", starter->system)};
  }
  return by_ssh(std::move(because));
}

}  // namespace

Result<void> choose_start(plan::LaunchPlan& plan, const Options& options, const ThisHost& here, HostFinder& finder) {
  if (plan.calls || !has_remote(plan, here)) return {};
  if (options.start_by == starters::kAuto) {
    plan.start = start_by_job(plan, options, here, finder);
    return {};
  }
  Result<plan::AgentStart> start = start_by_name(plan, options, here);
  if (!start) return start.error();
  plan.start = std::move(*start);
  return {};
}

}  // namespace sml
