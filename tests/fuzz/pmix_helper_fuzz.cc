// What the helper that lends libpmix sends to its agent, and the words of other hosts, cut and turned as they like.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/wire/limits.h"
#include "launcher/agent/mpi/pmix_machine.h"
#include "tests/fuzz/require.h"

using namespace sml;
using namespace sml::agent::pmix;
using sml::fuzz::require;

namespace {

void check(const Actions& deeds) {
  for (const Actions::Failure& failure : deeds.failures) {
    require(failure.rank == Rank(0) || failure.rank == Rank(2));
    require(failure.code >= 1 && failure.code <= 255);
  }
  for (const Actions::Words& one : deeds.words) {
    require((one.rank == Rank(0) || one.rank == Rank(2)) && !one.text.empty());
  }
  for (const wire::ToLauncher& message : deeds.launcher) {
    if (const auto* data = std::get_if<wire::FenceData>(&message)) {
      require(data->bytes.size() <= wire::kMaxPiece && data->fence.size() <= wire::kMaxFenceName);
      for (const Rank rank : data->ranks) require(rank.value() < 4);
    } else if (const auto* request = std::get_if<wire::SpawnRequest>(&message)) {
      require(!request->programs.empty() && (request->from == Rank(0) || request->from == Rank(2)));
      for (const plan::SpawnProgram& program : request->programs)
        require(!program.command.empty() && program.count > 0);
    } else {
      const auto& relay = std::get<wire::Relay>(message);
      require(relay.bytes.size() <= wire::kMaxPiece && relay.from == Rank(0) && relay.to.value() < 4);
    }
  }
}

// To all that has been gathered here other hosts have added `bytes`.
void close_fences(Machine& machine, const Actions& deeds, std::string_view bytes) {
  for (const wire::ToLauncher& message : deeds.launcher) {
    const auto* data = std::get_if<wire::FenceData>(&message);
    if (data == nullptr) continue;
    machine.take(wire::Fenced{1, wire::WireUp::Pmix, data->fence, {data->bytes, std::string(bytes)}});
    const Actions closed = machine.take_deeds();
    for (const ToHelper& one : closed.helper) {
      const auto* answer = std::get_if<Answer>(&one);
      if (answer != nullptr) require(answer->bytes.size() <= data->bytes.size() + bytes.size());
    }
    check(closed);
  }
}

}  // namespace

// The first byte: how many bytes come at a time; then the helper's. All of it is a word of another host, too, and what
// is behind a message is what the others give to a fence or a group.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::size_t step = data[0] + std::size_t{1};
  Machine machine({Rank(0), Rank(2)}, 4, 1);
  machine.take(wire::Relay{1, wire::WireUp::Pmix, Rank(1), Rank(2), std::string(bytes)});
  check(machine.take_deeds());
  Decoder decoder;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    decoder.feed(bytes.substr(at, step));
    for (;;) {
      const Result<std::optional<FromHelper>> message = decoder.next();
      if (!message) return 0;
      if (!message->has_value()) break;
      if (!machine.take(**message)) return 0;
      const Actions deeds = machine.take_deeds();
      check(deeds);
      close_fences(machine, deeds, bytes.substr(std::min(at + step, bytes.size())));
    }
  }
  return 0;
}
