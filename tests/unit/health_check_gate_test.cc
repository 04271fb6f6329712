#include "launcher/attempt/hosts/health_check_gate.h"

#include <boost/asio/io_context.hpp>

#include "common/wire/codec.h"
#include "common/wire/handshake.h"
#include "tests/support/catch.h"
#include "tests/support/fake_transport.h"

using namespace sml;
using namespace sml::attempt;
using namespace std::chrono_literals;

namespace {

struct FakeLauncher final : transport::AgentLauncher {
  std::unique_ptr<transport::AgentTransport> transport(HostId, const std::string& mark, const std::string&) override {
    log->argument = mark;
    return std::make_unique<fake::ScriptedTransport>(log);
  }
  std::unique_ptr<transport::AgentTransport> local_transport(const std::string&) override { return nullptr; }
  Result<void> open(Events) override { return {}; }
  bool send_end(const transport::RunEnd&, std::function<void()>) override { return false; }
  std::shared_ptr<fake::TransportLog> log = std::make_shared<fake::TransportLog>();
};

struct Owner final : transport::SessionOwner {
  void session_greeted(transport::AgentSession&) override {}
  void session_ready(transport::AgentSession&, const wire::Prepared&) override {}
  void session_message(transport::AgentSession&, wire::ToLauncher) override {}
  void session_ended(transport::AgentSession&, const Error*) override {}
};

struct Stage {
  Stage() {
    transport::AgentSession::Plan plan;
    plan.name = "a";
    host.id = HostId(3);
    host.session =
        std::make_unique<transport::AgentSession>(loop.get_executor(), owner, image, agent_launcher, std::move(plan));
    host.session->start();
  }
  void greet() const {
    agent_launcher.log->events->transport_open("10.0.0.1", "10.0.0.2");
    agent_launcher.log->events->transport_bytes(wire::agent_line(agent_launcher.log->argument));
  }
  std::vector<wire::AskHealth> asked() const {
    std::vector<wire::AskHealth> out;
    wire::Decoder<wire::ToAgent> decoder;
    decoder.feed(agent_launcher.log->all_sent());
    for (auto next = decoder.next(); next && next->has_value(); next = decoder.next()) {
      if (const auto* one = std::get_if<wire::AskHealth>(&**next)) out.push_back(*one);
    }
    return out;
  }

  boost::asio::io_context loop;
  transport::AgentImage image = transport::AgentImage::embedded();
  Owner owner;
  FakeLauncher agent_launcher;
  fleet::Host host;
};

}  // namespace

TEST_CASE("health: the first attempt asks for --health-check only, and for no accelerators") {
  Stage stage;
  stage.greet();
  HealthCheckGate plain("", 0, 60s);
  plain.ask(stage.host);
  CHECK(plain.passed(stage.host));
  CHECK(stage.asked().empty());
  HealthCheckGate gate("true", 0, 60s);
  gate.ask(stage.host);
  REQUIRE(stage.asked().size() == 1);
  CHECK(stage.asked()[0].command == "true");
  CHECK(stage.asked()[0].limit_ms == 10'000);
  CHECK(stage.asked()[0].accelerators_ms == 0);
  CHECK_FALSE(gate.passed(stage.host));
}

TEST_CASE("health: a further attempt asks each host that is there once, and waits for its own answer") {
  Stage stage;
  HealthCheckGate gate("", 1, 60s);
  gate.ask(stage.host);  // no agent runs
  stage.greet();
  gate.ask(stage.host);
  gate.ask(stage.host);
  REQUIRE(stage.asked().size() == 1);
  CHECK(stage.asked()[0].accelerators_ms == 50'000);
  CHECK_FALSE(gate.note(stage.host, {1, {}}).has_value());  // of the attempt before
  CHECK_FALSE(gate.passed(stage.host));
  CHECK(gate.note(stage.host, {2, {}})->has_value());
  CHECK(gate.passed(stage.host));
}

TEST_CASE("health: all is to be over before the time to start is") {
  Stage stage;
  stage.greet();
  HealthCheckGate(std::string("true"), 2, 6s).ask(stage.host);
  CHECK(stage.asked().at(0).limit_ms == 5'000);
  CHECK(stage.asked().at(0).accelerators_ms == 5'000);
}

TEST_CASE("health: a host that is not well is told of with its first fault") {
  Stage stage;
  stage.greet();
  HealthCheckGate gate("check", 0, 60s);
  gate.ask(stage.host);
  const auto news = gate.note(stage.host, {1, {"no space is left in /dev/shm", "more"}});
  REQUIRE((news && !news->has_value()));
  CHECK(news->error().message() == "not well: no space is left in /dev/shm");
  CHECK(exit_code_of(news->error().kind()) == 125);
  CHECK_FALSE(gate.passed(stage.host));
}
