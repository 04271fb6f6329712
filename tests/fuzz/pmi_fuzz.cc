// Any bytes of the ranks of a host by PMI: the server is bounded, answers the same in whatever pieces they come, and a
// rank that breaks the protocol is not heard again.
#include "launcher/agent/pmi/pmi_server.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/plan/ranks/job_shape.h"
#include "tests/fuzz/require.h"

using sml::fuzz::require;

namespace {

using namespace sml;
using namespace sml::agent;
using namespace sml::wire;

constexpr std::uint32_t kRanks = 3;

struct Played {
  std::map<Rank, std::string> received;
  std::set<Rank> given_up;
  std::size_t fences = 0;
  std::vector<std::pair<Rank, std::string>> spawns{};  // that wait to the end: what comes with them comes too early
};

PmiWorld world(std::uint32_t hosts) {
  PmiWorld out{
      .job = "job", .size = kRanks * hosts, .universe = 8, .mapping = "(vector,(0,1,3))", .hosts = hosts, .ranks = {}};
  for (std::uint32_t r = 0; r < kRanks; ++r) out.ranks.push_back({Rank(r), r});
  return out;
}

void settle(PmiServer& server, Played& played) {
  for (auto actions = server.take_actions(); !actions.empty(); actions = server.take_actions()) {
    for (const PmiAction& action : actions) {
      if (const auto* answer = std::get_if<PmiAnswer>(&action)) {
        require(!played.given_up.contains(answer->rank) && answer->bytes.size() <= kPmiMessage);
        played.received[answer->rank] += answer->bytes;
      } else if (const auto* fence = std::get_if<PmiFence>(&action)) {
        require(fence->number == ++played.fences && fence->news.size() <= PmiSpace::kNews);
        require(server.fenced(fence->number, std::vector{fence->news, std::string()}).has_value());
      } else if (const auto* word = std::get_if<PmiRelay>(&action)) {
        server.on_relayed(word->to, word->from, word->bytes);
      } else if (const auto* broken = std::get_if<PmiBroken>(&action)) {
        require(played.given_up.insert(broken->rank).second && !broken->why.empty());
      } else if (const auto* aborted = std::get_if<PmiAborted>(&action)) {
        require(played.given_up.insert(aborted->rank).second && aborted->code > 0 && aborted->code < 256);
      } else if (const auto* spawn = std::get_if<PmiSpawn>(&action)) {
        std::size_t size = 0;
        for (const plan::SpawnProgram& program : spawn->request.programs) {
          require(!program.command.empty() && program.count <= 1'000'000);
          for (const std::string& argument : program.command) size += argument.size();
        }
        require(!spawn->request.programs.empty() && size <= PmiSpawnReader::kMost);
        played.spawns.emplace_back(spawn->rank, spawn->thread);
      }
    }
  }
}

// The bytes are dealt to the ranks in runs: a byte tells whose and how many.
Played play(const std::string& input, std::size_t piece, std::uint32_t hosts) {
  Played played;
  PmiServer server(world(hosts));
  for (std::size_t at = 0; at + 1 < input.size();) {
    const auto control = static_cast<unsigned char>(input[at]);
    const Rank rank(control % kRanks);
    const std::string run = input.substr(at + 1, control / kRanks);
    at += 1 + run.size();
    for (std::size_t i = 0; i < run.size(); i += piece) {
      server.received(rank, std::string_view(run).substr(i, piece));
      settle(server, played);
    }
  }
  for (std::size_t i = 0; i < played.spawns.size(); ++i) {
    server.spawned(played.spawns[i].first, played.spawns[i].second, i % 2 == 0 ? "" : "no");
    server.spawned(played.spawns[i].first, played.spawns[i].second, "again");
  }
  settle(server, played);
  for (std::uint32_t r = 0; r < kRanks; ++r) server.ended(Rank(r), true);
  settle(server, played);
  return played;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  const Played whole = play(input, input.size() + 1, 1);
  const Played bytewise = play(input, 1, 1);
  require(whole.received == bytewise.received && whole.given_up == bytewise.given_up);
  (void)play(input, 7, 2);
  PmiSpace space;  // as if another host had sent it
  (void)space.merge(std::vector{input});
  (void)read_name_question(input);
  (void)read_name_answer(input);
  PmiServer server(world(2));
  server.on_relayed(Rank(4), Rank(0), input);
  return 0;
}
