// Channels that workers read from FIFOs, one FIFO per epoch, as in SageMaker's Pipe mode. Pure.
// Source: developer guide, "Accessing Training Data" and CreateTrainingJob (InputMode, RecordWrapperType,
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
enum class Equalize : std::uint8_t { No, Drop };  // Drop: records that do not fill a whole round are left out

inline constexpr std::uint32_t kDefaultPiece = 64 << 10;

// A channel whose FIFOs the platform fills, dealt out to the ranks of each host.
struct FifoChannel {
  std::string name;
  FifoFraming framing = FifoFraming::Records;
  std::uint32_t group = 1;  // the number of consecutive records for one rank; with Bytes: the size of a piece
  Equalize equalize = Equalize::No;
  std::uint32_t epochs = 0;  // 0: no limit
  void fields(auto& a) { a(name, framing, group, equalize, epochs); }
  bool operator==(const FifoChannel&) const = default;
};

// The channels of a host, and its ranks that read them, in the order in which records are dealt.
struct FifoPlan {
  std::vector<FifoChannel> channels;
  std::vector<Rank> readers;
  void fields(auto& a) { a(channels, readers); }
};

// Parses the value of --pipe-fanout: NAME[:records|lines|bytes][,group=K][,equalize=drop].
Result<FifoChannel> parse_pipe_fanout(std::string_view text);

// "SM_CHANNEL_MY-DATA=FOLDER/my-data"; the names of the FIFOs are this path with _EPOCH appended. A second variable has
// "_" for each character that a shell does not allow in a name.
std::vector<std::string> fifo_variables(const FifoChannel& channel, std::string_view folder);

}  // namespace sml::plan
