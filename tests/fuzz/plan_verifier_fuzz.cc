// Any bytes of a head, and an honest head's with changes: of what passes, each message is one that this host would have
// been told by itself, whatever the pieces in which the bytes come. What one pass of bytes lets through before a
// message that is refused is not looked at: nothing of it goes to the agent.
#include "launcher/dialin/peer/plan_verifier.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "tests/fuzz/edited.h"
#include "tests/fuzz/require.h"

using namespace sml;
using namespace sml::dialin;
using sml::fuzz::require;

namespace {

const std::string kJob = "j";
constexpr Rank kRank{1};

wire::Start honest_start(const std::string& address) {
  return {.rendezvous = plan::rendezvous_environment({.address = address, .port = 1024, .horovod_port = 1025})};
}

ExpectedPlan own_part() {
  ExpectedPlan part;
  part.host = "h";
  part.health_check = "test -d /w";
  wire::App app;
  app.argv = {"python3", "train.py"};
  app.working_directory = "/w";
  app.user_environment = {"LR=0.1", "TOKEN=hidden"};
  part.prepare.apps = {app};
  wire::Worker worker;
  worker.rank = kRank;
  worker.stdin_source = wire::StdinSource::Launcher;
  worker.environment = {"RANK=1"};
  part.prepare.apps[0].environment = {"WORLD_SIZE=2"};
  part.prepare.workers = {worker};
  for (std::size_t i = 0; i < kAnyAddress.size(); ++i) {
    part.variables[i] = {{kRank, {"N=2", "A=" + std::string(kAnyAddress[i]) + ":(port)"}}};
  }
  return part;
}

std::string honest_bytes(const ExpectedPlan& own) {
  wire::Hello hello;
  hello.job_id = kJob;
  hello.host = own.host;
  wire::Start start = honest_start("10.0.0.1");
  start.variables = {{kRank, {"A=10.0.0.1:29500"}}};
  start.common = {"N=2"};
  std::string out;
  for (const wire::ToAgent& m : {wire::ToAgent(hello), wire::ToAgent(own.prepare), wire::ToAgent(start),
                                 wire::ToAgent(wire::AskHealth{1, own.health_check, 1000, 0}),
                                 wire::ToAgent(wire::Ping{7}), wire::ToAgent(wire::StdinData{kRank, "in"}),
                                 wire::ToAgent(wire::StdinEof{kRank}), wire::ToAgent(wire::Stop{15, 1})}) {
    out += wire::encode(m);
  }
  return out;
}

struct Passed {
  bool refused = false;
  std::string bytes;
};

Passed pass(const ExpectedPlan& own, const std::string& bytes, std::size_t piece) {
  PlanVerifier check(
      [&own](const AttemptParameters& choice) { return choice.job_id == kJob ? std::optional(own) : std::nullopt; }, 1);
  Passed out;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const auto fresh = std::span<const char>(bytes).subspan(at, std::min(piece, bytes.size() - at));
    const auto passed = check.pass(fresh);
    if (!passed) {
      require(passed.error().kind() == ErrorKind::Auth);
      require(passed.error().message().find("hidden") == std::string::npos);
      out.refused = true;
      return out;
    }
    out.bytes += *passed;
  }
  return out;
}

// What may be told, looked at once more and in another way.
struct Looker {
  const ExpectedPlan& own;
  int hellos = 0, plans = 0, starts = 0;

  void operator()(const wire::Hello& m) {
    require(++hellos == 1 && plans == 0 && m.job_id == kJob && m.host == own.host);
  }
  void operator()(const wire::Prepare& m) {
    require(++plans == 1 && hellos == 1 && wire::encode(wire::ToAgent(m)) == wire::encode(wire::ToAgent(own.prepare)));
  }
  void operator()(const wire::Start& m) {
    require(++starts == 1 && plans == 1 && m.variables.size() == 1 && m.variables[0].rank == kRank);
    plan::Environment variables = m.common;
    variables.insert(variables.end(), m.variables[0].environment.begin(), m.variables[0].environment.end());
    std::sort(variables.begin(), variables.end());
    require(variables.size() == 2 && variables[0].starts_with("A=") && variables[1] == "N=2");
    const plan::Environment names = honest_start("a").rendezvous;
    require(m.rendezvous.size() == names.size() && m.stores.hosts.empty());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const bool same_name = std::any_of(m.rendezvous.begin(), m.rendezvous.end(), [&](const std::string& entry) {
        return plan::name_of(entry) == plan::name_of(names[i]);
      });
      require(same_name && m.rendezvous[i].find_first_of("/;, \n$`'\"") == std::string::npos);
    }
  }
  void operator()(const wire::StdinData& m) const { require(hellos == 1 && m.rank == kRank); }
  void operator()(const wire::StdinEof& m) const { require(hellos == 1 && m.rank == kRank); }
  void operator()(const wire::AskHealth& m) const {
    require(hellos == 1 && (m.command.empty() || m.command == own.health_check));
  }
  void operator()(const wire::EndLeft&) const { require(false); }
  void operator()(const wire::AddWorkers&) const { require(false); }
  void operator()(const wire::StartAdded&) const { require(false); }
  void operator()(const wire::ReconnectRequest&) const { require(false); }
  void operator()(const wire::HorovodCall&) const { require(false); }
  void operator()(const wire::HorovodRound&) const { require(false); }
  template <class Message>
  void operator()(const Message&) const {
    require(hellos == 1);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ExpectedPlan own = own_part();
  static const std::string honest = honest_bytes(own);
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  static const bool passes = !pass(own, honest, 7).refused && pass(own, honest, 7).bytes == honest;
  require(passes);
  const std::string bytes = sml::fuzz::edited(input, honest);
  const Passed whole = pass(own, bytes, bytes.size() + 1);
  const Passed pieces = pass(own, bytes, 1);
  require(whole.refused == pieces.refused && (whole.refused || whole.bytes == pieces.bytes));
  // Where hosts may differ, as in their working directory, the verifier has put in this host's own value; the looker
  // compares the plan.
  require(pieces.bytes.size() <= bytes.size());
  wire::Decoder<wire::ToAgent> decoder;
  decoder.feed(pieces.bytes);
  Looker looker{own};
  for (;;) {
    const auto next = decoder.next();
    require(next.has_value());
    if (!next->has_value()) return 0;
    std::visit(looker, **next);
  }
}
