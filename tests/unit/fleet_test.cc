#include "launcher/fleet/fleet.h"

#include <map>
#include <span>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "common/wire/codec.h"
#include "common/wire/handshake.h"
#include "launcher/fleet/address_search.h"
#include "launcher/transport/clean_up.h"
#include "tests/support/catch.h"
#include "tests/support/fake_transport.h"
#include "tests/support/watchdog.h"

using namespace sml;
using namespace sml::fleet;
using namespace std::chrono_literals;

namespace {

// Every host is another machine, and what is sent to its agent can be looked at.
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
  bool reaches_again(HostId) const override { return again; }
  Sameness sameness() const override { return same; }
  bool send_end(const transport::RunEnd& end, std::function<void()> told) override {
    told_words = end.words;
    told();
    return true;
  }

  std::map<HostId, std::shared_ptr<fake::TransportLog>> logs;
  bool again = false;
  Sameness same = Sameness::OfMachines;
  std::string told_words;
};

struct Listener final : FleetListener, SpareListener {
  void host_introduced(Host& host) override { introduced.push_back(host.id); }
  void host_prepared(Host& host, const wire::Prepared&) override { prepared.push_back(host.id); }
  void host_message(Host&, wire::ToLauncher) override {}
  void host_ended(Host& host, const Error* why) override {
    ended.push_back(host.id);
    words = why != nullptr ? why->message() : std::string();
  }
  void spare_message(Host&, const wire::ToLauncher&) override {}
  void spare_step(const Host&) override {}
  void spare_ended(Host&, const Error*) override {}
  void spare_waits(Host& host) override { waiting.push_back(host.id); }
  std::vector<HostId> introduced, prepared, ended, waiting;
  std::string words;
};

// The hosts 1 and 4 of a run, of which the plan knows the second as 3.
struct Stage {
  explicit Stage(Duration heartbeat_timeout = 30s) {
    auto owned = std::make_unique<FakeLauncher>();
    agent_launcher = owned.get();
    fleet = std::make_unique<Fleet>(loop, image, std::move(owned), heartbeat_timeout);
    fleet->serve(listener, &listener);
    fleet->begin_group({HostIndex(2), HostIndex(0), HostIndex(1), HostIndex(4), HostIndex(3)});
    fleet->add(plan(1, "a"));
    fleet->add(plan(4, "b"));
    fleet->start();
  }
  static transport::AgentSession::Plan plan(std::uint32_t id, const std::string& name) {
    transport::AgentSession::Plan out;
    out.host = HostId(id);
    out.name = name;
    out.prepare = [id](transport::AgentPlace) {
      wire::Prepare prepare;
      if (id == 1) prepare.services = {{wire::ServiceKind::TorchStore, wire::ServiceReach::Network}};
      return prepare;
    };
    return out;
  }
  transport::TransportEvents& events(std::uint32_t id) { return *agent_launcher->logs.at(HostId(id))->events; }
  void say(std::uint32_t id, const std::string& bytes) { events(id).transport_bytes(bytes); }
  void greet(std::uint32_t id, const std::string& peer, const std::string& machine) {
    events(id).transport_open("10.0.0.1", peer);
    say(id, wire::agent_line(agent_launcher->logs.at(HostId(id))->argument));
    wire::HelloAck ack;
    ack.machine = machine;
    say(id, wire::encode(wire::ToLauncher(ack)));
  }
  template <class Message>
  std::size_t sent(std::uint32_t id) {
    wire::Decoder<wire::ToAgent> decoder;
    decoder.feed(agent_launcher->logs.at(HostId(id))->all_sent());
    std::size_t count = 0;
    for (auto next = decoder.next(); next && next->has_value(); next = decoder.next()) {
      if (std::holds_alternative<Message>(**next)) ++count;
    }
    return count;
  }

  boost::asio::io_context loop;
  transport::AgentImage image = transport::AgentImage::embedded();
  Listener listener;
  FakeLauncher* agent_launcher = nullptr;
  std::unique_ptr<Fleet> fleet;
};

}  // namespace

TEST_CASE("a host keeps its id whatever a plan calls it") {
  Stage stage;
  stage.greet(4, "10.0.0.4", "m4");
  CHECK(stage.listener.introduced == std::vector<HostId>{HostId(4)});
  const Host& host = stage.fleet->hosts()[1];
  CHECK(host.id == HostId(4));
  CHECK(host.index == HostIndex(3));
  CHECK(host.machine == "m4");
  CHECK(stage.sent<wire::Ping>(4) == 1);
  stage.fleet->send(HostIndex(3), wire::Credit{7});
  stage.fleet->send(HostIndex(2), wire::Credit{7});  // nobody's
  CHECK(stage.sent<wire::Credit>(4) == 1);
}

TEST_CASE("a clean-up that is stopped does not say that its time was over") {
  boost::asio::io_context loop;
  const transport::AgentImage image = transport::AgentImage::embedded();
  FakeLauncher agent_launcher;
  std::vector<std::string> said;
  transport::AgentSession::Plan plan;
  plan.host = HostId(1);
  plan.name = "a";
  plan.end_left.emplace();
  transport::CleanUp clean_up(loop, image, agent_launcher, [&](const std::string& text) { said.push_back(text); });
  boost::asio::post(loop, [&loop] { loop.stop(); });
  std::vector<transport::AgentSession::Plan> plans;
  plans.push_back(std::move(plan));
  clean_up.run(std::move(plans));
  CHECK(said == std::vector<std::string>{
                    "a: what its agent may have left there has not been looked for: stopped before it answered"});
}

TEST_CASE("what all are told reaches those whose agents run") {
  Stage stage;
  stage.greet(1, "10.0.0.1", "m1");
  stage.fleet->send_all(wire::Suspend{});
  CHECK(stage.sent<wire::Suspend>(1) == 1);
  CHECK(stage.sent<wire::Suspend>(4) == 0);
}

TEST_CASE("a fleet has ended when every host has") {
  Stage stage;
  stage.events(1).transport_closed(Error(ErrorKind::Connect, "refused"));
  CHECK(stage.listener.words == "refused");
  CHECK_FALSE(stage.fleet->all_ended());
  stage.events(4).transport_closed(Error(ErrorKind::Connect, "refused"));
  CHECK(stage.fleet->all_ended());
}

TEST_CASE("a host that is silent is given up") {
  Stage stage(30ms);
  stage.greet(1, "10.0.0.1", "m1");
  const TimePoint limit = Clock::now() + fake::watchdog();
  while (stage.listener.ended.empty() && Clock::now() < limit) stage.loop.run_one_until(limit);
  CHECK(stage.listener.ended == std::vector<HostId>{HostId(1)});
  CHECK(stage.listener.words == "lost: nothing received for 30 ms");
}

TEST_CASE("a spare is prepared, waits, and then takes the place of a host that is lost") {
  Stage stage;
  stage.fleet->add_spare({}, Stage::plan(2, "s"));
  stage.fleet->start();  // and 1 and 4 are not reached again
  for (const std::uint32_t id : {1U, 2U, 4U}) stage.greet(id, "10.0.0.1", "m" + std::to_string(id));
  CHECK(stage.listener.introduced == std::vector<HostId>{HostId(1), HostId(4)});
  stage.say(2, wire::encode(wire::ToLauncher(wire::Prepared{})));
  CHECK(stage.listener.prepared.empty());
  CHECK(stage.sent<wire::Stop>(2) == 1);
  stage.say(2, wire::encode(wire::ToLauncher(wire::Cleared{.attempt = 1, .left = {}})));
  CHECK(stage.listener.waiting == std::vector<HostId>{HostId(2)});

  stage.events(4).transport_closed(Error(ErrorKind::Lost, "gone"));
  CHECK(stage.listener.ended == std::vector<HostId>{HostId(4)});
  stage.fleet->begin_group({HostIndex(4), HostIndex(0), HostIndex(3), HostIndex(1), HostIndex(2)});
  transport::AgentSession::Plan again = Stage::plan(1, "a");
  stage.fleet->add(std::move(again));
  stage.fleet->add(Stage::plan(2, "s"));
  const std::span<const Host> hosts = stage.fleet->hosts();
  REQUIRE(hosts.size() == 2);
  CHECK(hosts[1].id == HostId(2));
  CHECK(hosts[1].index == HostIndex(3));
  CHECK(stage.fleet->others()[0].id == HostId(4));
  CHECK(stage.fleet->is_first(hosts[0]));
  CHECK_FALSE(stage.fleet->is_first(hosts[1]));
  CHECK(stage.fleet->find(HostId(2)) == &hosts[1]);
  CHECK(stage.fleet->find(HostId(4)) == &stage.fleet->others()[0]);
  CHECK(stage.fleet->find(HostId(3)) == nullptr);
  stage.fleet->start();
  CHECK(stage.sent<wire::Prepare>(2) == 2);  // over the session that there is
  stage.say(2, wire::encode(wire::ToLauncher(wire::Prepared{})));
  CHECK(stage.listener.prepared == std::vector<HostId>{HostId(2)});
}

TEST_CASE("a spare that cannot be had is out, and the others go on") {
  Stage stage;
  stage.fleet->add_spare({}, Stage::plan(2, "s"));
  stage.fleet->start();
  stage.events(2).transport_closed(Error(ErrorKind::Connect, "refused"));
  CHECK(stage.listener.ended.empty());
  CHECK(stage.fleet->lost() == std::vector<HostId>{HostId(2)});
  CHECK_FALSE(stage.fleet->lost_workers_end());  // it had none
}

TEST_CASE("names of one machine are found, unless the way itself tells hosts apart") {
  Stage stage;
  plan::JobMap map;
  map.hosts.resize(4);
  map.hosts[0].host.name = "a";
  map.hosts[3].host.name = "b";
  stage.greet(1, "10.0.0.1", "same");
  stage.greet(4, "10.0.0.4", "same");
  CHECK(stage.fleet->machines(map).size() == 1);
  stage.agent_launcher->same = transport::AgentLauncher::Sameness::OfNames;
  CHECK(stage.fleet->machines(map).empty());
}

TEST_CASE("hosts that wait for the end are told once all are dismissed") {
  Stage stage;
  stage.fleet->dismiss();
  stage.fleet->send_end({.exit_code = 3, .words = "it failed", .failure = {}});
  CHECK(stage.agent_launcher->told_words == "it failed");
  stage.fleet->send(HostIndex(0), wire::Credit{1});  // nobody is there
}

TEST_CASE("the address of the first host is tried by the others, and all of them are waited for") {
  Stage stage;
  AddressSearch search(stage.fleet->hosts(), "10.9.9.9");
  const std::span<const Host> hosts = stage.fleet->hosts();
  stage.greet(4, "10.0.0.4", "m4");
  search.ask(hosts[1]);
  CHECK(stage.sent<wire::Probe>(4) == 0);  // there is no port yet
  search.begin(29500);
  search.ask(hosts[1]);
  CHECK(stage.sent<wire::Probe>(4) == 1);
  CHECK_FALSE(search.outcome(AddressSearch::Of::All));
  CHECK_FALSE(search.outcome(AddressSearch::Of::ThoseThatRun));
  SECTION("one that reaches it") {
    search.note(hosts[1], wire::Probed{{{"10.9.9.9", 0}}});
    CHECK(search.has_answered(hosts[1]));
    CHECK(search.outcome(AddressSearch::Of::All)->address == "10.9.9.9");
    CHECK_FALSE(search.ask_again());  // all addresses were known
  }
  SECTION("one that does not") {
    search.note(hosts[1], wire::Probed{{{"10.9.9.9", 113}}});
    const auto chosen = search.outcome(AddressSearch::Of::All);
    CHECK(chosen->address.empty());
    REQUIRE(chosen->faults.size() == 1);
    CHECK(chosen->faults[0].index == HostIndex(3));
  }
  SECTION("one that has gone") {
    stage.events(4).transport_closed(Error(ErrorKind::Lost, "gone"));
    CHECK_FALSE(search.outcome(AddressSearch::Of::All));
    CHECK(search.outcome(AddressSearch::Of::ThoseThatRun)->address.empty());
  }
}
