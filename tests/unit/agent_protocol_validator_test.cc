#include "launcher/transport/session/agent_protocol_validator.h"

#include <functional>

#include <fmt/format.h>

#include "common/wire/codec.h"
#include "common/wire/limits.h"
#include "tests/support/catch.h"

using namespace sml;
using namespace sml::transport;
using namespace std::string_literals;

namespace {

wire::Worker worker(std::uint32_t rank) {
  wire::Worker out;
  out.rank = Rank(rank);
  return out;
}

// Of a host with ranks 2 and 5 that may send 100 bytes of output.
struct Host {
  static AgentProtocolValidator make(const std::function<void(wire::Prepare&)>& change = {}) {
    wire::Prepare prepare;
    prepare.workers = {worker(5), worker(2)};
    prepare.apps.resize(1);
    if (change) change(prepare);
    wire::Hello hello;
    hello.credit = 100;
    return AgentProtocolValidator(hello, prepare);
  }
  explicit Host(const std::function<void(wire::Prepare&)>& change = {}) : validator(make(change)) {}

  void may(const wire::ToLauncher& message) {
    const auto allowed = validator.check(message);
    CHECK(allowed.has_value());
    if (!allowed) FAIL_CHECK(allowed.error().message());
  }
  void may_not(const wire::ToLauncher& message, const std::string& rule) {
    const auto allowed = validator.check(message);
    REQUIRE_FALSE(allowed.has_value());
    CHECK(allowed.error().kind() == ErrorKind::Protocol);
    CHECK(allowed.error().message() == rule);
  }
  void start() { may(wire::Started{{{Rank(2), 10}, {Rank(5), 11}}}); }

  AgentProtocolValidator validator;
};

wire::Output output(std::uint32_t rank, std::string_view bytes) { return {Rank(rank), Stream::Stdout, bytes}; }
wire::ExitedWorker exited(std::uint32_t rank) { return {.rank = Rank(rank)}; }
wire::Drained drained(std::uint32_t rank) { return {Rank(rank), wire::DrainEnd::Eof}; }
const std::string kLong(wire::kMaxText + 1, 'x');

using Kind = wire::ServiceKind;
const std::vector<wire::ServiceRequest> kRequests{{Kind::TorchStore, wire::ServiceReach::Network},
                                                  {Kind::HorovodStore, wire::ServiceReach::Network},
                                                  {Kind::WorkerPort, wire::ServiceReach::Network},
                                                  {Kind::WorkerPort, wire::ServiceReach::Network}};
const std::vector<wire::Service> kServices{
    {Kind::TorchStore, 29500}, {Kind::HorovodStore, 29501}, {Kind::WorkerPort, 1}, {Kind::WorkerPort, 2}};

}  // namespace

TEST_CASE("conduct: a whole conversation breaks no rule") {
  Host host([](wire::Prepare& p) {
    p.services = kRequests;
    p.interfaces = {"eth0"};
    p.binding.report = plan::ReportBindings::Yes;
  });
  host.may(wire::HelloAck{.build_id = "1", .addresses = {"10.0.0.1"}, .machine = "m"});
  host.may(wire::Prepared{{}, kServices, {"10.0.0.1"}, {"a warning"}, {{Rank(2), "core 1"}, {Rank(5), ""}}});
  host.validator.asked(wire::Probe{{"10.0.0.2"}, 1, 1});
  host.may(wire::Probed{{{"10.0.0.2", 0}}});
  host.validator.asked(wire::Ping{1});
  host.validator.asked(wire::Ping{2});
  host.may(wire::Pong{1, 5});
  host.may(wire::Pong{2, 6});
  host.validator.asked(wire::Inspect{});
  host.may(wire::Inspected{});
  host.start();
  host.validator.asked(wire::StdinData{Rank(2), "12345"});
  host.may(wire::StdinCredit{Rank(2), 2});
  host.may(output(2, std::string(100, 'x')));
  host.validator.asked(wire::Credit{10});
  host.may(output(5, std::string(10, 'x')));
  host.validator.asked(wire::AskJoined{});
  host.may(wire::Joined{.count = 1, .since_first_ms = 1, .missing = {Rank(5)}, .with_torch = 0});
  host.may(wire::ErrorFile{"{}", Rank(2)});
  host.may(wire::OutOfMemory{1, "oom_kill"});
  host.may(exited(2));
  host.may(wire::StdinCredit{Rank(2), 3});
  host.may(drained(2));
  host.may(exited(5));
  host.validator.asked(wire::Credit{1});
  host.may(output(5, "x"));  // was on its way
  host.may(drained(5));
  host.may(wire::Cleared{1, {"pid 1"}});
  host.may(wire::Bye{""});
}

TEST_CASE("conduct: a worker that could not be started ends without having run") {
  Host host;
  host.may(wire::Started{{{Rank(2), 10}}});
  host.may(exited(5));
  host.may(drained(5));
}

TEST_CASE("conduct: output beyond its credit") {
  Host host;
  host.start();
  host.may(output(2, std::string(60, 'x')));
  host.may_not(output(5, std::string(41, 'x')), "sent 41 bytes of output, and was allowed 40");
}

TEST_CASE("conduct: news of ranks in an order that cannot be") {
  {
    Host host;
    host.may_not(output(2, "x"), "sent news of rank 2 before it had started its workers");
    host.may_not(exited(2), "sent news of rank 2 before it had started its workers");
    host.may_not(wire::ErrorFile{"x", Rank(2)}, "sent news of rank 2 before it had started its workers");
  }
  Host host;
  host.start();
  host.may_not(wire::Started{}, "started its workers twice");
  host.may_not(drained(2), "sent the last output of rank 2, which had not ended");
  host.may(exited(2));
  host.may_not(exited(2), "sent the end of rank 2 twice");
  host.may_not(wire::ErrorFile{"x", Rank(2)}, "sent an error file of rank 2 again, or after its end");
  host.may(drained(2));
  host.may_not(drained(2), "sent the last output of rank 2 twice");
  host.may_not(output(2, "x"), "sent output of rank 2 after the last of it");
  host.may_not(exited(2), "sent the end of rank 2 twice");
}

TEST_CASE("conduct: ranks of other hosts") {
  const std::string rule = "named rank 3, which is not on this host";
  Host host([](wire::Prepare& p) { p.binding.report = plan::ReportBindings::Yes; });
  host.may_not(wire::Prepared{.errors = {}, .bindings = {{Rank(3), "x"}}}, rule);
  host.validator.asked(wire::AskJoined{});
  host.may_not(wire::Joined{.count = 0, .since_first_ms = 0, .missing = {Rank(3)}, .with_torch = 0}, rule);
  host.validator.asked(wire::AskJoined{});
  host.may_not(wire::Joined{.count = 0, .since_first_ms = 0, .missing = {Rank(2), Rank(2)}, .with_torch = 0},
               "named rank 2 twice in one message");
  host.validator.asked(wire::AskJoined{});
  host.may_not(wire::Joined{.count = 0, .since_first_ms = 0, .missing = {}, .with_torch = 3},
               "sent 3 workers with torch, more than 2");
  host.start();
  for (const wire::ToLauncher& message :
       {wire::ToLauncher(output(3, "x")), wire::ToLauncher(exited(3)), wire::ToLauncher(drained(3)),
        wire::ToLauncher(wire::StdinCredit{Rank(3), 0}), wire::ToLauncher(wire::ErrorFile{"", Rank(3)})}) {
    host.may_not(message, rule);
  }
}

TEST_CASE("conduct: a rank that starts twice") {
  Host host;
  host.may_not(wire::Started{{{Rank(2), 1}, {Rank(2), 2}}}, "started rank 2 twice");
}

TEST_CASE("conduct: answers that nobody asked for") {
  Host host;
  host.may_not(wire::Pong{1, 1}, "answered a ping that nobody had sent");
  host.validator.asked(wire::Ping{7});
  host.may_not(wire::Pong{8, 1}, "answered a ping that nobody had sent");
  host.may(wire::Pong{7, 1});
  host.may_not(wire::Pong{7, 1}, "answered a ping that nobody had sent");
  host.may_not(wire::Inspected{}, "sent an answer that nobody had asked for: Inspected");
  host.may_not(wire::LeftEnded{}, "sent an answer that nobody had asked for: LeftEnded");
  host.validator.asked(wire::EndLeft{});
  host.may(wire::LeftEnded{});
  host.may_not(wire::Joined{}, "sent an answer that nobody had asked for: Joined");
  host.may_not(wire::Probed{}, "sent an answer that nobody had asked for: Probed");
  host.validator.asked(wire::Probe{{"10.0.0.2"}, 1, 1});
  host.may_not(wire::Probed{{{"\x1b[2J", 0}}}, "sent the result of an address that it was not asked to try");
  host.validator.asked(wire::Probe{{"10.0.0.2"}, 1, 1});
  host.may_not(wire::Probed{{{"10.0.0.2", 0}, {"10.0.0.2", 0}, {"10.0.0.2", 0}}},
               "sent 3 results of probes, more than 2");
  host.may(wire::HelloAck{});
  host.may_not(wire::HelloAck{}, "sent an answer that nobody had asked for: HelloAck");
  host.start();
  host.validator.asked(wire::StdinData{Rank(2), "123"});
  host.may_not(wire::StdinCredit{Rank(2), 4}, "took 4 bytes of input for rank 2, and had been sent 3");
  host.may_not(wire::StdinCredit{Rank(5), 1}, "took 1 bytes of input for rank 5, and had been sent 0");
}

TEST_CASE("conduct: what it was not to prepare") {
  const auto breaks = [](const wire::Prepared& prepared, const std::string& rule) { Host().may_not(prepared, rule); };
  const std::string unasked = "sent a port that it was not asked to reserve";
  for (const wire::Service& service : kServices) breaks({.errors = {}, .services = {service}}, unasked);
  Host host([](wire::Prepare& p) { p.services = kRequests; });
  host.may_not(wire::Prepared{.errors = {}, .services = {kServices[0], kServices[0]}}, unasked);
  breaks({.errors = {}, .addresses = {"10.0.0.1"}}, "sent interfaces that it was not asked to choose");
  breaks({.errors = {}, .bindings = {{Rank(2), ""}}}, "sent 1 bindings, more than 0");
}

TEST_CASE("conduct: texts that are too long, and too many of them") {
  const std::string rule = "sent a text of 65537 bytes, more than 65536";
  Host host;
  host.validator.asked(wire::Inspect{});
  wire::Inspected inspected;
  inspected.facts.system = kLong;
  for (const wire::ToLauncher& message :
       {wire::ToLauncher(wire::HelloAck{.build_id = kLong, .addresses = {}}),
        wire::ToLauncher(wire::Prepared{.errors = {{0, kLong, ""}}}),
        wire::ToLauncher(wire::Prepared{.errors = {{0, "", kLong}}}),
        wire::ToLauncher(wire::Prepared{.errors = {}, .warnings = {kLong}}),
        wire::ToLauncher(wire::AgentLog{wire::LogLevel::Info, kLong}), wire::ToLauncher(inspected),
        wire::ToLauncher(wire::LogFailed{kLong}), wire::ToLauncher(wire::FifoFailed{kLong}),
        wire::ToLauncher(wire::OutOfMemory{1, kLong}), wire::ToLauncher(wire::Bye{kLong}),
        wire::ToLauncher(wire::Cleared{1, {kLong}})}) {
    CAPTURE(message.index());
    host.may_not(message, rule);
  }
  Host().may_not(wire::HelloAck{.build_id = {}, .addresses = {}, .reconnect_socket = kLong}, rule);
  host.start();
  host.may_not(wire::ErrorFile{kLong, Rank(2)}, rule);
  host.may_not(wire::Cleared{1, std::vector<std::string>(257)}, "sent 257 processes that are left, more than 256");
  host.may_not(wire::Prepared{.errors = std::vector<wire::PreflightError>(104)},
               "sent 104 preflight errors, more than 103");
  host.may(wire::OutOfMemory{1, ""});
  host.may(wire::OutOfMemory{1, ""});
  host.may_not(wire::OutOfMemory{1, ""}, "sent 3 reports of lack of memory, more than 2");
}

TEST_CASE("conduct: a further attempt is held to its own plan from its Prepared on") {
  Host host;
  host.start();
  host.validator.asked(wire::StdinData{Rank(2), "12"});
  for (const std::uint32_t rank : {2U, 5U}) {
    host.may(exited(rank));
    host.may(drained(rank));
  }
  host.may_not(wire::Cleared{2, {}}, "named attempt 2, which it is not at");
  host.may(wire::Cleared{1, {}});
  for (int i = 0; i < 2; ++i) host.may(wire::OutOfMemory{1, ""});
  wire::Prepare next;
  next.attempt = 2;
  next.apps.resize(1);
  next.workers.resize(1);
  next.workers[0].rank = Rank(7);
  host.validator.asked(next);
  host.may(wire::StdinCredit{Rank(2), 2});  // was under way
  host.may(wire::Prepared{});
  host.may_not(wire::StdinCredit{Rank(2), 0}, "sent news of rank 2 before it had started its workers");
  host.may(wire::OutOfMemory{1, ""});  // counted anew
  host.may_not(wire::OutOfMemory{1, ""}, "sent 2 reports of lack of memory, more than 1");
  host.may(wire::Started{{{Rank(7), 10}}});
  host.may_not(exited(5), "named rank 5, which is not on this host");
  host.may(exited(7));
  host.may(drained(7));
  host.may(wire::Cleared{2, {}});
}

TEST_CASE("conduct: remarks without end") {
  Host host;
  int refused = 0;
  for (int i = 0; i < 100'000; ++i) refused += host.validator.check(wire::AgentLog{}).has_value() ? 0 : 1;
  CHECK(refused == 0);
  host.may_not(wire::AgentLog{}, "sent 100001 log messages, more than 100000");
  host.validator.asked(wire::Prepare{});  // a further attempt changes nothing
  host.may(wire::Prepared{});
  host.may_not(wire::AgentLog{}, "sent 100002 log messages, more than 100000");
}

TEST_CASE("conduct: files and channels that failed are counted together") {
  Host host;
  for (int i = 0; i < 1002; ++i) host.may(wire::LogFailed{});
  for (int i = 0; i < 2; ++i) host.may(wire::FifoFailed{});
  host.may_not(wire::FifoFailed{}, "sent 1005 failures, more than 1004");
}

TEST_CASE("conduct: of Horovod's workers tells who serves their store") {
  Host server([](wire::Prepare& p) { p.services = kRequests; });
  server.may(wire::HorovodNews{1, wire::HorovodStep::Ready, "algo-1:0"});
  server.may_not(wire::HorovodNews{1, wire::HorovodStep::Ready, std::string(513, 'x')},
                 "sent a worker's name that is too long");
  server.may(wire::HorovodNews{1, wire::HorovodStep::Registered, "algo-1:0", std::string(16384, 'x')});
  server.may_not(wire::HorovodNews{1, wire::HorovodStep::Registered, "algo-1:0", std::string(16385, 'x')},
                 "sent 16385 bytes by which a worker registers, more than 16384");
  Host host;
  host.may_not(wire::HorovodNews{1, wire::HorovodStep::Ready, "algo-1:0"},
               "sent a message of Horovod's store, which it does not serve");
  const wire::HorovodAnswer answer{1, Rank(0), "yes"};
  host.may_not(answer, "sent an answer of a worker that was not called");
  host.validator.asked(wire::HorovodCall{1, Rank(0), 40123, "news"});
  host.may_not(wire::HorovodAnswer{1, Rank(0), std::string(16385, 'x')},
               "sent 16385 bytes of a worker's answer, more than 16384");
  host.may(answer);
  host.may_not(answer, "sent an answer of a worker that was not called");
}

TEST_CASE("conduct: who vouches for whom") {
  Host server([](wire::Prepare& p) { p.services = kRequests; });
  const wire::Caller caller{7, "10.0.0.2", 40000, "10.0.0.1", 29500};
  server.may(wire::AskPeerOwnership{{caller}});
  server.validator.asked(wire::PeerVerdicts{{{7, wire::PeerOwnership::Yes}}});
  server.may_not(wire::AskPeerOwnership{std::vector<wire::Caller>(1025)}, "sent 1025 callers at once, more than 1024");
  Host host;
  host.may_not(wire::AskPeerOwnership{{caller}}, "asked about callers of stores that it does not serve");
  const wire::PeerVerdictsOfHost checked{{{7, wire::PeerOwnership::Yes}}};
  host.may_not(checked, "checked a caller that it was not asked about");
  host.validator.asked(wire::CheckPeerOwnership{{caller}});
  host.may(checked);
  host.may_not(checked, "checked a caller that it was not asked about");
}

TEST_CASE("conduct: programs that speak MPI are told when that is asked for") {
  const wire::MpiUse use{.rank = Rank(2), .pid = 1, .program = "a", .library = "libmpi.so"};
  Host asked([](wire::Prepare& p) { p.mpi.look = wire::MpiLook::Yes; });
  asked.may(wire::Prepared{.errors = {}, .mpi = {use}});
  asked.may(use);
  asked.may(use);
  asked.may_not(use, "sent 3 programs that use MPI, more than 2");
  Host host;
  host.may_not(use, "sent 1 programs that use MPI, more than 0");
  host.may_not(wire::Prepared{.errors = {}, .mpi = {use}}, "sent 1 programs that use MPI, more than 0");
}

namespace {

void among_four(wire::Prepare& p) { p.mpi = {plan::PmiMode::Pmi1, wire::MpiLook::No, 0, {{"a"}, {{{0, 0, 6}}}, 6}}; }
wire::FenceData fence(const std::string& name, std::size_t size) {
  return {.fence = name, .ranks = {}, .bytes = std::string(size, 'x')};
}

}  // namespace

TEST_CASE("conduct: what a host collects for fences is bounded until they are over") {
  Host host(among_four);
  host.start();
  std::size_t size = 0;
  for (; size + wire::kMaxPiece <= wire::kMaxFenceOfHost; size += wire::kMaxPiece)
    host.may(fence("1", wire::kMaxPiece));
  host.validator.asked(wire::Fenced{.fence = "1", .parts = {}});
  host.may(fence("1", 1));
  for (std::size_t more = 0; more + wire::kMaxPiece < wire::kMaxFenceOfHost; more += wire::kMaxPiece) {
    host.may(fence("2", wire::kMaxPiece));
  }
  host.may_not(fence("2", wire::kMaxPiece), "sent 16777217 bytes for fences, more than 16777216");
}

TEST_CASE("conduct: fences have names and ranks of the job") {
  Host host(among_four);
  host.start();
  wire::FenceData far = fence("1", 0);
  far.ranks = {Rank(5), Rank(6)};
  host.may_not(far, "named a rank that does not exist");
  host.may_not(fence(std::string(wire::kMaxFenceName + 1, 'x'), 0),
               "sent a piece of a fence that is longer than allowed");
  host.may_not(fence("1", wire::kMaxPiece + 1), "sent a piece of a fence that is longer than allowed");
  wire::FenceData old = fence("1", 0);
  old.attempt = 7;
  host.may_not(old, "named attempt 7, which it is not at");
  for (std::size_t i = 0; i < wire::kMaxFences; ++i) host.may(fence(std::to_string(i), 0));
  host.may_not(fence("one more", 0), "sent 1025 fences, more than 1024");
}

TEST_CASE("conduct: no services, no fences and nothing to hand on") {
  Host host;
  host.start();
  host.may_not(fence("1", 0), "sent a message of a fence, and expects none");
  host.may_not(wire::Relay{.from = Rank(2), .to = Rank(0), .bytes = {}},
               "handed something on, and there was nobody to have it");
}

TEST_CASE("conduct: a host hands on for its own ranks, to ranks that there are") {
  Host host(among_four);
  host.may_not(wire::Relay{.from = Rank(2), .to = Rank(0), .bytes = {}},
               "handed something on, and there was nobody to have it");
  host.start();
  host.may(wire::Relay{.from = Rank(2), .to = Rank(0), .bytes = "x"});
  host.may_not(wire::Relay{.from = Rank(3), .to = Rank(0), .bytes = {}}, "named rank 3, which is not on this host");
  host.may_not(wire::Relay{.from = Rank(2), .to = Rank(6), .bytes = {}}, "named a rank that does not exist");
  host.may_not(wire::Relay{.from = Rank(2), .to = Rank(0), .bytes = std::string(wire::kMaxPiece + 1, 'x')},
               "handed on what is longer than allowed");
}

TEST_CASE("conduct: ranks ask for others once at a time, with programs that are some") {
  Host host(among_four);
  const wire::SpawnRequest request{.from = Rank(2), .call = "t", .programs = {{{"a"}, 1}}, .keys = {}};
  host.may_not(request, "sent news of rank 2 before it had started its workers");
  host.start();
  host.may(request);
  host.may_not(request, "asked twice for the same ranks");
  host.validator.asked(wire::SpawnAnswer{.to = Rank(2), .call = "t", .why = {}});
  host.may(request);
  wire::SpawnRequest bad = request;
  bad.from = Rank(3);
  host.may_not(bad, "named rank 3, which is not on this host");
  bad = request;
  bad.call = "u";
  bad.programs[0].command.clear();
  host.may_not(bad, "asked for more ranks of no program");
  bad.programs.clear();
  host.may_not(bad, "asked for more ranks of no program");
  bad.attempt = 7;
  host.may_not(bad, "named attempt 7, which it is not at");
  Host plain;
  plain.start();
  plain.may_not(request, "asked for more ranks, and nobody here can");
}

TEST_CASE("conduct: requests for ranks that have no answer are bounded") {
  Host host(among_four);
  host.start();
  plan::SpawnProgram program{{"a"}, 1};
  program.search_path = std::string(wire::kMaxFenceOfHost - 100, 'x');  // any text of it counts
  wire::SpawnRequest request{.from = Rank(2), .call = "1", .programs = {program}, .keys = {}};
  const std::size_t size = wire::encode(request).size();
  host.may(request);
  request.call = "2";
  host.may_not(request, fmt::format("sent {} bytes of requests for ranks, more than 16777216", 2 * size));
}

TEST_CASE("conduct: ranks that come later are its own from their start on") {
  Host host(among_four);
  host.start();
  const wire::Added added{.first = Rank(6), .errors = {}};
  const wire::StartAdded go{.first = Rank(6), .go = wire::Go::Yes, .ranks = 8};
  host.may_not(added, "sent an answer about ranks that it was not asked about");
  host.validator.asked(wire::AddWorkers{.first = Rank(6), .apps = {}, .workers = {worker(6)}, .shape = {}, .keys = {}});
  host.may_not(wire::Started{{{Rank(6), 12}}}, "started its workers twice");
  host.may_not(wire::Added{.attempt = 7, .first = Rank(6), .errors = {}}, "named attempt 7, which it is not at");
  host.may(added);
  host.may_not(added, "sent an answer about ranks that it was not asked about");
  host.validator.asked(go);
  host.may(wire::Started{{{Rank(6), 12}}});
  host.may_not(wire::Started{{{Rank(6), 12}}}, "started its workers twice");
  host.may(output(6, "x"));
  host.may(wire::Relay{.from = Rank(6), .to = Rank(7), .bytes = "x"});
  host.may_not(wire::Relay{.from = Rank(6), .to = Rank(8), .bytes = "x"}, "named a rank that does not exist");
  host.may_not(output(7, "x"), "named rank 7, which is not on this host");
}

TEST_CASE("conduct: ranks that come later start while it is asked about the next") {
  Host host(among_four);
  host.start();
  for (const std::uint32_t rank : {6U, 7U}) {
    host.validator.asked(
        wire::AddWorkers{.first = Rank(rank), .apps = {}, .workers = {worker(rank)}, .shape = {}, .keys = {}});
    host.may(wire::Added{.first = Rank(rank), .errors = {}});
    host.validator.asked(wire::StartAdded{.first = Rank(rank), .go = wire::Go::Yes, .ranks = rank + 1});
  }
  host.validator.asked(wire::AddWorkers{.first = Rank(8), .apps = {}, .workers = {worker(8)}, .shape = {}, .keys = {}});
  host.may(wire::Started{{{Rank(6), 12}}});
  host.may(wire::Started{{{Rank(7), 13}}});
  host.may_not(wire::Started{{{Rank(8), 14}}}, "started its workers twice");
}

TEST_CASE("conduct: ranks that are not to come after all are nobody's") {
  Host host(among_four);
  host.start();
  host.validator.asked(wire::AddWorkers{.first = Rank(6), .apps = {}, .workers = {worker(6)}, .shape = {}, .keys = {}});
  host.may(wire::Added{.first = Rank(6), .errors = {}});
  host.validator.asked(wire::StartAdded{.first = Rank(6), .go = wire::Go::No, .ranks = 8});
  host.may_not(output(6, "x"), "named rank 6, which is not on this host");
  host.may_not(wire::Started{{{Rank(6), 12}}}, "started its workers twice");
}

TEST_CASE("conduct: what is in use is told where it was asked for, of so many accelerators") {
  Host silent;
  silent.may_not(wire::HostUsed{}, "sent how much of it is in use, which nobody had asked for");
  Host host([](wire::Prepare& p) { p.usage = UsageLook::Yes; });
  host.may(wire::HostUsed{1, {1 << 20, 2 << 20, {{"card0", 87, 5, 9}}}});
  host.may_not(wire::HostUsed{1, {1, 2, {{std::string(65, 'x'), 1, 1, 1}}}},
               "sent an accelerator's name that is longer than allowed");
  CHECK_FALSE(host.validator.check(wire::HostUsed{1, {1, 2, std::vector<AcceleratorUse>(65)}}).has_value());
}

TEST_CASE("conduct: a fault is told of a rank of the host, once, before its end, with a status") {
  Host host(among_four);
  const wire::RankFault fault{.rank = Rank(2), .code = 3, .why = "called MPI_Abort"};
  host.may_not(fault, "sent news of rank 2 before it had started its workers");
  host.start();
  wire::RankFault zero = fault;
  zero.code = 0;
  zero.rank = Rank(5);
  host.may_not(zero, "sent a status that no process can have");
  host.may(fault);
  host.may_not(fault, "sent a fault of rank 2 again, or after its end");
  host.may(exited(5));
  zero.code = 1;
  host.may_not(zero, "sent a fault of rank 5 again, or after its end");
}

TEST_CASE("conduct: where a worker is, is told when it was asked for, once for each, and in so many words") {
  Host host;
  host.start();
  host.may_not(wire::Trace{.id = 1, .rank = Rank(2), .process = {}},
               "sent where a worker is, which nobody had asked for");
  host.may_not(wire::Traced{1}, "sent where its workers are, which nobody had asked for");
  host.validator.asked(wire::AskTraces{1, 2000, TraceTools::All});
  host.may(wire::Trace{.id = 1, .rank = Rank(2), .process = {.pid = 10, .threads = {{.tid = 10}}, .stacks = "x"}});
  host.may_not(wire::Trace{.id = 1, .rank = Rank(2), .process = {}}, "sent twice where rank 2 is");
  host.may_not(wire::Trace{.id = 1, .rank = Rank(3), .process = {}}, "named rank 3, which is not on this host");
  host.may_not(wire::Trace{.id = 2, .rank = Rank(5), .process = {}},
               "sent where a worker is, which nobody had asked for");
  host.may(wire::Traced{1});
  host.may_not(wire::Traced{1}, "sent where its workers are, which nobody had asked for");

  host.validator.asked(wire::AskTraces{2, 2000, TraceTools::All});
  CHECK_FALSE(host.validator.check(wire::Trace{2, Rank(2), {.stacks = kLong}}).has_value());
  CHECK_FALSE(host.validator.check(wire::Trace{2, Rank(5), {.threads = std::vector<ThreadTrace>(kMostThreads + 1)}})
                  .has_value());
  host.validator.asked(wire::AskTraces{3, 2000, TraceTools::All});
  CHECK_FALSE(host.validator.check(wire::Trace{3, Rank(2), {.sockets = std::vector<std::string>(kMostSockets + 1)}})
                  .has_value());
  CHECK_FALSE(host.validator.check(wire::Trace{3, Rank(5), {.threads = {{.held = kLong}}}}).has_value());
}

TEST_CASE("conduct: what was recorded comes when it was asked for, and in bounds") {
  Host plain;
  plain.start();
  plain.validator.asked(wire::AskRecorded{1, 2000});
  plain.may_not(wire::Recorded{1, Rank(2), "x"}, "sent what was recorded, that nobody had asked for");

  Host host([](wire::Prepare& p) { p.torch_traces = wire::TorchTraces::Yes; });
  host.start();
  host.may_not(wire::Recorded{1, Rank(2), "x"}, "sent what was recorded, that nobody had asked for");
  host.validator.asked(wire::AskRecorded{1, 2000});
  host.may_not(wire::Recorded{1, Rank(3), "x"}, "named rank 3, which is not on this host");
  const std::string piece(wire::kMaxRecordedPiece, 'x');
  for (std::size_t sent = 0; sent < wire::kMaxRecorded; sent += piece.size()) {
    host.may(wire::Recorded{1, Rank(2), piece});
  }
  host.may_not(wire::Recorded{1, Rank(2), "x"}, "sent more of what was recorded than it may");
  host.may(wire::Recorded{1, Rank(5), "x"});
  host.may_not(wire::Recorded{1, Rank(5), piece + "x"}, "sent more of what was recorded than a message may have");
  host.may(wire::RecordedAll{1});
  host.may_not(wire::RecordedAll{1}, "sent the end of a recording that nobody had asked for");
  host.may_not(wire::Recorded{1, Rank(5), "x"}, "sent what was recorded, that nobody had asked for");
}

TEST_CASE("conduct: what workers use is told when it was asked for, once, of those of the host") {
  Host host;
  host.start();
  const std::string unasked = "sent an answer that nobody had asked for: WorkersUse";
  host.may_not(wire::WorkersUse{1, {}}, unasked);
  for (const std::uint32_t id : {1U, 2U, 3U}) host.validator.asked(wire::AskUse{id});
  host.may(wire::WorkersUse{1, {{Rank(2), {10, 20, 1}}, {Rank(5), {}}}});
  host.may_not(wire::WorkersUse{2, {{Rank(3), {}}}}, "named rank 3, which is not on this host");
  host.may_not(wire::WorkersUse{3, {{Rank(2), {}}, {Rank(2), {}}}}, "named rank 2 twice in one message");
  host.may_not(wire::WorkersUse{3, {}}, unasked);
}

TEST_CASE("conduct: a host tells whether it is well when it is asked, and in few words") {
  Host host;
  host.may_not(wire::Health{1, {}}, "sent an answer that nobody had asked for: Health");
  for (const std::uint32_t id : {1U, 2U, 3U}) host.validator.asked(wire::AskHealth{id, {}, 0, 0});
  host.may(wire::Health{1, {"no memory"}});
  host.may_not(wire::Health{2, {kLong}}, "sent a text of 65537 bytes, more than 65536");
  host.may_not(wire::Health{3, std::vector<std::string>(101)}, "sent 101 faults, more than 100");
}
