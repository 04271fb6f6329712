// Channels that workers read from FIFOs, one FIFO per epoch, as in SageMaker's Pipe mode. The platform fills a FIFO of
// the host; the agent deals its data out to FIFOs of its own, one for each rank (launcher/agent/pipes). Pure. Source:
// developer guide of Amazon SageMaker, "Accessing Training Data" and CreateTrainingJob (InputMode, RecordWrapperType,
// ShuffleConfig, CompressionType).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/core/strong.h"

namespace sml::plan {

// The units in which data is dealt to the ranks of a host.
enum class FifoFraming : std::uint8_t {
  Records,  // RecordIO; all parts of a record stay together
  Lines,
  Bytes,  // pieces of equal size
};
// A round deals one group to each rank of the host. The last round of an epoch may be incomplete. No: it is dealt, too.
// Drop: it is left out, so that all ranks get equally many groups.
enum class Equalize : std::uint8_t { No, Drop };

inline constexpr std::uint32_t kDefaultPiece = 64 << 10;

// A channel whose FIFOs the platform fills, dealt out to the ranks of each host.
struct FifoChannel {
  std::string name;
  FifoFraming framing = FifoFraming::Records;
  std::uint32_t group = 1;  // consecutive records or lines for one rank; with Bytes: the size of a piece in bytes
  Equalize equalize = Equalize::No;
  std::uint32_t epochs = 0;  // from --pipe-epochs; 0: no limit
  void fields(auto& a) { a(name, framing, group, equalize, epochs); }
  bool operator==(const FifoChannel&) const = default;
};

// The channels of a host, and its ranks that read them, in the order in which records are dealt.
struct FifoPlan {
  std::vector<FifoChannel> channels;
  std::vector<Rank> readers;
  void fields(auto& a) { a(channels, readers); }
};

// Parses the value of --pipe-fanout: NAME[:records|lines|bytes][,group=K][,equalize=drop]. A piece has kDefaultPiece
// bytes if no size is given. Error (Usage) names what is wrong.
Result<FifoChannel> parse_pipe_fanout(std::string_view text);

// Returns "SM_CHANNEL_MY-DATA=FOLDER/my-data", and if the name has characters that a shell does not allow in the name
// of a variable, a second one with "_" for each of them. `folder` is that of one rank; its FIFOs are FOLDER/my-data_0
// for the first epoch, FOLDER/my-data_1 for the second, and so on.
std::vector<std::string> fifo_variables(const FifoChannel& channel, std::string_view folder);

}  // namespace sml::plan
