// Any text as --pipe-fanout, and any bytes as a channel's stream: what is taken has its limits,
// and who gets what does not depend on the pieces in which the stream comes. The first byte of the input says how many
// readers there are and what is dealt, the second the size of a piece.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/plan/fifos.h"
#include "launcher/agent/pipes/record_distributor.h"
#include "tests/fuzz/require.h"

using sml::fuzz::require;

namespace {

using namespace sml;

using Dealt = std::vector<std::string>;

// What was dealt, and where it ended with an error.
struct Outcome {
  Dealt dealt;
  std::optional<std::uint64_t> fault;
};

void add(Outcome& out, const agent::RecordDistributor& distributor,
         const Result<std::span<const agent::Share>>& shares) {
  if (!shares) {
    require(!shares.error().message().empty());
    out.fault = distributor.offset();
    return;
  }
  for (const agent::Share& share : *shares) out.dealt[share.reader] += share.bytes;
}

Outcome deal(const plan::FifoChannel& channel, std::uint32_t readers, std::string_view stream, std::size_t step) {
  agent::RecordDistributor distributor(channel, readers);
  Outcome out{Dealt(readers), {}};
  for (; !stream.empty() && !out.fault; stream.remove_prefix(std::min(step, stream.size()))) {
    add(out, distributor, distributor.deal(stream.substr(0, step)));
  }
  if (!out.fault) add(out, distributor, distributor.end());
  return out;
}

std::size_t total(const Dealt& dealt) {
  std::size_t size = 0;
  for (const std::string& bytes : dealt) size += bytes.size();
  return size;
}

void try_stream(std::string_view input) {
  if (input.size() < 2) return;
  const auto choice = static_cast<unsigned char>(input[0]);
  const std::size_t step = 1 + static_cast<unsigned char>(input[1]) % 32;
  constexpr plan::FifoFraming kFramings[] = {plan::FifoFraming::Records, plan::FifoFraming::Lines,
                                             plan::FifoFraming::Bytes};
  plan::FifoChannel channel{.name = "c"};
  channel.framing = kFramings[choice % 3];
  channel.group = 1 + choice / 4 % 4;
  channel.equalize = choice < 128 ? plan::Equalize::No : plan::Equalize::Drop;
  const std::uint32_t readers = 1 + choice / 16 % 4;
  const std::string_view stream = input.substr(2);
  const Outcome pieces = deal(channel, readers, stream, step);
  const Outcome whole = deal(channel, readers, stream, stream.size() + 1);
  require(pieces.fault.has_value() == whole.fault.has_value());
  if (pieces.fault && *pieces.fault != stream.size()) require(*pieces.fault == *whole.fault);
  if (whole.fault) return;
  require(pieces.dealt == whole.dealt);
  if (channel.equalize == plan::Equalize::No) require(total(whole.dealt) == stream.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  try_stream(input);
  const Result<plan::FifoChannel> parsed = plan::parse_pipe_fanout(input);
  if (!parsed) {
    require(!parsed.error().message().empty());
    return 0;
  }
  require(!parsed->name.empty() && parsed->name.size() <= 64 && parsed->group > 0);
  require(!plan::fifo_variables(*parsed, "/f").empty());
  return 0;
}
