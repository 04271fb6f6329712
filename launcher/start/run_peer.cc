#include "launcher/start/run_peer.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/attempt/session_plans.h"
#include "launcher/dialin/peer/dialler.h"
#include "launcher/plan/regroup.h"
#include "launcher/run/rank_logs.h"
#include "launcher/run/watch/failure_file.h"
#include "launcher/sagemaker/failure_text.h"

namespace sml {

namespace {

using std::string_view;

void leave_text(const Options& options, const std::string& text, const std::function<void(const std::string&)>& print) {
  if (options.failure.path.empty() || text.empty()) return;
  if (const Result<void> left = leave_failure(options.failure.path, text); !left) print(left.error().message());
}

// ---- this host's part, checked against what the coordinator sends

std::vector<wire::RankVariables> variables_with(string_view any_address, const plan::LaunchPlan& plan,
                                                const plan::MappedHost& host) {
  const std::vector<std::string> addresses(plan.map.hosts.size(), std::string(any_address));
  const std::vector<plan::PresetPort> ports = plan::preset_ports(plan.presets, plan.map);
  return attempt::preset_variables(plan, host, {addresses, ports, plan.launcher_environment});
}

// With a window the budget is renewed, and an attempt that loses a host before its workers start uses none of it.
dialin::AttemptLimit attempts_of(const RestartOptions& restart) {
  const bool any = restart.max > 0 && (restart.window || restart.outlives_hosts());
  return any ? dialin::kAnyAttempt : restart.max + 1;
}

// Makes this host's part as Attempt and Check make it for other hosts.
std::optional<dialin::ExpectedPlan> own_part(const Options& options, const plan::LaunchPlan& planned,
                                             std::uint32_t own_index, const dialin::AttemptParameters& choice) {
  if (own_index >= planned.map.hosts.size()) return std::nullopt;
  Result<plan::JobMap> map = planned.map;
  if (!choice.order.empty()) map = plan::arrange(std::move(*map), choice.order);
  if (map && !choice.order.empty()) map = plan::regroup(std::move(*map), choice.idle, options.restart.least);
  if (!map) return std::nullopt;
  const plan::LaunchPlan plan =
      plan::for_attempt(planned, std::move(*map), choice.attempt - 1, choice.restarts, choice.job_id);
  const plan::MappedHost& here = plan.map.hosts[plan.map.places()[own_index].value()];
  const attempt::SessionSettings settings = options.check == Preflight::Yes
                                                ? attempt::settings_for_check(options, plan.map)
                                                : attempt::settings_for(options, plan.map);
  std::vector<transport::AgentSession::Plan> sessions = attempt::session_plans(plan, settings);
  if (here.duty != plan::HostDuty::Work) sessions.push_back(attempt::spare_plan(here, plan, settings));
  const auto own = std::find_if(sessions.begin(), sessions.end(),
                                [&](const transport::AgentSession::Plan& s) { return s.host == HostId(own_index); });
  if (own == sessions.end()) return std::nullopt;
  std::optional<run::RankLogs> logs;  // own->prepare refers to it
  if (options.logs.place == LogPlace::Hosts) {
    LogOptions of_agents = options.logs;
    of_agents.matched = {};  // the head writes these, perhaps into the same folder
    Result<run::RankLogs> of_ranks = run::RankLogs::plan(of_agents, options.output, plan);
    if (!of_ranks) return std::nullopt;
    logs = std::move(*of_ranks);
    logs->instruct(*own);
  }
  dialin::ExpectedPlan part{.host = own->name,
                            .prepare = own->prepare(transport::AgentPlace::Remote),
                            .starts = options.check == Preflight::Yes ? dialin::Starts::No : dialin::Starts::Yes,
                            .torch_store = plan.torch_store,
                            .health_check = options.restart.health_check,
                            .variables = {}};
  for (std::size_t i = 0; i < part.variables.size(); ++i) {
    part.variables[i] = variables_with(dialin::kAnyAddress[i], plan, here);
  }
  return part;
}

// Whether a plan may have that many hosts. New hosts replace others, which keep their numbers; the greeting does not
// name the hosts that have gone.
bool may_be(std::uint32_t hosts, const dialin::AttemptParameters& choice, const dialin::Settings& settings) {
  constexpr std::size_t kMostGone = 4096;
  const std::size_t idle = choice.idle.size();
  const std::size_t most = settings.hosts.size();
  if (settings.needs_all() || hosts > most + kMostGone || hosts <= idle) return false;
  return choice.order.empty() || hosts - idle <= most;
}

}  // namespace

int run_peer(const Options& options, const plan::LaunchPlan& plan, const dialin::Settings& settings,
             const transport::AgentImage& image, transport::PreLaunchTask* task, const PlanOfHosts& plan_of_hosts,
             const std::function<void(const std::string&)>& print) {
  const auto tell = [&](const std::string& text) {
    if (options.verbosity != Verbosity::Quiet) print(text);
  };
  const dialin::Outcome outcome =
      dialin::dial({.settings = settings,
                    .timeout = options.start_timeout,
                    .grace = options.grace,
                    .heartbeat_timeout = options.heartbeat_timeout,
                    .environment = plan.launcher_environment,
                    .compute = [&](const dialin::Welcome& welcome,
                                   const dialin::AttemptParameters& choice) -> std::optional<dialin::ExpectedPlan> {
                      const std::uint32_t hosts =
                          choice.order.empty() ? welcome.hosts : static_cast<std::uint32_t>(choice.order.size());
                      if (settings.share && welcome.shares.empty()) return std::nullopt;
                      const bool as_many = hosts == plan.map.hosts.size();
                      if (as_many && !settings.share) return own_part(options, plan, welcome.place, choice);
                      if (!as_many && !may_be(hosts, choice, settings)) return std::nullopt;
                      const Result<plan::LaunchPlan> other = plan_of_hosts(hosts, welcome.shares);
                      return other ? own_part(options, *other, welcome.place, choice) : std::nullopt;
                    },
                    .attempts = attempts_of(options.restart),
                    .task = task,
                    .verbosity = options.verbosity},
                   image, tell);
  if (outcome.fault) {
    print(outcome.fault->message());
    if (!outcome.fault->hint().empty()) print("hint: " + outcome.fault->hint());
    const bool message = options.failure.kind == FailureKind::Message;
    leave_text(options,
               sagemaker::failure_text(*outcome.fault, message ? sagemaker::kMessageLimit : sagemaker::kFailureLimit),
               print);
  } else if (outcome.exit_code != 0) {
    print((options.check == Preflight::Yes ? "the check has ended: " : "the job has ended: ") + outcome.text);
    leave_text(options, outcome.failure, print);
  }
  return outcome.exit_code;
}

}  // namespace sml
