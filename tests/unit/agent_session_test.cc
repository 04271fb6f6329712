#include "launcher/transport/session/agent_session.h"

#include <csignal>

#include <boost/asio/io_context.hpp>

#include "launcher/transport/bootstrap_script.h"
#include "tests/support/catch.h"
#include "tests/support/fake_session_owner.h"
#include "tests/support/fake_transport.h"

using namespace sml;
using namespace sml::transport;
using namespace std::string_literals;

namespace {

enum class Where { Remote, Local };

// A session with ranks 2 and 5, its owner, and the transports that it asked for.
struct Stage {
  explicit Stage(Where where = Where::Remote) {
    agent_launcher.is_remote = where == Where::Remote;
    AgentSession::Plan plan;
    plan.host = HostId(3);
    plan.name = "algo-4";
    plan.hello.job_id = "job-1";
    plan.hello.heartbeat_timeout_ms = 5000;
    plan.start_limit_s = 7;
    plan.hello.credit = 100;
    plan.prepare = [](AgentPlace place) {
      wire::Prepare prepare;
      prepare.workers = {worker(5), worker(2)};
      prepare.services = {{wire::ServiceKind::TorchStore}};
      const char* program = place == AgentPlace::ThisMachine ? "local" : "remote";
      prepare.apps = {{.argv = {program}, .working_directory = {}, .launcher_environment = {}, .user_environment = {}}};
      return prepare;
    };
    session = std::make_unique<AgentSession>(loop.get_executor(), owner, image, agent_launcher, std::move(plan));
  }

  static wire::Worker worker(std::uint32_t rank) {
    wire::Worker out;
    out.rank = Rank(rank);
    return out;
  }

  std::unique_ptr<AgentTransport> make(std::shared_ptr<fake::TransportLog>& log, std::string argument) {
    log = std::make_shared<fake::TransportLog>();
    log->argument = std::move(argument);
    return std::make_unique<fake::ScriptedTransport>(log);
  }

  fake::TransportLog& far() { return local ? *local : *remote; }

  std::string mark() const {
    if (local) return local->argument;
    const std::string& command = remote->argument;
    const std::size_t at = command.find("--mark ") + 7;
    return command.substr(at, command.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789", at) - at);
  }

  void say(std::string_view bytes) {
    if (far().events != nullptr) far().events->transport_bytes(bytes);
  }
  void say(const wire::ToLauncher& message) { say(wire::encode(message)); }
  void settle() {
    loop.restart();
    loop.run();
  }

  void open() {
    session->start();
    far().events->transport_open("10.0.0.1", "10.0.0.4");
  }
  void greet() {
    open();
    say(wire::agent_line(mark()));
  }
  void make_ready() {
    greet();
    say(wire::HelloAck{});
    say(wire::Prepared{});
  }
  void make_running() {
    make_ready();
    session->start_workers(wire::Start{}, Afterwards::Leave);
  }

  // It was given up, with these words; nothing of it is left open.
  void must_have_failed(ErrorKind kind, const std::string& message) {
    CHECK(session->ended());
    settle();
    CHECK(owner.ends == 1);
    REQUIRE(owner.error.has_value());
    CHECK(owner.error->kind() == kind);
    CHECK(owner.error->message() == message);
    CHECK(far().destroyed);
  }

  struct StageLauncher final : AgentLauncher {
    Result<void> open(Events) override { return {}; }
    bool send_end(const transport::RunEnd&, std::function<void()>) override { return false; }
    explicit StageLauncher(Stage& s) : stage(s) {}
    std::unique_ptr<AgentTransport> transport(HostId, const std::string&, const std::string& script) override {
      return is_remote ? stage.make(stage.remote, script) : nullptr;
    }
    std::unique_ptr<AgentTransport> local_transport(const std::string& mark) override {
      return stage.make(stage.local, mark);
    }
    Start start() const override { return way; }
    Stage& stage;
    bool is_remote = false;
    Start way = Start::ByLogin;
  };

  boost::asio::io_context loop;
  fake::RecordingOwner owner;
  StageLauncher agent_launcher{*this};
  AgentImage image = AgentImage::embedded();
  std::shared_ptr<fake::TransportLog> local;
  std::shared_ptr<fake::TransportLog> remote;
  std::unique_ptr<AgentSession> session;
};

std::vector<wire::ToAgent> frames_in(std::string_view bytes) {
  wire::Decoder<wire::ToAgent> decoder;
  decoder.feed(bytes);
  std::vector<wire::ToAgent> out;
  for (;;) {
    auto next = decoder.next();
    REQUIRE(next.has_value());
    if (!next->has_value()) return out;
    out.push_back(std::move(**next));
  }
}

}  // namespace

TEST_CASE("a host whose agent is cached: greeting, plan, ready, running, end") {
  Stage stage;
  stage.session->start();
  REQUIRE(stage.remote != nullptr);
  CHECK(stage.local == nullptr);
  CHECK(stage.remote->argument == bootstrap_script(stage.image, stage.mark(), {7, 5000}));
  CHECK_FALSE(stage.session->agent_runs());

  stage.remote->events->transport_open("10.0.0.1", "10.0.0.4");
  CHECK(stage.session->step() == "starting the agent");
  CHECK(stage.session->contact().local_address == "10.0.0.1");
  CHECK(stage.session->contact().peer_address == "10.0.0.4");
  CHECK(stage.remote->sent.empty());

  stage.owner.probe_when_introduced = true;
  stage.say(wire::agent_line(stage.mark()));
  CHECK(stage.session->agent_runs());
  CHECK(stage.session->step() == "preparing");
  const auto told = frames_in(stage.remote->all_sent());
  REQUIRE(told.size() == 3);
  CHECK(std::holds_alternative<wire::Probe>(told[2]));  // at once, and not before what it needs
  CHECK(std::get<wire::Hello>(told[0]).job_id == "job-1");
  CHECK(std::get<wire::Prepare>(told[1]).apps[0].argv == std::vector<std::string>{"remote"});

  stage.say(wire::HelloAck{});
  stage.say(wire::Prepared{{}, {{wire::ServiceKind::TorchStore, 29500}}});
  CHECK(stage.session->step() == "ready");
  REQUIRE(stage.owner.ready.size() == 1);
  CHECK(wire::port_of(stage.owner.ready[0], wire::ServiceKind::TorchStore) == 29500);

  stage.session->start_workers(wire::Start{{"MASTER_PORT=29500"}}, Afterwards::Leave);
  CHECK(stage.session->step() == "running");
  const auto started = frames_in(stage.remote->sent.back());
  REQUIRE(started.size() == 2);  // in one piece
  CHECK(std::get<wire::Start>(started[0]).rendezvous[0] == "MASTER_PORT=29500");
  CHECK(std::holds_alternative<wire::Leave>(started[1]));

  stage.say(wire::Started{{{Rank(2), 10}, {Rank(5), 11}}});
  stage.say(wire::Output{Rank(2), wire::Stream::Stdout, "hello\n"});
  stage.say(wire::ExitedWorker{.rank = Rank(2)});
  stage.say(wire::Drained{Rank(2), wire::DrainEnd::Eof});
  stage.say(wire::Cleared{});
  CHECK(stage.session->state() == SessionState::Cleared);
  stage.say(wire::Bye{});
  CHECK(stage.session->state() == SessionState::Leaving);
  CHECK(stage.owner.ends == 0);
  stage.remote->events->transport_closed(Error(ErrorKind::Lost, "exited with status 0"));
  CHECK(stage.owner.ends == 1);
  CHECK_FALSE(stage.owner.error.has_value());
  CHECK(stage.owner.messages.size() == 7);
  CHECK(stage.owner.count<wire::HelloAck>() == 1);
  CHECK(stage.owner.count<wire::Prepared>() == 0);  // came as ready
  CHECK(stage.owner.count<wire::Bye>() == 1);
}

TEST_CASE("an agent that stays makes another attempt, with ranks of its own") {
  Stage stage;
  stage.make_ready();
  stage.session->start_workers(wire::Start{}, Afterwards::Stay);
  REQUIRE(frames_in(stage.remote->sent.back()).size() == 1);
  stage.say(wire::Started{{{Rank(2), 10}, {Rank(5), 11}}});
  wire::Prepare next;
  next.attempt = 2;
  next.workers = {Stage::worker(7)};
  const std::size_t sent = stage.remote->sent.size();
  stage.session->prepare(next);  // out of turn
  CHECK(stage.remote->sent.size() == sent);
  stage.session->end_workers({15, 1000}, Afterwards::Stay);
  for (const std::uint32_t rank : {2U, 5U}) {
    stage.say(wire::ExitedWorker{.rank = Rank(rank)});
    stage.say(wire::Drained{Rank(rank), wire::DrainEnd::Eof});
  }
  stage.say(wire::Cleared{});
  stage.session->prepare(next);
  const auto told = frames_in(stage.remote->sent.back());
  REQUIRE(told.size() == 1);
  CHECK(std::get<wire::Prepare>(told[0]).mark == stage.mark());
  CHECK(std::get<wire::Prepare>(told[0]).attempt == 2);
  stage.say(wire::Prepared{});
  CHECK(stage.owner.ready.size() == 2);
  stage.session->start_workers(wire::Start{}, Afterwards::Leave);
  stage.say(wire::Started{{{Rank(7), 12}}});
  stage.say(wire::ExitedWorker{.rank = Rank(7)});
  stage.say(wire::Drained{Rank(7), wire::DrainEnd::Eof});
  stage.say(wire::Cleared{2, {}});
  stage.say(wire::Bye{});
  CHECK_FALSE(stage.session->ended());
  stage.remote->events->transport_closed(Error(ErrorKind::Lost, "exited with status 0"));
  CHECK(stage.owner.ends == 1);
  CHECK_FALSE(stage.owner.error.has_value());
}

TEST_CASE("an agent is released only after it has been told to start") {
  Stage stage;
  stage.make_ready();
  const std::size_t sent = stage.remote->sent.size();
  stage.session->release();  // it would end what is to be started
  CHECK(stage.remote->sent.size() == sent);
  stage.session->start_workers(wire::Start{}, Afterwards::Stay);
  stage.session->release();
  CHECK(std::holds_alternative<wire::Leave>(frames_in(stage.remote->sent.back())[0]));
}

TEST_CASE("marks cannot be known beforehand") {
  Stage one;
  Stage two;
  one.session->start();
  two.session->start();
  CHECK(one.mark() != two.mark());
  CHECK(one.mark().size() >= 16);
}

TEST_CASE("this machine needs no script and gets the plan for this machine") {
  Stage stage(Where::Local);
  stage.greet();
  CHECK(stage.remote == nullptr);
  CHECK(stage.session->contact().is_local);
  CHECK(stage.local->argument.find(' ') == std::string::npos);
  CHECK(std::get<wire::Prepare>(frames_in(stage.local->all_sent())[1]).apps[0].argv ==
        std::vector<std::string>{"local"});
}

TEST_CASE("a host that turns out to be this machine gets a local transport") {
  Stage stage;
  stage.session->start();
  stage.remote->events->transport_is_local();
  CHECK(stage.remote->destroyed);
  REQUIRE(stage.local != nullptr);
  CHECK(stage.session->contact().is_local);
  stage.local->events->transport_open("", "");
  stage.say(wire::agent_line(stage.mark()));
  CHECK(std::get<wire::Prepare>(frames_in(stage.local->all_sent())[1]).apps[0].argv ==
        std::vector<std::string>{"local"});
}

TEST_CASE("the agent is sent where it is wanted, whole, before anything else") {
  Stage stage;
  stage.open();
  stage.say("motd\n" + stage.mark() + " NEED " + std::string(stage.image.architecture()) + " /home/u/.cache/sml-run\n");
  CHECK(stage.session->step() == "sending the agent");
  REQUIRE(stage.remote->sent.size() == 1);
  CHECK((stage.remote->sent[0] == stage.image.bytes()));
  // that folder was full: once more for the next one
  stage.say(stage.mark() + " NEED " + std::string(stage.image.architecture()) + " /dev/shm/sml-run-abcdef\n");
  REQUIRE(stage.remote->sent.size() == 2);
  stage.say(wire::agent_line(stage.mark()));
  CHECK(stage.remote->sent.size() == 4);
  CHECK(stage.session->agent_runs());
}

TEST_CASE("a host that wants the agent without end is given up") {
  Stage stage;
  stage.open();
  std::string asked;
  for (int i = 0; i < 1000; ++i) asked += stage.mark() + " NEED " + std::string(stage.image.architecture()) + " /tmp\n";
  // a slice of it, so that a session that falls for it does not take all of this machine's memory
  stage.say(std::string_view(asked).substr(0, asked.size() / 20));
  CHECK(stage.remote->sent.size() <= 10);
  CHECK(stage.session->ended());
}

TEST_CASE("another kind of machine is told apart before anything is sent") {
  Stage stage;
  stage.open();
  stage.say(stage.mark() + " NEED s390x /tmp\n");
  CHECK(stage.remote->sent.empty());
  stage.must_have_failed(ErrorKind::Deploy, "is a machine of type s390x, the agent at hand is for " +
                                                std::string(stage.image.architecture()));
  CHECK(stage.owner.error->hint().find("--agent-path") != std::string::npos);
}

TEST_CASE("a machine's name is shown, not obeyed") {
  Stage stage;
  stage.open();
  stage.say(stage.mark() + " NEED \x1b[2Jevil /tmp\n");
  stage.settle();
  REQUIRE(stage.owner.error.has_value());
  CHECK(stage.owner.error->message().find('\x1b') == std::string::npos);
}

TEST_CASE("no folder takes the agent") {
  Stage stage;
  stage.open();
  stage.say(stage.mark() + " FAIL /home/u/.cache/sml-run is full; /tmp is mounted noexec\n");
  stage.must_have_failed(ErrorKind::Deploy,
                         "no folder takes the agent: /home/u/.cache/sml-run is full; /tmp is mounted noexec");
}

TEST_CASE("an agent of another protocol is refused, with both numbers") {
  Stage stage;
  stage.open();
  stage.say(stage.mark() + " AGENT 99\n");
  CHECK(stage.remote->sent.empty());
  stage.must_have_failed(ErrorKind::Protocol,
                         "its agent uses protocol 99, this sml-run " + std::to_string(wire::kProtocolVersion));
}

TEST_CASE("a login that ends in words instead of an agent: the words are in the message") {
  Stage stage;
  stage.open();
  stage.say("This account is \x1b[31mnot available\n");
  stage.remote->events->transport_closed(Error(ErrorKind::Lost, "exited with status 1"));
  CHECK(stage.owner.ends == 1);
  REQUIRE(stage.owner.error.has_value());
  CHECK(stage.owner.error->kind() == ErrorKind::Deploy);
  CHECK(stage.owner.error->message() ==
        "the agent did not start: exited with status 1; the login printed: This account is \\x1b[31mnot available");
  CHECK_FALSE(stage.owner.error->hint().empty());
}

TEST_CASE("a login that ends without a word") {
  Stage stage;
  stage.open();
  stage.remote->events->transport_closed(Error(ErrorKind::Lost, "exited with status 255"));
  REQUIRE(stage.owner.error.has_value());
  CHECK(stage.owner.error->message() == "the agent did not start: exited with status 255");
}

TEST_CASE("a connection that breaks before the agent speaks is made again, twice") {
  const Error broke(ErrorKind::Lost, "the connection broke: Socket error: Software caused connection abort");
  Stage stage;
  stage.open();
  for (int i = 0; i < 2; ++i) {
    const auto first = stage.remote;
    stage.say(stage.mark() + " NEED " + std::string(stage.image.architecture()) + " /home/u/.cache/sml-run\n");
    first->events->transport_closed(broke);
    CHECK(stage.owner.ends == 0);
    stage.settle();
    REQUIRE(stage.remote != first);
    CHECK(first->destroyed);
    stage.far().events->transport_open("10.0.0.1", "10.0.0.4");
  }
  SECTION("and serves as the first would have") {
    stage.say(wire::agent_line(stage.mark()));
    CHECK(stage.session->state() == SessionState::Preparing);
    CHECK(stage.owner.ends == 0);
  }
  SECTION("and then given up") {
    stage.far().events->transport_closed(broke);
    CHECK(stage.owner.ends == 1);
    CHECK(stage.session->ended());
  }
}

TEST_CASE("a failure to connect or log in keeps its own words") {
  for (const ErrorKind kind : {ErrorKind::Connect, ErrorKind::Auth, ErrorKind::HostKey}) {
    for (const bool opened : {false, true}) {
      Stage stage;
      stage.session->start();
      if (opened) stage.remote->events->transport_open("", "");
      stage.remote->events->transport_closed(Error(kind, "refused").with_hint("try"));
      REQUIRE(stage.owner.error.has_value());
      CHECK(*stage.owner.error == Error(kind, "refused").with_hint("try"));
    }
  }
}

TEST_CASE("noise without end is not listened to") {
  Stage stage;
  stage.open();
  for (int i = 0; i < 100 && !stage.session->ended(); ++i) stage.say(std::string(std::size_t{64} << 10, 'x'));
  stage.must_have_failed(ErrorKind::Protocol, "the login prints without end before the agent starts");
}

TEST_CASE("greeting and frames in one piece, and frames byte by byte") {
  Stage stage;
  stage.open();
  const std::string stream = "noise\n" + wire::agent_line(stage.mark()) +
                             wire::encode(wire::ToLauncher(wire::HelloAck{})) +
                             wire::encode(wire::ToLauncher(wire::Prepared{}));
  SECTION("in one piece") { stage.say(stream); }
  SECTION("byte by byte") {
    for (const char c : stream) stage.say(std::string_view(&c, 1));
  }
  CHECK(stage.owner.ready.size() == 1);
  CHECK(stage.owner.count<wire::HelloAck>() == 1);
}

TEST_CASE("messages out of order end the session") {
  struct Row {
    const char* words;
    void (Stage::*until)();
    wire::ToLauncher message;
  };
  const Row rows[] = {
      {"broke the protocol: sent \"worker news\" while preparing", &Stage::greet, wire::Started{}},
      {"broke the protocol: sent \"cleared\" while preparing", &Stage::greet, wire::Cleared{}},
      {"broke the protocol: sent \"worker news\" while ready", &Stage::make_ready,
       wire::Output{Rank(2), wire::Stream::Stdout, "x"}},
      {"broke the protocol: sent \"prepared\" while ready", &Stage::make_ready, wire::Prepared{}},
      {"broke the protocol: sent \"hello\" while running", &Stage::make_running, wire::HelloAck{}},
      {"broke the protocol: sent \"prepared\" while running", &Stage::make_running, wire::Prepared{}},
  };
  for (const Row& row : rows) {
    Stage stage;
    (stage.*row.until)();
    const std::size_t before = stage.owner.messages.size();
    stage.say(row.message);
    CHECK(stage.owner.messages.size() == before);
    stage.must_have_failed(ErrorKind::Protocol, row.words);
  }
}

TEST_CASE("news about ranks of other hosts end the session, and reach nobody") {
  const Rank other(3);
  const wire::ToLauncher messages[] = {
      wire::Output{other, wire::Stream::Stdout, "forged\n"},
      wire::ExitedWorker{.rank = other},
      wire::Drained{other, wire::DrainEnd::Eof},
      wire::StdinCredit{other, 1},
      wire::Started{{{Rank(2), 1}, {other, 2}}},
      wire::Output{Rank(0xffffffff), wire::Stream::Stdout, "x"},
  };
  for (const wire::ToLauncher& message : messages) {
    CAPTURE(message.index());
    Stage stage;
    stage.make_running();
    const std::size_t before = stage.owner.messages.size();
    stage.say(message);
    CHECK(stage.owner.messages.size() == before);
    stage.settle();
    CHECK(stage.owner.ends == 1);
    REQUIRE(stage.owner.error.has_value());
    CHECK(stage.owner.error->kind() == ErrorKind::Protocol);
  }
}

TEST_CASE("a host that says what no agent would is given up, and nothing of it gets through") {
  Stage stage;
  stage.make_running();
  stage.say(wire::Started{{{Rank(2), 1}, {Rank(5), 2}}});
  stage.say(wire::Output{Rank(2), wire::Stream::Stdout, std::string(60, 'x')});
  const std::size_t before = stage.owner.messages.size();
  stage.say(wire::Output{Rank(2), wire::Stream::Stdout, std::string(41, 'x')});
  CHECK(stage.owner.messages.size() == before);
  stage.must_have_failed(ErrorKind::Protocol, "broke the protocol: sent 41 bytes of output, and was allowed 40");
}

TEST_CASE("what a host has been asked for is no breach") {
  Stage stage;
  stage.make_running();
  stage.session->send(wire::Ping{7});
  stage.session->send(wire::Credit{50});
  stage.say(wire::Pong{7, 0});
  stage.say(wire::Started{{{Rank(2), 1}, {Rank(5), 2}}});
  stage.say(wire::Output{Rank(2), wire::Stream::Stdout, std::string(150, 'x')});
  CHECK(stage.owner.count<wire::Pong>() == 1);
  CHECK(stage.owner.count<wire::Output>() == 1);
  CHECK_FALSE(stage.session->ended());
}

TEST_CASE("frames that make no sense end the session") {
  Stage stage;
  stage.make_running();
  stage.say("\0\0\0\x01\x01x"s);  // of the other direction
  stage.must_have_failed(ErrorKind::Protocol, "broke the protocol: a message has an unknown type");
}

TEST_CASE("nothing that comes after a failure is heard") {
  Stage stage;
  stage.make_running();
  const std::size_t before = stage.owner.messages.size();
  stage.say(wire::encode(wire::ToLauncher(wire::HelloAck{})) +
            wire::encode(wire::ToLauncher(wire::Output{Rank(2), wire::Stream::Stdout, "late"})));
  stage.say(wire::Output{Rank(2), wire::Stream::Stdout, "later"});
  CHECK(stage.owner.messages.size() == before);
  stage.far().events->transport_closed(Error(ErrorKind::Lost, "closed"));
  CHECK(stage.owner.ends == 0);  // never from within
  stage.settle();
  CHECK(stage.owner.ends == 1);
}

TEST_CASE("a transport that ends before the agent's last word is a loss") {
  for (void (Stage::*until)() : {&Stage::greet, &Stage::make_ready, &Stage::make_running}) {
    Stage stage;
    (stage.*until)();
    stage.far().events->transport_closed(Error(ErrorKind::Lost, "was killed by SIGKILL (killed)"));
    CHECK(stage.owner.ends == 1);
    REQUIRE(stage.owner.error.has_value());
    CHECK(*stage.owner.error ==
          Error(ErrorKind::Lost, "its agent has gone before its work was done: was killed by SIGKILL (killed)"));
  }
}

TEST_CASE("an agent may leave with a reason before it has started anything") {
  Stage stage;
  stage.greet();
  stage.say(wire::Bye{"this agent uses protocol 2, the launcher 1"});
  CHECK(stage.owner.count<wire::Bye>() == 1);
  stage.far().events->transport_closed(Error(ErrorKind::Lost, "exited with status 0"));
  CHECK(stage.owner.ends == 1);
  CHECK_FALSE(stage.owner.error.has_value());
}

TEST_CASE("late answers are ignored without offence") {
  Stage stage;
  stage.make_running();
  const std::size_t before = stage.owner.messages.size();
  stage.say(wire::Probed{});
  stage.say(wire::Bye{});
  stage.say(wire::Pong{});
  CHECK(stage.owner.messages.size() == before + 1);
  CHECK_FALSE(stage.session->ended());
}

TEST_CASE("nothing is sent to an agent that does not run, or has gone") {
  Stage stage;
  stage.open();
  stage.session->send(wire::Ping{1});
  CHECK(stage.remote->sent.empty());
  stage.say(wire::agent_line(stage.mark()));
  const std::size_t introduced = stage.remote->sent.size();
  stage.session->send(wire::Ping{1});
  CHECK(stage.remote->sent.size() == introduced + 1);
  stage.session->start_workers(wire::Start{}, Afterwards::Leave);  // not ready yet
  CHECK(stage.remote->sent.size() == introduced + 1);
  stage.session->abandon(Error(ErrorKind::Lost, "silent"));
  stage.session->send(wire::Ping{2});
  CHECK(stage.remote->sent.size() == introduced + 1);
}

TEST_CASE("giving a host up: told once, later, and everything is closed") {
  for (void (Stage::*until)() : {&Stage::open, &Stage::greet, &Stage::make_ready, &Stage::make_running}) {
    Stage stage;
    (stage.*until)();
    stage.session->abandon(Error(ErrorKind::Lost, "silent"));
    stage.session->abandon(Error(ErrorKind::Lost, "again"));
    CHECK(stage.session->ended());
    CHECK(stage.owner.ends == 0);  // never from within
    stage.say(wire::agent_line(stage.mark()));
    stage.must_have_failed(ErrorKind::Lost, "silent");
  }
}

TEST_CASE("a host that is not needed any more: its agent leaves; one that does not run yet is given up") {
  const wire::Stop stop{SIGTERM, 100};
  Stage ready;
  ready.make_ready();
  ready.session->let_go(stop, Afterwards::Leave);
  CHECK_FALSE(ready.session->ended());
  const std::vector<wire::ToAgent> told = frames_in(ready.far().sent.back());
  REQUIRE(told.size() == 2);
  CHECK(std::holds_alternative<wire::Stop>(told[0]));
  CHECK(std::holds_alternative<wire::Leave>(told[1]));
  Stage starting;
  starting.open();
  starting.session->let_go(stop, Afterwards::Leave);
  starting.session->let_go(stop, Afterwards::Leave);
  starting.must_have_failed(ErrorKind::Lost, "not needed any more");
}

TEST_CASE("a session that is gone tells nothing") {
  Stage stage;
  stage.make_running();
  stage.session->abandon(Error(ErrorKind::Lost, "silent"));
  stage.session.reset();
  stage.settle();
  CHECK(stage.owner.ends == 0);
  CHECK(stage.far().destroyed);
}

TEST_CASE("what an agent is sent while it is suspended waits, as any word would set it going again") {
  Stage stage;
  stage.make_running();
  stage.far().sent.clear();
  stage.session->suspend();
  stage.session->suspend();  // it is
  stage.session->send(wire::Credit{7});
  stage.session->end_workers(wire::Stop{SIGTERM, 100}, Afterwards::Leave);
  REQUIRE(frames_in(stage.far().all_sent()).size() == 1);
  stage.session->resume();
  const std::vector<wire::ToAgent> told = frames_in(stage.far().all_sent());
  REQUIRE(told.size() == 5);
  CHECK(std::holds_alternative<wire::Suspend>(told[0]));
  CHECK(std::holds_alternative<wire::Resume>(told[1]));
  CHECK(std::holds_alternative<wire::Credit>(told[2]));
  CHECK(std::holds_alternative<wire::Stop>(told[3]));
  CHECK(std::holds_alternative<wire::Leave>(told[4]));
  stage.session->send(wire::Credit{8});
  CHECK(frames_in(stage.far().all_sent()).size() == 6);
}

TEST_CASE("an agent that does not run is not suspended") {
  Stage stage;
  stage.open();
  stage.session->suspend();
  stage.session->resume();
  CHECK(stage.far().sent.empty());
  stage.say(wire::agent_line(stage.mark()));
  CHECK_FALSE(stage.far().sent.empty());
}
