#include "launcher/attempt/session_plans.h"
#include "common/plan/environment/kept_back.h"

#include <algorithm>

#include <sys/resource.h>

#include "common/plan/environment/presets.h"
#include "common/plan/ranks/program_map.h"
#include "common/plan/ranks/spawn_map.h"
#include "launcher/attempt/dynamic/dynamic_plans.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::attempt;
using namespace std::chrono_literals;

namespace {

const std::vector<std::string> kCommand = {"python3", "train.py", "", "a b\n$HOME"};

plan::LaunchPlan make_plan(const std::vector<std::pair<std::string, std::uint32_t>>& hosts) {
  plan::HostList list;
  for (const auto& [name, slots] : hosts) list.hosts.push_back({.name = name, .user = {}, .slots = slots});
  plan::LaunchPlan plan;
  plan.map = *plan::map_job(list, std::nullopt, plan::Oversubscribe::No);
  plan.job.job_id = "job-1";
  plan.command = kCommand;
  plan.working_directory = "/work dir";
  plan.launcher_environment = {"PATH=/bin", "HOME=/root", "SSH_AUTH_SOCK=/tmp/a", "RANK=9", "MINE=1"};
  plan.user_environment = {"LR=0.1", "BYTES=\xff"};
  return plan;
}

SessionSettings make_settings() {
  SessionSettings settings;
  settings.heartbeat_loss.grace = 7s;
  settings.heartbeat_loss.silence = 30s;
  settings.output_window = 12345;
  settings.wants_stdin = [](Rank rank) { return rank == Rank(3); };
  return settings;
}
const SessionSettings kSettings = make_settings();

bool has(const plan::Environment& environment, const std::string& entry) {
  return std::find(environment.begin(), environment.end(), entry) != environment.end();
}

// Of torch's and of Horovod's.
std::vector<wire::ServiceReach> stores_of(const wire::Prepare& prepare) {
  std::vector<wire::ServiceReach> out;
  for (const wire::ServiceKind kind : {wire::ServiceKind::TorchStore, wire::ServiceKind::HorovodStore}) {
    for (const wire::ServiceRequest& request : prepare.services) {
      if (request.kind == kind) out.push_back(request.reach);
    }
  }
  return out;
}

std::vector<wire::Prepare> both_of(const transport::AgentSession::Plan& session) {
  return {session.prepare(AgentPlace::ThisMachine), session.prepare(AgentPlace::Remote)};
}

std::size_t worker_ports_of(const wire::Prepare& prepare) {
  return prepare.services.size() - stores_of(prepare).size();
}

}  // namespace

TEST_CASE(
    "in a job of Slurm all hosts have the limits and the umask of the batch script, elsewhere those of the login") {
  plan::LaunchPlan plan = make_plan({{"a", 1}, {"b", 1}});
  plan.launcher_process = {.limits = {{RLIMIT_STACK, kNoLimit}, {RLIMIT_NOFILE, 4096}}, .umask = 027};
  const transport::AgentSession::Plan plain = session_plans(plan, kSettings)[1];
  CHECK(plain.prepare(AgentPlace::Remote).inherited == ProcessSettings());
  CHECK(plain.prepare(AgentPlace::ThisMachine).inherited ==
        ProcessSettings{.limits = {{RLIMIT_NOFILE, 4096}}});  // ours has been raised
  plan.launcher_environment.insert(plan.launcher_environment.end(), {"SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=a,b"});
  for (const transport::AgentSession::Plan& host : session_plans(plan, kSettings)) {
    CHECK(host.prepare(AgentPlace::Remote).inherited == plan.launcher_process);
    CHECK(host.prepare(AgentPlace::ThisMachine).inherited == plan.launcher_process);
  }
  plan.calls.emplace();  // each has been started by srun itself
  CHECK(session_plans(plan, kSettings)[1].prepare(AgentPlace::Remote).inherited == ProcessSettings());
}

TEST_CASE("each host serves the rank monitor, and tells of torch, where that is wanted") {
  SessionSettings settings = make_settings();
  for (const auto& session : session_plans(make_plan({{"a", 2}, {"b", 1}}), settings)) {
    CHECK(session.prepare(AgentPlace::ThisMachine).monitor.offer == plan::RankMonitorOffer::No);
    CHECK(session.prepare(AgentPlace::Remote).torch_traces == wire::TorchTraces::No);
  }
  settings.monitor = {.offer = plan::RankMonitorOffer::Yes, .sections = {{"step", 5}}};
  settings.torch_traces = wire::TorchTraces::Yes;
  for (const auto& session : session_plans(make_plan({{"a", 2}, {"b", 1}}), settings)) {
    CHECK(session.prepare(AgentPlace::ThisMachine).monitor == settings.monitor);
    CHECK(session.prepare(AgentPlace::Remote).monitor == settings.monitor);
    CHECK(session.prepare(AgentPlace::Remote).torch_traces == wire::TorchTraces::Yes);
  }
}

TEST_CASE("hosts with ranks get a plan each, in order, the first one holds the meeting point") {
  const auto plans = session_plans(make_plan({{"algo-1", 2}, {"empty", 0}, {"algo-2", 1}}), kSettings);
  REQUIRE(plans.size() == 2);
  CHECK(plans[0].host == HostId(0));
  CHECK(plans[0].name == "algo-1");
  CHECK(plans[1].host == HostId(2));
  CHECK(plans[1].name == "algo-2");
  for (const wire::Prepare& prepare : both_of(plans[0])) {
    CHECK(stores_of(prepare) == std::vector{wire::ServiceReach::Network, wire::ServiceReach::Network});
  }
  for (const wire::Prepare& prepare : both_of(plans[1])) {
    CHECK(prepare.services.empty());
  }
}

TEST_CASE("every host is told what its workers want of it") {
  plan::LaunchPlan plan = make_plan({{"algo-1", 1}, {"algo-2", 1}});
  plan.binding.bind_to = plan::BindTo::Numa;
  plan.devices = {plan::VisibleDevices::PerRank, 2};
  plan.map.cores = {"0:0-1", "1:*"};
  const auto plans = session_plans(plan, kSettings);
  for (const auto& session : plans) {
    for (const wire::Prepare& prepare : both_of(session)) {
      CHECK(prepare.binding == plan.binding);
      CHECK(prepare.devices == plan.devices);
    }
  }
  CHECK(plans[0].prepare(AgentPlace::Remote).workers[0].cores == "0:0-1");
  CHECK(plans[1].prepare(AgentPlace::Remote).workers[0].cores == "1:*");
}

TEST_CASE("the meeting point is on the first host that has ranks") {
  const auto plans = session_plans(make_plan({{"empty", 0}, {"algo-1", 1}, {"algo-2", 1}}), kSettings);
  REQUIRE(plans.size() == 2);
  CHECK(stores_of(plans[0].prepare(AgentPlace::ThisMachine)).size() == 2);
  CHECK(stores_of(plans[1].prepare(AgentPlace::ThisMachine)).empty());
}

TEST_CASE("where all ranks are on one host, nobody calls from elsewhere") {
  const auto plans = session_plans(make_plan({{"empty", 0}, {"algo-1", 4}}), kSettings);
  REQUIRE(plans.size() == 1);
  const std::vector alone{wire::ServiceReach::ThisMachine, wire::ServiceReach::ThisMachine};
  CHECK(stores_of(plans[0].prepare(AgentPlace::ThisMachine)) == alone);
  CHECK(stores_of(plans[0].prepare(AgentPlace::Remote)) == alone);
}

TEST_CASE("every rank is on its host, with its own variables; an input has who wants it") {
  const plan::LaunchPlan plan = make_plan({{"algo-1", 2}, {"algo-2", 3}});
  const auto plans = session_plans(plan, kSettings);
  REQUIRE(plans.size() == 2);
  std::uint32_t next = 0;
  for (const auto& session : plans) {
    for (wire::Prepare prepare : both_of(session)) {
      wire::unpack_environments(prepare.apps, prepare.workers);
      std::uint32_t rank = next;
      std::uint32_t local = 0;
      for (const wire::Worker& worker : prepare.workers) {
        CHECK(worker.rank == Rank(rank));
        CHECK(worker.local_rank == LocalRank(local));
        CHECK(worker.app == 0);
        CHECK(worker.stdin_source == (rank == 3 ? wire::StdinSource::Launcher : wire::StdinSource::Null));
        CHECK(plan::with_job({}, worker.environment) ==
              plan::with_job({}, plan::rank_environment(plan.map, plan.map.ranks[rank], plan.job)));
        CHECK(has(worker.environment, "RANK=" + std::to_string(rank)));
        CHECK(has(worker.environment, "LOCAL_RANK=" + std::to_string(local)));
        ++rank;
        ++local;
      }
    }
    next += static_cast<std::uint32_t>(session.prepare(AgentPlace::ThisMachine).workers.size());
  }
  CHECK(next == 5);
}

TEST_CASE("what the workers of a program have in common travels once, and each worker gets all its variables") {
  plan::LaunchPlan plan = make_plan({{"a", 9}});
  plan.more_programs = {{{"reader"}, "/there", {}}};
  const std::vector<plan::ProgramShare> programs{{.np = 8, .hosts = {}, .role = "trainer"},
                                                 {.np = 1, .hosts = {}, .role = "reader"}};
  const plan::HostList hosts{{{"a", "", 9}}, "-H"};
  plan.map = *plan::map_programs(hosts, programs, plan::Oversubscribe::No);
  const wire::Prepare sent = session_plans(plan, kSettings)[0].prepare(AgentPlace::Remote);
  REQUIRE(sent.workers.size() == 9);
  REQUIRE(sent.apps.size() == 2);
  CHECK(has(sent.apps[0].environment, "ROLE_NAME=trainer"));
  CHECK(has(sent.workers[1].environment, "RANK=1"));
  CHECK_FALSE(has(sent.workers[1].environment, "WORLD_SIZE=9"));
  CHECK(sent.workers[8].environment.empty());  // alone with its program

  wire::Prepare whole = sent;
  wire::unpack_environments(whole.apps, whole.workers);
  const plan::Environment shared{"A=1", "RANK=user", "WORLD_SIZE=user"};
  for (const wire::Worker& worker : whole.workers) {
    const auto own = plan::rank_environment(plan.map, plan.map.ranks[worker.rank.value()], plan.job);
    CHECK(plan::with_job(shared, worker.environment) == plan::with_job(shared, own));
  }
  for (wire::App& app : whole.apps) app.environment.clear();
  CHECK(wire::encode(wire::ToAgent(sent)).size() * 3 < wire::encode(wire::ToAgent(whole)).size() * 2);
}

TEST_CASE("what the workers of a host have in common of the variables of presets travels once, too") {
  for (const std::string presets : {"tf", "jax", "deepspeed", "accelerate", "slurm", "hydra", "openmpi",
                                    "virtual-local-rank", "tf,jax,deepspeed,slurm,hydra,virtual-local-rank"}) {
    CAPTURE(presets);
    plan::LaunchPlan plan = make_plan({{"a", 1}, {"b", 3}});
    plan.presets = *plan::parse_presets(presets);
    std::vector<plan::PresetPort> ports = plan::preset_ports(plan.presets, plan.map);
    for (std::size_t i = 0; i < ports.size(); ++i) ports[i].port = static_cast<std::uint16_t>(9000 + i);
    const std::vector<std::string> addresses{"10.0.0.1", "fd00::2"};
    for (const plan::MappedHost& host : plan.map.hosts) {
      const wire::Start whole{.rendezvous = {}, .variables = preset_variables(plan, host, {addresses, ports})};
      wire::Start start = whole;
      wire::pack_environments(start);
      const bool all_differ = host.ranks.size() > 1 && presets == "tf";
      CHECK(start.common.empty() == (all_differ || presets == "accelerate"));
      if (presets == "slurm") CHECK(start.common.size() > 5 * start.variables[0].environment.size());
      wire::unpack_environments(start);
      REQUIRE(start.variables.size() == host.ranks.size());
      const plan::Environment below{"CROSS_RANK=x", "LOCAL_RANK=x", "TF_CONFIG=x", "Z=1"};
      for (std::size_t i = 0; i < start.variables.size(); ++i) {
        CHECK(start.variables[i].rank == host.ranks[i]);
        CHECK(plan::with_job(below, start.variables[i].environment) ==
              plan::with_job(below, whole.variables[i].environment));
      }
    }
  }
}

TEST_CASE("without a word about input nobody has one") {
  SessionSettings settings = make_settings();
  settings.wants_stdin = nullptr;
  for (const auto& session : session_plans(make_plan({{"algo-1", 4}}), settings)) {
    for (const wire::Worker& worker : session.prepare(AgentPlace::ThisMachine).workers)
      CHECK(worker.stdin_source == wire::StdinSource::Null);
  }
}

TEST_CASE("the program is the same everywhere, its base is not") {
  const plan::LaunchPlan plan = make_plan({{"algo-1", 1}});
  const auto plans = session_plans(plan, kSettings);
  for (const wire::Prepare& prepare : both_of(plans[0])) {
    REQUIRE(prepare.apps.size() == 1);
    CHECK(prepare.apps[0].argv == kCommand);
    CHECK(prepare.apps[0].working_directory == "/work dir");
    CHECK(prepare.apps[0].user_environment == plan.user_environment);
  }
  const wire::App local = plans[0].prepare(AgentPlace::ThisMachine).apps[0];
  CHECK(local.base == plan::BaseEnvironment::Launcher);
  CHECK(local.launcher_environment == plan.launcher_environment);

  const wire::App remote = plans[0].prepare(AgentPlace::Remote).apps[0];
  CHECK(remote.base == plan::BaseEnvironment::LauncherOverLogin);
  CHECK(remote.launcher_environment == plan::for_other_hosts(plan.launcher_environment));
  CHECK(has(remote.launcher_environment, "MINE=1"));
  CHECK_FALSE(has(remote.launcher_environment, "HOME=/root"));
  CHECK_FALSE(has(remote.launcher_environment, "SSH_AUTH_SOCK=/tmp/a"));
  CHECK_FALSE(has(remote.launcher_environment, "RANK=9"));
}

TEST_CASE("with --export none nothing of the launcher's environment leaves this machine") {
  plan::LaunchPlan plan = make_plan({{"algo-1", 1}});
  plan.export_policy = plan::ExportPolicy::None;
  const auto plans = session_plans(plan, kSettings);
  const wire::App remote = plans[0].prepare(AgentPlace::Remote).apps[0];
  CHECK(remote.base == plan::BaseEnvironment::Login);
  CHECK(remote.launcher_environment.empty());
  CHECK(remote.user_environment == plan.user_environment);
  const wire::App local = plans[0].prepare(AgentPlace::ThisMachine).apps[0];
  CHECK(local.base == plan::BaseEnvironment::Launcher);
  CHECK(local.launcher_environment == plan.launcher_environment);
}

TEST_CASE("the greeting says who, how long and how much") {
  const auto plans = session_plans(make_plan({{"algo-1", 1}}), kSettings);
  const wire::Hello& hello = plans[0].hello;
  CHECK(hello.version == wire::kProtocolVersion);
  CHECK(hello.job_id == "job-1");
  CHECK(hello.host == "algo-1");
  CHECK(hello.heartbeat_timeout_ms == 30000);
  CHECK(hello.hold_ms == 5000);  // a broken connection is made again within that
  CHECK(hello.grace_ms == 7000);
  CHECK(hello.credit == 12345);
}

TEST_CASE("the agent waits as long as the launcher, but where others take the place of a lost host") {
  JobOptions options;
  options.heartbeat_timeout = 30s;
  options.grace = 20s;
  const plan::LaunchPlan plan = make_plan({{"algo-1", 1}});
  CHECK(settings_for(options, plan.map).heartbeat_loss.silence == 30s);
  CHECK(settings_for(options, plan.map).heartbeat_loss.grace == 20s);

  options.restart.max = 1;
  options.restart.spares = 1;
  options.heartbeat_timeout = 5s;
  CHECK(settings_for(options, plan.map).heartbeat_loss.silence == 4250ms);
  CHECK(settings_for(options, plan.map).heartbeat_loss.grace == 500ms);
}

TEST_CASE("workers that are not heard have ended before others take their places") {
  for (const Duration timeout : {Duration(1s), Duration(2s), Duration(5s), Duration(30s), Duration(8760h)}) {
    for (const Duration grace : {Duration(0s), Duration(300ms), Duration(1min)}) {
      const transport::HeartbeatLossPolicy heartbeat_loss = transport::policy_before_replacement(timeout, grace);
      CAPTURE(timeout.count(), grace.count());
      CHECK(heartbeat_loss.silence + heartbeat_loss.grace <= timeout - 250ms);
      CHECK(heartbeat_loss.silence >= timeout / 2);
      CHECK(heartbeat_loss.grace <= grace);
    }
  }
}

TEST_CASE("a spare imports for as many workers as a host has, where it is known for which") {
  SessionSettings settings = kSettings;
  plan::LaunchPlan plan = make_plan({{"algo-1", 2}});
  plan::MappedHost spare = plan.map.hosts[0];
  spare.ranks.clear();
  const auto likely = [&] { return spare_plan(spare, plan, settings).prepare(AgentPlace::Remote).preload.likely; };
  CHECK(likely() == 0);
  settings.preload = {"torch"};
  CHECK(likely() == 2);
  CHECK(spare_plan(spare, plan, settings).prepare(AgentPlace::ThisMachine).preload.modules == settings.preload);
  plan.calls.emplace();
  CHECK(spare_plan(spare, plan, settings).prepare(AgentPlace::Remote).preload.modules.empty());
}

TEST_CASE("a duration too long for the message is the longest, not a short one") {
  SessionSettings settings = kSettings;
  settings.heartbeat_loss.grace =
      std::chrono::milliseconds(std::int64_t{1} << 32);  // within the year that the command line allows
  settings.heartbeat_loss.silence = 8760h;
  const auto plans = session_plans(make_plan({{"algo-1", 1}}), settings);
  CHECK(plans[0].hello.grace_ms == 0xffffffffU);
  CHECK(plans[0].hello.heartbeat_timeout_ms == 0xffffffffU);
}

TEST_CASE("the output that may wait here is bounded over all hosts, and never stops a single one") {
  CHECK(output_window(0) == output_window(1));
  CHECK(output_window(1) == std::uint64_t{2} << 20);
  CHECK(output_window(8) == std::uint64_t{1} << 20);
  CHECK(output_window(100000) == std::uint64_t{64} << 10);
  for (std::size_t hosts = 1; hosts < 1000; ++hosts) {
    CHECK(output_window(hosts) >= output_window(hosts + 1));
    CHECK(first_output_window(hosts) <= output_window(hosts));
    CHECK(first_output_window(hosts) < std::uint64_t{1} << 20);  // fits into the pipe to an agent of this machine
    CHECK(first_output_window(hosts) >= std::uint64_t{64} << 10);
  }
}

TEST_CASE("each host is told the programs that it runs, and no others") {
  plan::LaunchPlan plan = make_plan({{"a", 2}});
  plan.more_programs = {{{"other", "x"}, "/there", {"V=1"}}};
  const plan::HostList hosts{{{"a", "", 2}}, "-H"};
  const std::vector<plan::ProgramShare> programs{{.np = 1, .hosts = {}}, {.np = 2, .hosts = {{"b", "", 2}}}};
  plan.map = *plan::map_programs(hosts, programs, plan::Oversubscribe::No);
  const auto plans = session_plans(plan, kSettings);
  REQUIRE(plans.size() == 2);
  REQUIRE(plans[0].prepare(AgentPlace::ThisMachine).apps.size() == 1);
  CHECK(plans[0].prepare(AgentPlace::ThisMachine).apps[0].argv == kCommand);
  const wire::Prepare& there = plans[1].prepare(AgentPlace::Remote);
  REQUIRE(there.apps.size() == 1);
  CHECK(there.apps[0].argv == std::vector<std::string>{"other", "x"});
  CHECK(there.apps[0].working_directory == "/there");
  CHECK(there.apps[0].user_environment == plan::Environment{"V=1"});
  REQUIRE(there.workers.size() == 2);
  CHECK(there.workers[1].app == 0);
  CHECK(there.services.empty());
}

TEST_CASE("a host reserves as many ports as presets need there") {
  plan::LaunchPlan plan = make_plan({{"a", 2}, {"b", 1}});
  plan.presets = {plan::Preset::Tf, plan::Preset::Jax};
  const auto plans = session_plans(plan, kSettings);
  CHECK(worker_ports_of(plans[0].prepare(AgentPlace::Remote)) == 3);
  CHECK(worker_ports_of(plans[1].prepare(AgentPlace::Remote)) == 1);
}

TEST_CASE("what looks like a secret goes to other hosts only when it is asked for") {
  auto plan = make_plan({{"algo-1", 1}});
  plan.launcher_environment = {"HF_TOKEN=t", "API_KEY=k", "MINE=1"};
  plan.user_environment = {"API_KEY=k"};
  const auto remote = [&] { return session_plans(plan, kSettings)[0].prepare(AgentPlace::Remote).apps[0]; };
  CHECK(remote().launcher_environment == plan::Environment{"MINE=1"});
  CHECK(remote().user_environment == plan.user_environment);
  CHECK(withheld_secrets(plan) == std::vector<std::string>{"HF_TOKEN"});
  CHECK(session_plans(plan, kSettings)[0].prepare(AgentPlace::ThisMachine).apps[0].launcher_environment ==
        plan.launcher_environment);

  plan.more_programs.push_back({});  // which is not given the key
  CHECK(withheld_secrets(plan) == std::vector<std::string>{"API_KEY", "HF_TOKEN"});
  plan.secrets = plan::SecretExport::Sent;
  CHECK(remote().launcher_environment == plan.launcher_environment);
  CHECK(withheld_secrets(plan).empty());
  plan.secrets = plan::SecretExport::Withheld;
  plan.export_policy = plan::ExportPolicy::None;
  CHECK(withheld_secrets(plan).empty());
}

TEST_CASE("each host is told the shape of the job where ranks are to find each other by MPI") {
  plan::LaunchPlan plan = make_plan({{"a", 2}, {"b", 2}, {"c", 1}});
  const auto without = session_plans(plan, kSettings);
  CHECK(without[1].prepare(AgentPlace::ThisMachine).mpi.pmi_mode == plan::PmiMode::None);
  CHECK(without[1].prepare(AgentPlace::ThisMachine).mpi.shape.hosts.empty());
  plan.mpi = plan::PmiMode::Auto;
  plan.map.helpers = 1;
  const auto plans = session_plans(plan, kSettings);
  const wire::MpiPlan& b = plans[1].prepare(AgentPlace::Remote).mpi;
  CHECK(b.pmi_mode == plan::PmiMode::Auto);
  CHECK(b.host == 1);
  CHECK(b.shape.hosts == NameRuns{"a", "b"});
  CHECK(b.shape.size() == 4);
  CHECK(plans[2].prepare(AgentPlace::Remote).mpi.pmi_mode == plan::PmiMode::None);  // it has no member
}

TEST_CASE("a host that runs nothing is told of the job, and gets spawned ranks alone") {
  plan::HostList list;
  for (const char* name : {"a", "b", "c"}) list.hosts.push_back({.name = name, .user = {}, .slots = 1});
  plan::LaunchPlan plan = make_plan({{"a", 1}});
  plan.map = *plan::map_job(list, 1, plan::Oversubscribe::No);
  plan.mpi = plan::PmiMode::Auto;
  plan.more_programs = spawned_programs(plan, Rank(0), {{.command = {"child"}, .count = 1}});
  const plan::SpawnRoom room{plan::FreeSlots(3), {std::nullopt, std::nullopt, 1}};
  plan::add_world(plan.map,
                  *plan::map_spawn(plan.map, room, {{{.command = {"child"}, .count = 1}}}, plan::Oversubscribe::No), 1);
  const auto session = late_plan(HostIndex(2), plan, Rank(1), kSettings, wire::WireUp::Pmix);
  CHECK(session.host == HostId(2));
  CHECK(session.name == "c");
  const wire::Prepare& prepare = session.prepare(AgentPlace::Remote);
  CHECK(prepare.workers.empty());
  REQUIRE(prepare.apps.size() == 1);
  CHECK(prepare.apps[0].argv == std::vector<std::string>{"child"});
  CHECK(prepare.mpi.pmi_mode == plan::PmiMode::Auto);
  CHECK(prepare.mpi.shape.hosts == NameRuns{"a"});
  CHECK(prepare.mpi.shape.universe == 3);
  CHECK(prepare.mpi.host == 3);  // the one with members, and its own index
  CHECK(prepare.mpi.late.workers == wire::Workers::Spawned);
  CHECK(prepare.mpi.late.service == wire::WireUp::Pmix);
  CHECK(prepare.mpi.late.job == "job-1");
  CHECK(prepare.mpi.late.host == "c");
  CHECK(session_plans(plan, kSettings)[0].prepare(AgentPlace::Remote).mpi.late.workers == wire::Workers::Planned);
}
