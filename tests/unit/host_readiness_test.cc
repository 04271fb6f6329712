#include "launcher/attempt/hosts/host_readiness.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "common/wire/handshake.h"
#include "launcher/attempt/hosts/spare_hosts.h"
#include "tests/support/catch.h"
#include "tests/support/fake_transport.h"

using namespace sml;
using namespace sml::attempt;
using namespace std::chrono_literals;

namespace {

struct FakeLauncher final : transport::AgentLauncher {
  std::unique_ptr<transport::AgentTransport> transport(HostId host, const std::string& mark,
                                                       const std::string&) override {
    auto log = std::make_shared<fake::TransportLog>();
    log->argument = mark;
    logs[host] = log;
    return std::make_unique<fake::ScriptedTransport>(log);
  }
  std::unique_ptr<transport::AgentTransport> local_transport(const std::string&) override { return nullptr; }
  Result<void> open(Events) override { return {}; }
  bool send_end(const transport::RunEnd&, std::function<void()>) override { return false; }
  std::map<HostId, std::shared_ptr<fake::TransportLog>> logs;
};

struct Listener final : fleet::FleetListener, fleet::SpareListener {
  void host_introduced(fleet::Host&) override {}
  void host_prepared(fleet::Host&, const wire::Prepared&) override {}
  void host_message(fleet::Host&, wire::ToLauncher) override {}
  void host_ended(fleet::Host&, const Error*) override {}
  void spare_message(fleet::Host&, const wire::ToLauncher&) override {}
  void spare_step(const fleet::Host&) override {}
  void spare_waits(fleet::Host&) override {}
  void spare_ended(fleet::Host&, const Error*) override {}
};

struct Owner final : AttemptOwner {
  void print(const std::string& text) override { said.push_back(text); }
  void complete(transport::AgentSession::Plan&) override {}
  void begin_logs(std::function<void()> then) override { then(); }
  void ranks_missing() override {}
  void before_end(std::function<void()>) override {}
  void host_log_failed(const Error&) override {}
  void attempt_cleared() override {}
  void host_lost_at_rest() override {}
  Result<plan::JobMap> next_round(const plan::JobMap& round, const std::vector<HostId>&) const override {
    return round;
  }
  void attempt_over(End) override {}
  std::vector<std::string> said;
};

// By the events that it has told: ready, and what else.
struct Events final : report::EventListener {
  void on_event(const report::Event& event) override {
    ready += std::holds_alternative<report::HostReady>(event.what) ? 1 : 0;
    ended += std::holds_alternative<report::HostEnded>(event.what) ? 1 : 0;
    if (const auto* failed = std::get_if<report::HostFailed>(&event.what)) why = failed->why.message();
  }
  int ready = 0;
  int ended = 0;
  std::string why;
};

// The hosts a and b have workers, the host s is a spare.
struct Stage {
  explicit Stage(std::uint32_t attempt) : health("", attempt, 60s) {
    auto owned = std::make_unique<FakeLauncher>();
    agent_launcher = owned.get();
    fleet = std::make_unique<fleet::Fleet>(loop, image, std::move(owned), 30s);
    fleet->serve(listener, &listener);
    fleet->begin_group({HostIndex(0), HostIndex(1), HostIndex(2)});
    fleet->add(plan_of(0, "a"));
    fleet->add(plan_of(1, "b"));
    fleet->add_spare({}, plan_of(2, "s"));
    fleet->start();
    feed.add(events);
    readiness = std::make_unique<HostReadiness>(*fleet, plan, options, health, feed, owner);
  }
  static transport::AgentSession::Plan plan_of(std::uint32_t id, const std::string& name) {
    transport::AgentSession::Plan out;
    out.host = HostId(id);
    out.name = name;
    return out;
  }
  // Its agent runs, and is asked whether its host is well.
  fleet::Host& greet(fleet::Host& host) {
    const fake::TransportLog& log = *agent_launcher->logs.at(host.id);
    log.events->transport_open("10.0.0.9", "10.0.0." + std::to_string(host.id.value() + 1));
    log.events->transport_bytes(wire::agent_line(log.argument));
    health.ask(host);
    return host;
  }

  boost::asio::io_context loop;
  transport::AgentImage image = transport::AgentImage::embedded();
  Listener listener;
  FakeLauncher* agent_launcher = nullptr;
  std::unique_ptr<fleet::Fleet> fleet;
  plan::LaunchPlan plan;
  JobOptions options;
  HealthCheckGate health;
  Events events;
  report::EventFeed feed;
  Owner owner;
  std::unique_ptr<HostReadiness> readiness;
};

}  // namespace

TEST_CASE("roster: a host that nobody asks after its health is ready when it is prepared") {
  Stage stage(0);
  for (const fleet::Host& host : stage.fleet->hosts()) {
    CHECK_FALSE(stage.readiness->all_ready());
    stage.readiness->prepared(host, {});
    stage.readiness->look_if_ready(host);
    stage.readiness->look_if_ready(host);
  }
  CHECK(stage.events.ready == 2);
  CHECK(stage.readiness->all_ready());
  CHECK(stage.readiness->all_settled());
}

TEST_CASE("roster: where it is asked, it is waited for by that name") {
  Stage stage(1);
  fleet::Host& host = stage.greet(stage.fleet->hosts()[0]);
  CHECK(stage.readiness->awaited_step(host) == host.session->step());
  stage.readiness->prepared(host, {});
  stage.readiness->look_if_ready(host);
  CHECK(stage.events.ready == 0);
  CHECK(stage.readiness->awaited_step(host) == "checking its health");
  CHECK(stage.health.note(host, {2, {}})->has_value());
  stage.readiness->look_if_ready(host);
  CHECK(stage.events.ready == 1);
  CHECK_FALSE(stage.readiness->all_settled());  // the other
}

TEST_CASE("roster: a host that is well before it is prepared, or has failed, is not ready") {
  Stage stage(1);
  fleet::Host& well = stage.greet(stage.fleet->hosts()[0]);
  fleet::Host& failed = stage.greet(stage.fleet->hosts()[1]);
  for (fleet::Host* host : {&well, &failed}) CHECK(stage.health.note(*host, {2, {}})->has_value());
  stage.readiness->look_if_ready(well);
  stage.readiness->fail(failed);
  stage.readiness->prepared(failed, {});
  stage.readiness->look_if_ready(failed);
  CHECK(stage.events.ready == 0);
  CHECK(stage.readiness->fail_late() == std::vector<const fleet::Host*>{&well});
  CHECK(stage.readiness->has_failed(well));
  CHECK(stage.readiness->all_settled());
  CHECK_FALSE(stage.readiness->all_ready());
}

TEST_CASE("roster: what stands in its way, and what it says of its ranks") {
  Stage stage(0);
  wire::Prepared message;
  message.errors.emplace_back();
  message.bindings.push_back({Rank(3), "cores 0-1"});
  message.warnings.emplace_back("slow");
  const fleet::Host& host = stage.fleet->hosts()[1];
  stage.readiness->prepared(host, message);
  stage.readiness->look_if_ready(host);
  CHECK(stage.events.ready == 0);
  CHECK(stage.owner.said == std::vector<std::string>{"rank 3 on b is bound to cores 0-1", "warning: b: slow"});
}

namespace {

struct Sink final : WorkerSink {
  Result<void> complete(const plan::LaunchPlan&, Rank, std::vector<wire::AddWorkers>&) override { return {}; }
  void add_workers(const plan::LaunchPlan&, Rank) override {}
  void workers_run() override {}
  void worker_output(Rank, Stream, std::string_view, TimePoint) override {}
  void worker_results(Rank, std::string_view) override {}
  void worker_drained(Rank) override {}
  void worker_ended(Rank) override {}
  void input_taken(Rank, std::uint64_t) override {}
  std::size_t pending_output() const override { return 0; }
};

struct Control final : AttemptControl {
  void look_for_end() override { ++looks; }
  void give_up(const std::vector<report::AttemptFacts::HostFault>&) override {}
  void stop_for(Error) override {}
  int looks = 0;
};

// Beside the workers of a and b.
struct SparesOfStage {
  explicit SparesOfStage(Stage& stage)
      : context{stage.loop.get_executor(), stage.options, *stage.fleet, stage.feed, stage.owner, sink},
        spares({context, control, plan, machine, stage.health, transport::Afterwards::Stay}) {
    plan.map.hosts.resize(3);
    stage.fleet->serve(stage.listener, &spares);
  }
  // Its workers run.
  void run() {
    CHECK(machine.on(AttemptEvent::AllReady, Clock::now()) == AttemptAction::Probe);
    CHECK(machine.on(AttemptEvent::AllProbed, Clock::now()) == AttemptAction::StartAll);
  }
  Sink sink;
  AttemptContext context;
  Control control;
  plan::LaunchPlan plan;
  AttemptMachine machine{60s, 10s, Clock::now(), std::nullopt, std::nullopt};
  SpareHosts spares;
};

}  // namespace

TEST_CASE("spares: a host that comes while workers run is reached, checked and waits, and nobody else hears of it") {
  Stage stage(1);
  SparesOfStage beside(stage);
  CHECK_FALSE(beside.spares.may_come());
  beside.run();
  CHECK(beside.spares.may_come());
  plan::MappedHost host{.host = {}, .slots = 1, .ranks = {}, .id = HostId(3), .duty = plan::HostDuty::Spare};
  host.host.name = "n";
  beside.spares.come(host);
  fleet::Host& fresh = stage.greet(stage.fleet->others()[1]);
  CHECK_FALSE(beside.spares.is_ready(HostId(3)));
  const fake::TransportLog& log = *stage.agent_launcher->logs.at(HostId(3));
  const auto say = [&log](const wire::ToLauncher& message) { log.events->transport_bytes(wire::encode(message)); };
  say(wire::HelloAck{});
  say(wire::Prepared{});
  say(wire::Cleared{.attempt = 1, .left = {}});
  CHECK_FALSE(beside.spares.is_ready(HostId(3)));
  say(wire::Health{2, {}});
  CHECK(beside.spares.is_ready(HostId(3)));
  CHECK(stage.owner.said == std::vector<std::string>{"n is ready, for the next restart"});
  CHECK(stage.events.ready == 0);
  CHECK(beside.spares.lost().empty());

  fresh.session->abandon(Error(ErrorKind::Lost, "gone"));
  stage.loop.poll();
  CHECK(stage.owner.said.back() == "the spare host n is out: gone");
  CHECK(beside.spares.lost() == std::vector<HostId>{HostId(3)});
  beside.spares.come(host);  // once more
  CHECK(beside.spares.lost().empty());
}

TEST_CASE("spares: one that is not well is let go, and people hear of it") {
  Stage stage(1);
  SparesOfStage beside(stage);
  SpareHosts& spares = beside.spares;
  fleet::Host& spare = stage.greet(stage.fleet->others()[0]);
  spares.spare_message(spare, wire::Health{1, {"of the attempt before"}});
  CHECK_FALSE(spare.session->ended());
  spares.spare_message(spare, wire::Health{2, {"its disk is full"}});
  stage.loop.poll();
  CHECK(stage.owner.said == std::vector<std::string>{"the spare host s is out: not well: its disk is full"});
  CHECK(stage.events.why == "not well: its disk is full");
  CHECK(beside.control.looks == 1);
  spares.spare_ended(spare, nullptr);
  CHECK(stage.events.ended == 1);
}
