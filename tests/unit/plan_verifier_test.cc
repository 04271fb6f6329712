#include "launcher/dialin/peer/plan_verifier.h"
#include "launcher/dialin/peer/agent_traces.h"

#include "launcher/attempt/session_plans.h"
#include "launcher/inputs/hosts/host_source.h"
#include "launcher/plan/regroup.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::dialin;

namespace {

const std::string kJob = "sml-0123";

plan::LaunchPlan plan_of(std::uint32_t hosts, std::set<plan::Preset> presets = {}) {
  plan::HostList list;
  for (std::uint32_t i = 0; i < hosts; ++i) list.hosts.push_back({.name = name_of_place(i), .user = {}, .slots = 2});
  plan::LaunchPlan plan;
  plan.map = *plan::map_job(list, std::nullopt, plan::Oversubscribe::No);
  plan.job.job_id = kJob;
  plan.command = {"python3", "train.py"};
  plan.working_directory = "/srv/job";
  plan.user_environment = {"LR=0.1", "TOKEN=hidden"};
  plan.export_policy = plan::ExportPolicy::None;
  plan.presets = std::move(presets);
  return plan;
}

plan::LaunchPlan plan_of_two(std::set<plan::Preset> presets = {}) { return plan_of(2, std::move(presets)); }

std::vector<wire::RankVariables> variables_of(const plan::LaunchPlan& plan, const std::vector<std::string>& addresses,
                                              std::uint16_t port) {
  std::vector<plan::PresetPort> ports = plan::preset_ports(plan.presets, plan.map);
  for (plan::PresetPort& one : ports) one.port = port;
  return attempt::preset_variables(plan, plan.map.hosts[1], {addresses, ports});
}

ExpectedPlan part_of(const plan::LaunchPlan& plan) {
  ExpectedPlan part{.host = "host-1",
                    .prepare = attempt::session_plans(plan, {})[1].prepare(attempt::AgentPlace::Remote),
                    .starts = Starts::Yes,
                    .torch_store = plan::TorchStore::OfAgent,
                    .variables = {}};
  for (std::size_t i = 0; i < kAnyAddress.size(); ++i) {
    part.variables[i] = variables_of(plan, {std::string(kAnyAddress[i]), std::string(kAnyAddress[i])}, 0);
  }
  return part;
}

PlanVerifier check_of(const ExpectedPlan& part) {
  return {
      [part](const AttemptParameters& choice) { return choice.job_id == kJob ? std::optional(part) : std::nullopt; },
      1};
}

std::string feed(PlanVerifier& check, const wire::ToAgent& message) {
  const std::string bytes = wire::encode(message);
  const Result<std::string> passed = check.pass(bytes);
  if (!passed) return passed.error().message();
  return *passed == bytes ? "" : "(changed)";
}

const std::string kRefused = "the head asks for what this host does not expect: ";

wire::Hello hello() {
  wire::Hello out;
  out.job_id = kJob;
  out.host = "host-1";
  out.heartbeat_timeout_ms = 5;
  return out;
}

wire::Start start_at(const std::string& address) {
  return {.rendezvous = plan::rendezvous_environment({.address = address, .port = 1024, .horovod_port = 1025})};
}

// What comes of a plan that is changed, or of a start.
template <class Change>
std::string plan_with(Change change, const ExpectedPlan& part) {
  PlanVerifier check = check_of(part);
  REQUIRE(feed(check, hello()).empty());
  wire::Prepare prepare = part.prepare;
  change(prepare);
  const std::string said = feed(check, prepare);
  return said.starts_with(kRefused) ? said.substr(kRefused.size()) : said;
}
std::string start_with(const wire::Start& start, const ExpectedPlan& part) {
  PlanVerifier check = check_of(part);
  REQUIRE(feed(check, hello()).empty());
  REQUIRE(feed(check, part.prepare).empty());
  const std::string said = feed(check, start);
  return said.starts_with(kRefused) ? said.substr(kRefused.size()) : said;
}

}  // namespace

TEST_CASE("dial-in: what a host has computed itself passes, whatever the pieces") {
  const ExpectedPlan part = part_of(plan_of_two());
  PlanVerifier check = check_of(part);
  std::string sent;
  for (const wire::ToAgent& m :
       {wire::ToAgent(hello()), wire::ToAgent(part.prepare), wire::ToAgent(wire::Ping{7}),
        wire::ToAgent(start_at("fe80::1%eth0")), wire::ToAgent(wire::Stop{15, 1}), wire::ToAgent(wire::Leave{})}) {
    sent += wire::encode(m);
  }
  std::string passed;
  for (const char& byte : sent) passed += *check.pass(std::span<const char>(&byte, 1));
  CHECK(passed == sent);
}

TEST_CASE("dial-in: how long imports may take is the head's to say, what is imported is not") {
  ExpectedPlan own = part_of(plan_of_two());
  own.prepare.preload = {{"torch"}, 60'000};
  CHECK(plan_with([](wire::Prepare& p) { p.preload.limit_ms = 600'000; }, own).empty());
  CHECK_FALSE(plan_with([](wire::Prepare& p) { p.preload.modules.emplace_back("antigravity"); }, own).empty());
}

TEST_CASE("dial-in: the name under which PMIx knows the ranks is the head's, and a plain one") {
  plan::LaunchPlan plan = plan_of_two();
  plan.mpi = plan::PmiMode::Pmix;
  plan.job.name_space = "0123abcd";
  const ExpectedPlan part = part_of(plan);
  const auto named = [&part](const std::string& name) {
    return plan_with([&](wire::Prepare& p) { p.mpi.name_space = name; }, part);
  };
  CHECK(named("456789ef") == "");
  CHECK(named("") == "a namespace of PMIx that is no plain name");
  CHECK(named("../x") == "a namespace of PMIx that is no plain name");
}

TEST_CASE("dial-in: a head asks for no command but the health check of this host, and calls nobody there") {
  ExpectedPlan own = part_of(plan_of_two());
  own.health_check = "test -d /data";
  const auto answer = [&own](const wire::ToAgent& message) {
    PlanVerifier check = check_of(own);
    REQUIRE(feed(check, hello()).empty());
    return feed(check, message);
  };
  CHECK(answer(wire::AskHealth{1, "", 10'000, 0}).empty());
  CHECK(answer(wire::AskHealth{1, "test -d /data", 10'000, 0}).empty());
  CHECK(answer(wire::AskHealth{1, "touch /evil", 10'000, 0}) == kRefused + "another --health-check, \"touch /evil\"");
  own.health_check = {};
  CHECK(answer(wire::AskHealth{1, "test -d /data", 10'000, 0}).starts_with(kRefused));
  CHECK(answer(wire::HorovodCall{}).starts_with(kRefused));
  CHECK(answer(wire::HorovodRound{}).starts_with(kRefused));
  CHECK(answer(wire::ReconnectRequest{}).starts_with(kRefused));
  CHECK(answer(wire::StartAdded{}).starts_with(kRefused));
}

TEST_CASE("dial-in: a rank monitor, and its limits, are as this host has been asked for") {
  ExpectedPlan own = part_of(plan_of_two());
  const auto offer = [](wire::Prepare& p) { p.monitor.offer = plan::RankMonitorOffer::Yes; };
  CHECK(plan_with(offer, own) == "another --rank-monitor");
  own.prepare.monitor = {.offer = plan::RankMonitorOffer::Yes, .first_ms = 5};
  CHECK(plan_with([](wire::Prepare& p) { p.monitor.first_ms = 6; }, own) == "another --initial-rank-heartbeat-timeout");
}

TEST_CASE("dial-in: workers carry the mark by which their agent was told to open, and no other") {
  const ExpectedPlan part = part_of(plan_of_two());
  for (const char* mark : {"sml0", "sml1"}) {
    PlanVerifier check = check_of(part);
    REQUIRE(check.take_mark("sml0").has_value());
    CHECK(feed(check, hello()) == "");
    wire::Prepare prepare = part.prepare;
    prepare.mark = mark;
    CHECK(feed(check, prepare).empty() == (prepare.mark == "sml0"));
  }
}

TEST_CASE("dial-in: a head gives no other place than the host's own, or none but its own where it is to choose") {
  Settings own;
  own.hosts = {"host-0", "host-1", "host-2"};
  own.own_index = 1;
  const auto allowed = [&own](std::uint32_t place) { return PlanVerifier::check_welcome({place, 3}, own).has_value(); };
  CHECK(allowed(1));
  CHECK_FALSE(allowed(2));
  own.place = PlaceRule::ChosenByHead;
  CHECK(allowed(1));
  CHECK(allowed(2));
  CHECK_FALSE(allowed(0));
  CHECK_FALSE(allowed(3));
  CHECK(PlanVerifier::check_welcome({3, 3}, own).error().message() ==
        "the head asks for what this host does not expect: place 3 among the 3 hosts");
  CHECK(PlanVerifier::check_welcome({1, 2}, own).error().message() ==
        "the head asks for what this host does not expect: a job of 2 hosts, and this host knows one of 3");
  own.least_hosts = 2;
  CHECK(PlanVerifier::check_welcome({1, 2}, own).has_value());
  CHECK(PlanVerifier::check_welcome({4, 5}, own).has_value());  // others have gone
  CHECK(PlanVerifier::check_welcome({2, 2}, own).has_error());
  CHECK(PlanVerifier::check_welcome({0, 1}, own).error().message() ==
        "the head asks for what this host does not expect: a job of 1 hosts, and this host knows one of 2 to 3");
}

TEST_CASE("dial-in: a head that numbers the workers of all has been told by this host how many it has") {
  Settings own;
  own.hosts = {"host-0", "host-1"};
  own.place = PlaceRule::ChosenByHead;
  const auto refused = [&own](const Welcome& welcome) {
    const Result<void> checked = PlanVerifier::check_welcome(welcome, own);
    return checked ? std::string() : checked.error().message();
  };
  const plan::HostShares both{{2, "trainer"}, {3, "reader"}};
  const std::string wants = "the head asks for what this host does not expect: ";
  CHECK(refused({1, 2, "ticket", both}) == wants + "a job whose hosts have other workers");
  own.share = both[1];
  CHECK(refused({1, 2, "ticket", both}).empty());
  CHECK(refused({1, 2, "ticket", {both[0]}}) == wants + "a job whose hosts have other workers");
  CHECK(refused({1, 2, "ticket", {}}).empty());  // there is only the end of the job to hear
  for (const plan::HostShare& other : {plan::HostShare{4, "reader"}, plan::HostShare{3, "trainer"}}) {
    own.share = other;
    CHECK(refused({1, 2, "ticket", both}) == wants + "another number or role of the workers here");
  }
}

TEST_CASE("dial-in: a host that comes while others run waits first, and then has a part in what they make") {
  plan::LaunchPlan three = plan_of(3);
  three.calls.emplace();
  const auto computed = [&three](const AttemptParameters& choice) {
    plan::LaunchPlan plan = three;
    plan.job.attempt = choice.attempt - 1;
    plan.job.restarts = choice.restarts;
    if (!choice.order.empty()) plan.map = *plan::arrange(plan.map, choice.order);
    plan.map = *plan::regroup(plan.map, choice.idle, {.hosts = 1, .ranks = {}});
    ExpectedPlan part;
    part.host = "host-2";
    for (const transport::AgentSession::Plan& session : attempt::session_plans(plan, {})) {
      if (session.host == HostId(2)) part.prepare = session.prepare(attempt::AgentPlace::Remote);
    }
    if (part.prepare.apps.empty()) {
      const plan::MappedHost& own = plan.map.hosts[plan.map.places()[2].value()];
      part.prepare = attempt::spare_plan(own, plan, {}).prepare(attempt::AgentPlace::Remote);
    }
    return std::optional(part);
  };
  wire::Hello greeting = hello();
  greeting.host = "host-2";
  plan::LaunchPlan two = plan_of_two();  // the head's, which has not had the third
  two.calls.emplace();
  two.job.attempt = 3;
  const wire::Prepare waits = attempt::spare_plan(three.map.hosts[2], two, {}).prepare(attempt::AgentPlace::Remote);
  CHECK(waits.order == HostIdRuns{HostId(0), HostId(1), HostId(2)});
  CHECK(waits.idle == HostIdRuns{HostId(2)});
  plan::LaunchPlan later = two;  // the second has been lost, and the third takes its place
  later.job.attempt = 6;
  later.job.restarts = 5;  // one attempt has lost a host before it began
  later.map.hosts.push_back(three.map.hosts[2]);
  later.map.hosts[2].duty = plan::HostDuty::Spare;
  later.map.hosts[2].ranks.clear();
  later.map = *plan::regroup(later.map, std::array{HostId(1)}, {});
  const wire::Prepare works = attempt::session_plans(later, {})[1].prepare(attempt::AgentPlace::Remote);
  CHECK(works.order == HostIdRuns{HostId(0), HostId(2), HostId(1)});
  for (const AttemptLimit limit : {AttemptLimit(1), kAnyAttempt}) {
    PlanVerifier check(computed, limit);
    REQUIRE(feed(check, greeting).empty());
    if (limit == 1) {
      CHECK(feed(check, waits) == kRefused + "attempt 4 after attempt 0");
      continue;
    }
    CHECK(feed(check, waits).empty());
    CHECK(feed(check, start_at("10.0.0.1")) == kRefused + "a start out of turn");
    PlanVerifier again(computed, limit);
    REQUIRE(feed(again, greeting).empty());
    REQUIRE(feed(again, waits).empty());
    CHECK(feed(again, works).empty());
    CHECK(feed(again, start_at("10.0.0.1")).empty());
  }
}

TEST_CASE("dial-in: a head ends nothing that an earlier agent has left") {
  PlanVerifier check = check_of(part_of(plan_of_two()));
  CHECK(feed(check, hello()) == "");
  CHECK(feed(check, wire::EndLeft{"sml0", "/sys/fs/cgroup/sml-run-abcdef", "/tmp/sml-run-abcdef"}) ==
        kRefused + "EndLeft, a message for hosts that do not call");
}

TEST_CASE("dial-in: a head starts no more workers than this host has computed") {
  PlanVerifier check = check_of(part_of(plan_of_two()));
  CHECK(feed(check, hello()) == "");
  CHECK(feed(check, wire::AddWorkers{}) == kRefused + "AddWorkers, a message for hosts that do not call");
}

TEST_CASE("dial-in: a host runs its own command in its own directory, whatever the head says") {
  const ExpectedPlan part = part_of(plan_of_two());
  PlanVerifier check = check_of(part);
  REQUIRE(feed(check, hello()).empty());
  wire::Prepare prepare = part.prepare;
  prepare.apps[0].argv = {"sh", "-c", "evil"};
  prepare.apps[0].working_directory = "/tmp";
  prepare.apps[0].search_path = "/tmp";
  const Result<std::string> passed = check.pass(wire::encode(wire::ToAgent(prepare)));
  REQUIRE(passed.has_value());
  CHECK(*passed == wire::encode(wire::ToAgent(part.prepare)));
}

TEST_CASE("dial-in: a host writes its own log files, whatever the head says") {
  ExpectedPlan part = part_of(plan_of_two());
  part.prepare.logs.max_size = 4096;
  for (wire::Worker& worker : part.prepare.workers) worker.stdout_log = "/scratch/own/log";
  PlanVerifier check = check_of(part);
  REQUIRE(feed(check, hello()).empty());
  wire::Prepare prepare = part.prepare;
  prepare.logs = {.max_size = 0, .overwrite = wire::LogOverwrite::Yes};
  for (wire::Worker& worker : prepare.workers) worker.stdout_log = "/etc/cron.d/x";
  const Result<std::string> passed = check.pass(wire::encode(wire::ToAgent(prepare)));
  REQUIRE(passed.has_value());
  CHECK(*passed == wire::encode(wire::ToAgent(part.prepare)));
  CHECK(plan_with([](auto& p) { p.workers[0].stdout_log.clear(); }, part) == "another file for the output of rank 2");
  CHECK(plan_with([](auto& p) { p.workers[0].stderr_log = "/tmp/x"; }, part) ==
        "another file for the output of rank 2");
}

TEST_CASE("dial-in: a head that wants another variable or input is refused") {
  const ExpectedPlan part = part_of(plan_of_two());
  CHECK(plan_with([](wire::Prepare&) {}, part) == "");
  CHECK(plan_with([](auto& p) { p.apps[0].user_environment.push_back("LD_PRELOAD=/x"); }, part) ==
        "another value of the variable LD_PRELOAD");
  CHECK(plan_with([](auto& p) { p.apps[0].user_environment.push_back("hidden"); }, part) ==
        "another value of the variable without a name");
  CHECK(plan_with([](auto& p) { p.apps[0].user_environment.pop_back(); }, part) ==
        "another value of the variable TOKEN");
  CHECK(plan_with([](auto& p) { p.apps[0].user_environment.insert(p.apps[0].user_environment.begin(), "LR=9"); },
                  part) == "another value of the variable LR");
  CHECK(plan_with([](auto& p) { p.apps[0].launcher_environment = {"PATH=/x"}; }, part) ==
        "its own environment for the workers here");
  CHECK(plan_with([](auto& p) { p.workers[0].environment.push_back("PATH=/x"); }, part) ==
        "another value of the variable PATH");
  CHECK(plan_with([](auto& p) { p.apps[0].environment.push_back("PATH=/x"); }, part) ==
        "another value of the variable PATH");
  CHECK(plan_with([](auto& p) { p.workers[1].rank = Rank(9); }, part) == "other ranks");
  CHECK(plan_with([](auto& p) { p.workers.pop_back(); }, part) == "another number of workers");
  CHECK(plan_with([](auto& p) { p.workers[0].stdin_source = wire::StdinSource::Launcher; }, part) ==
        "another standard input of rank 2");
  CHECK(plan_with([](auto& p) { p.workers[0].stdout_log = "/etc/cron.d/x"; }, part) ==
        "another file for the output of rank 2");
  CHECK(plan_with([](auto& p) { p.channels.push_back({"a", "/etc", {}, {}}); }, part) == "another --channel");
  CHECK(plan_with([](auto& p) { p.services.emplace_back(); }, part) == "another --preset");
}

TEST_CASE("dial-in: the option that differs is named, and no other") {
  const ExpectedPlan part = part_of(plan_of_two());
  CHECK(plan_with([](auto& p) { p.binding.bind_to = plan::BindTo::Numa; }, part) == "another --bind-to");
  CHECK(plan_with([](auto& p) { p.binding.cores_per_rank = 2; }, part) == "another --cpus-per-rank");
  CHECK(plan_with([](auto& p) { p.binding.nice = 3; }, part) == "another --nice");
  CHECK(plan_with([](auto& p) { p.binding.io_priority = plan::kIdleIo; }, part) == "another --ionice");
  CHECK(plan_with([](auto& p) { p.devices.visible = plan::VisibleDevices::PerRank; }, part) ==
        "another --visible-devices");
  CHECK(plan_with([](auto& p) { p.devices.per_rank = 2; }, part) == "another --gpus-per-rank");
  CHECK(plan_with([](auto& p) { p.interfaces = {"ib0"}; }, part) == "another --interface");
  CHECK(plan_with([](auto& p) { p.mpi.pmi_mode = plan::PmiMode::Pmi2; }, part) == "another --mpi");
  CHECK(plan_with([](auto& p) { p.preload.modules = {"torch"}; }, part) == "another --preload");
  CHECK(plan_with([](auto& p) { p.usage = p.usage == UsageLook::Yes ? UsageLook::No : UsageLook::Yes; }, part) ==
        "another --no-usage");
  CHECK(plan_with([](auto& p) { p.inherited.umask = 0; }, part) == "another limit of processes, or umask");
  CHECK(plan_with([](auto& p) { p.binding.share = plan::CoreShare::Equal; }, part) == "another --cpus-per-rank");
  CHECK(plan_with([](auto& p) { p.mpi.pmix_library = "/x.so"; }, part) == "another --pmix");
  CHECK(plan_with([](auto& p) { p.mpi.host = 7; }, part) == "another map of the ranks");
  CHECK(plan_with([](auto& p) { p.services.push_back({wire::ServiceKind::TorchStore}); }, part) == "another --elastic");
  CHECK(plan_with([](auto& p) { p.monitor.sections = {{"step", 5}}; }, part) == "another --rank-section-timeouts");
  CHECK(plan_with([](auto& p) { p.accelerators = wire::AcceleratorLook::Yes; }, part) == "another --max-restarts");
  CHECK(plan_with([](auto& p) { p.workers[0].cores = "0"; }, part) == "other cores for rank 2");
  CHECK(plan_with([](auto& p) { p.workers[0].stderr_pipe = wire::StderrPipe::OfStdout; }, part) ==
        "another --merge-stderr");
  CHECK(plan_with([](auto& p) { p.workers[0].stdout_end = wire::StdoutEnd::Terminal; }, part) == "another --pty");
  CHECK(plan_with([](auto& p) { p.workers[0].result_pipe = wire::ResultPipe::Yes; }, part) == "another --results");
}

TEST_CASE("dial-in: of several options that differ, one of the workers' places is named first") {
  const ExpectedPlan part = part_of(plan_of_two());
  const auto change = [](wire::Prepare& p) {
    p.interfaces = {"ib0"};
    p.mpi.host = 7;
    p.mpi.pmix_library = "/x.so";
  };
  CHECK(plan_with(change, part) == "another --pmix");
  const auto change_more = [&change](wire::Prepare& p) {
    change(p);
    p.binding.memory = plan::MemoryPolicy::Bind;
    p.binding.share = plan::CoreShare::Equal;
  };
  CHECK(plan_with(change_more, part) == "another --cpus-per-rank");
}

TEST_CASE("dial-in: where only one host's environment has a variable with a default, each host keeps its own") {
  plan::LaunchPlan plan = plan_of_two();
  plan.user_environment = {"LR=0.1"};  // this host's own environment has OMP_NUM_THREADS
  const ExpectedPlan part = part_of(plan);
  PlanVerifier check = check_of(part);
  REQUIRE(feed(check, hello()).empty());
  wire::Prepare prepare = part.prepare;
  prepare.apps[0].user_environment = {"ACCELERATE_DYNAMO_MODE=default", "LR=0.1", "OMP_NUM_THREADS=1"};
  const Result<std::string> passed = check.pass(wire::encode(wire::ToAgent(prepare)));
  REQUIRE(passed.has_value());
  CHECK(*passed == wire::encode(wire::ToAgent(part.prepare)));
  CHECK(plan_with(
            [](auto& p) {
              p.apps[0].user_environment = {"LR=0.2", "OMP_NUM_THREADS=1"};
            },
            part) == "another value of the variable LR");
}

TEST_CASE("dial-in: a head tells where to meet, and nothing else") {
  const ExpectedPlan part = part_of(plan_of_two());
  CHECK(start_with(start_at("10.0.0.1"), part) == "");
  CHECK(start_with(start_at("a b"), part) == "a MASTER_ADDR that is no address");
  CHECK(start_with(start_at(""), part) == "a MASTER_ADDR that is no address");
  wire::Start start = start_at("10.0.0.1");
  start.rendezvous.push_back("LD_PRELOAD=/x");
  CHECK(start_with(start, part) == "another value of the variable LD_PRELOAD");
  start = start_at("10.0.0.1");
  start.stores = {plan::TorchStore::OfAgent, 2, {"10.0.0.1"}};
  CHECK(start_with(start, part) == "a store for others");
  start = start_at("10.0.0.1");
  start.stores.rounds = wire::HorovodRounds::Yes;
  CHECK(start_with(start, part) == "a store for others");
  start = start_at("10.0.0.1");
  start.variables = {{Rank(2), {"PATH=/x"}}};
  CHECK(start_with(start, part) == "variables of another --preset");
  start.variables.clear();
  start.common = {"PATH=/x"};
  CHECK(start_with(start, part) == "variables of another --preset");
}

TEST_CASE("dial-in: variables of presets may differ in addresses and ports only") {
  const plan::LaunchPlan plan = plan_of_two({plan::Preset::Tf, plan::Preset::Jax, plan::Preset::Slurm});
  const ExpectedPlan part = part_of(plan);
  for (const auto& addresses : {std::vector<std::string>{"10.0.0.1", "10.0.0.22"}, {"fd00::1", "fe80::2%eth0"}}) {
    wire::Start start = start_at(addresses[0]);
    start.variables = variables_of(plan, addresses, 4711);
    wire::Start packed = start;
    wire::pack_environments(packed);
    CHECK(packed.common.size() > packed.variables[0].environment.size());
    CHECK(start_with(packed, part) == "");
    packed.common.front() = "PATH=/x";
    CHECK_FALSE(start_with(packed, part).empty());
    CHECK(start_with(start, part) == "");
    for (const std::string& change : {std::string("x=1"), std::string("\"},\"x\":{\"")}) {
      wire::Start evil = start;
      std::string& entry = evil.variables[0].environment.front();
      entry.insert(entry.find(addresses[0]) + 2, change);
      CHECK(start_with(evil, part) == "another value of the variable TF_CONFIG");
    }
    start.variables[1].environment.back() = "PATH=/x";
    CHECK(start_with(start, part) == "another value of the variable PATH");
  }
}

TEST_CASE("dial-in: a head says each thing once, in its order, and a check starts nothing") {
  const ExpectedPlan part = part_of(plan_of_two());
  PlanVerifier hasty = check_of(part);
  CHECK(feed(hasty, part.prepare) == kRefused + "messages in another order");
  PlanVerifier again = check_of(part);
  CHECK(feed(again, hello()).empty());
  CHECK(feed(again, start_at("10.0.0.1")) == kRefused + "a start out of turn");
  CHECK(feed(again, part.prepare).empty());
  CHECK(feed(again, part.prepare) == kRefused + "a second plan");
  CHECK(feed(again, wire::StdinData{Rank(2), "x"}) == kRefused + "input for a rank that reads none");
  CHECK(feed(again, hello()) == kRefused + "messages in another order");

  ExpectedPlan looked_at = part;
  looked_at.starts = Starts::No;
  CHECK(start_with(start_at("10.0.0.1"), looked_at) == "a start, and this is a check");

  PlanVerifier other = check_of(part);
  wire::Hello strange = hello();
  strange.job_id = "../x";
  CHECK(feed(other, strange) == kRefused + "a job id that is no plain name");
  strange.job_id = "another";  // in which this host has no part
  CHECK(feed(other = check_of(part), strange) == kRefused + "workers, and this host has none");
  strange = hello();
  strange.host = "host-0";
  CHECK(feed(other = check_of(part), strange) == kRefused + "that it is host \"host-0\", and it is \"host-1\"");
  CHECK(other.pass(std::string("\xff\xff\xff\xff\1", 5)).has_error());
  CHECK(other.take_mark("sml0123456789abcdef").has_value());
  for (const char* bad : {"", "--help", "a b", "a\n"}) CHECK(other.take_mark(bad).has_error());
}

TEST_CASE("dial-in: a restart is what this host makes of its number, one after the other, and no more than allowed") {
  const auto computed = [](std::uint32_t attempt) {
    plan::LaunchPlan plan = plan_of_two();
    plan.job.attempt = attempt - 1;
    return part_of(plan);
  };
  const auto check = [&] {
    return PlanVerifier([&](const AttemptParameters& choice) { return std::optional(computed(choice.attempt)); }, 2);
  };
  PlanVerifier good = check();
  CHECK(feed(good, hello()).empty());
  CHECK(feed(good, computed(1).prepare).empty());
  CHECK(feed(good, start_at("10.0.0.1")).empty());
  CHECK(feed(good, computed(2).prepare).empty());
  CHECK(feed(good, start_at("10.0.0.1")).empty());
  CHECK(feed(good, computed(3).prepare) == kRefused + "more restarts than --max-restarts allows");

  const auto second = [&](const wire::Prepare& prepare) {
    PlanVerifier again = check();
    REQUIRE(feed(again, hello()).empty());
    REQUIRE(feed(again, computed(1).prepare).empty());
    REQUIRE(feed(again, start_at("10.0.0.1")).empty());
    return feed(again, prepare);
  };
  CHECK(second(computed(1).prepare) == kRefused + "attempt 1 after attempt 1");
  CHECK(second(computed(3).prepare) == kRefused + "attempt 3 after attempt 1");
  wire::Prepare evil = computed(2).prepare;
  evil.apps[0].world = plan::WorldTold::No;
  CHECK(second(evil) == kRefused + "other variables for the workers here");
  evil = computed(1).prepare;
  evil.attempt = 2;
  CHECK(second(evil).starts_with(kRefused + "another value of the variable"));
}

TEST_CASE("dial-in: what an agent tells of itself is found, whatever the pieces, and nothing in what is none") {
  const wire::HelloAck greeting{.build_id = "1",
                                .addresses = {},
                                .machine = {},
                                .cgroup = "/sys/fs/cgroup/sml-run-abcdef",
                                .scratch = "/tmp/sml-run-abcdef"};
  const std::string words =
      wire::agent_line("sml0") + wire::encode(wire::ToLauncher(greeting)) + wire::encode(wire::ToLauncher(wire::Bye{}));
  AgentTraces in_pieces("sml0");
  for (const char& byte : words) in_pieces.feed(std::span<const char>(&byte, 1));
  REQUIRE(in_pieces.found().has_value());
  CHECK(in_pieces.found()->mark == "sml0");
  CHECK(in_pieces.found()->cgroup == greeting.cgroup);
  CHECK(in_pieces.found()->scratch == greeting.scratch);

  for (const std::string& other :
       {std::string(), wire::agent_line("sml0"), wire::agent_line("sml1") + words.substr(words.find('\n') + 1),
        wire::agent_line("sml0") + wire::encode(wire::ToLauncher(wire::Bye{})) + words, std::string(100, '\xff')}) {
    AgentTraces traces("sml0");
    traces.feed(std::span<const char>(other));
    CHECK_FALSE(traces.found().has_value());
  }
}
