// Any bytes of an agent, and an honest agent's with changes: whatever is not refused keeps to the rules on which the
// launcher's memory and the other hosts depend.
#include "launcher/transport/session/agent_protocol_validator.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "common/wire/codec.h"
#include "common/wire/limits.h"
#include "tests/fuzz/edited.h"
#include "tests/fuzz/require.h"

using namespace sml;
using namespace sml::transport;
using sml::fuzz::require;

namespace {

constexpr std::uint64_t kCredit = 300;
constexpr std::uint32_t kStdin = 5;

AgentProtocolValidator validator_of_two() {
  wire::Prepare prepare;
  prepare.apps.resize(1);
  prepare.services = {{wire::ServiceKind::TorchStore}, {wire::ServiceKind::WorkerPort}};
  for (const std::uint32_t rank : {2U, 5U}) {
    wire::Worker worker;
    worker.rank = Rank(rank);
    prepare.workers.push_back(worker);
  }
  prepare.mpi = {plan::PmiMode::Pmi1, wire::MpiLook::No, 0, {{"a"}, {{{0, 0, 6}}}, 6}};
  prepare.usage = UsageLook::Yes;
  prepare.torch_traces = wire::TorchTraces::Yes;
  wire::Hello hello;
  hello.credit = kCredit;
  AgentProtocolValidator validator(hello, prepare);
  validator.asked(wire::Probe{{"10.0.0.2"}, 1, 1});
  validator.asked(wire::Ping{1});
  validator.asked(wire::Inspect{});
  validator.asked(wire::AskJoined{});
  validator.asked(wire::AskTraces{1, 2000, TraceTools::All});
  validator.asked(wire::AskRecorded{1, 2000});
  validator.asked(wire::AskUse{1});
  validator.asked(wire::AskHealth{1, {}, 0, 0});
  validator.asked(wire::StdinData{Rank(2), std::string(kStdin, 'x')});
  return validator;
}

std::string honest_bytes() {
  const std::string text(100, 'x');
  std::string out;
  for (const wire::ToLauncher& m : {
           wire::ToLauncher(wire::HelloAck{.build_id = "1", .addresses = {"10.0.0.1"}, .machine = "m"}),
           wire::ToLauncher(wire::Prepared{{},
                                           {{wire::ServiceKind::TorchStore, 29500}, {wire::ServiceKind::WorkerPort, 1}},
                                           {},
                                           {"a warning"},
                                           {}}),
           wire::ToLauncher(wire::Probed{{{"10.0.0.2", 0}}}),
           wire::ToLauncher(wire::Pong{1, 5}),
           wire::ToLauncher(wire::Inspected{}),
           wire::ToLauncher(wire::Health{1, {"no memory"}}),
           wire::ToLauncher(wire::Started{{{Rank(2), 10}, {Rank(5), 11}}}),
           wire::ToLauncher(wire::StdinCredit{Rank(2), kStdin}),
           wire::ToLauncher(wire::Output{Rank(2), Stream::Stdout, text}),
           wire::ToLauncher(wire::Joined{.count = 1, .since_first_ms = 1, .missing = {Rank(5)}, .with_torch = 0}),
           wire::ToLauncher(wire::FenceData{.fence = "1", .ranks = {Rank(2), Rank(4)}, .bytes = text}),
           wire::ToLauncher(wire::Relay{.from = Rank(5), .to = Rank(0), .bytes = text}),
           wire::ToLauncher(wire::HostUsed{1, {1, 2, {{"card0", 3, 4, 5}}}}),
           wire::ToLauncher(wire::Trace{1, Rank(2), {.pid = 10, .threads = {{.tid = 10}}, .stacks = text}}),
           wire::ToLauncher(wire::Recorded{1, Rank(2), text}),
           wire::ToLauncher(wire::Traced{1}),
           wire::ToLauncher(wire::RecordedAll{1}),
           wire::ToLauncher(wire::WorkersUse{1, {{Rank(2), {1, 2, 3}}}}),
           wire::ToLauncher(wire::RankFault{.rank = Rank(5), .code = 3, .why = text}),
           wire::ToLauncher(wire::HorovodNews{1, wire::HorovodStep::Ready, "algo-2:0"}),
           wire::ToLauncher(wire::ErrorFile{text, Rank(5)}),
           wire::ToLauncher(wire::ExitedWorker{.rank = Rank(5)}),
           wire::ToLauncher(wire::Drained{Rank(5), wire::DrainEnd::Eof}),
           wire::ToLauncher(wire::Output{Rank(2), Stream::Stderr, text}),
           wire::ToLauncher(wire::ExitedWorker{.rank = Rank(2)}),
           wire::ToLauncher(wire::Drained{Rank(2), wire::DrainEnd::Eof}),
           wire::ToLauncher(wire::Cleared{}),
           wire::ToLauncher(wire::Bye{}),
       }) {
    out += wire::encode(m);
  }
  return out;
}

// What was let through, counted in another way.
struct Counted {
  std::uint64_t output = 0;
  std::size_t fenced = 0;
  std::size_t recorded = 0;
  std::map<std::uint32_t, int> exits, files, faults, looks;
  int greetings = 0, pongs = 0, inspections = 0, probes = 0, uses = 0, health = 0;

  static void require_ours(Rank rank) { require(rank == Rank(2) || rank == Rank(5)); }
  void operator()(const wire::HelloAck&) { require(++greetings == 1); }
  void operator()(const wire::Output& m) {
    require_ours(m.rank);
    require(exits[m.rank.value()] <= 1 && (output += m.bytes.size()) <= kCredit);
  }
  void operator()(const wire::ExitedWorker& m) {
    require_ours(m.rank);
    require(++exits[m.rank.value()] == 1);
  }
  void operator()(const wire::ErrorFile& m) {
    require_ours(m.rank);
    require(++files[m.rank.value()] == 1 && m.text.size() <= wire::kMaxErrorFile);
  }
  void operator()(const wire::FenceData& m) {
    require((fenced += m.bytes.size()) <= wire::kMaxFenceOfHost && m.fence.size() <= wire::kMaxFenceName);
    for (const Rank rank : m.ranks) require(rank.value() < 6);
  }
  void operator()(const wire::Relay& m) const {
    require_ours(m.from);
    require(m.to.value() < 6 && m.bytes.size() <= wire::kMaxPiece);
  }
  void operator()(const wire::RankFault& m) {
    require_ours(m.rank);
    require(++faults[m.rank.value()] == 1 && m.code > 0 && m.code < 256);
  }
  void operator()(const wire::HostUsed& m) const { require(m.use.accelerators.size() <= kMostAccelerators); }
  void operator()(const wire::Trace& m) {
    require_ours(m.rank);
    require(++looks[m.rank.value()] == 1 && m.process.threads.size() <= kMostThreads);
  }
  void operator()(const wire::Recorded& m) {
    require_ours(m.rank);
    require((recorded += m.bytes.size()) <= wire::kMaxRecordedOfHost && m.bytes.size() <= wire::kMaxRecordedPiece);
  }
  void operator()(const wire::WorkersUse& m) {
    require(++uses == 1 && m.workers.size() <= 2);
    for (const wire::RankUse& worker : m.workers) require_ours(worker.rank);
  }
  void operator()(const wire::AgentLog& m) const { require(m.text.size() <= wire::kMaxText); }
  void operator()(const wire::Pong&) { require(++pongs == 1); }
  void operator()(const wire::Inspected&) { require(++inspections == 1); }
  void operator()(const wire::Health&) { require(++health == 1); }
  void operator()(const wire::Probed&) { require(++probes == 1); }
  void operator()(const wire::PeerVerdictsOfHost&) const { require(false); }
  void operator()(const wire::LeftEnded&) const { require(false); }
  template <class Message>
  void operator()(const Message&) const {}
};

// How many bytes of messages are let through.
std::size_t validate(const std::string& bytes) {
  AgentProtocolValidator validator = validator_of_two();
  wire::Decoder<wire::ToLauncher> decoder;
  decoder.feed(bytes);
  Counted counted;
  std::size_t good = 0;
  for (;;) {
    const auto next = decoder.next();
    if (!next || !next->has_value()) return good;
    if (const auto allowed = validator.check(**next); !allowed) {
      require(allowed.error().kind() == ErrorKind::Protocol && !allowed.error().message().empty());
      return good;
    }
    std::visit(counted, **next);
    good += wire::encode(**next).size();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string honest = honest_bytes();
  static const bool passes = validate(honest) == honest.size();
  require(passes);
  (void)validate(sml::fuzz::edited(std::string_view(reinterpret_cast<const char*>(data), size), honest));
  return 0;
}
