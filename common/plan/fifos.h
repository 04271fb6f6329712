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
  Whole,    // everything to one reader
  Records,  // RecordIO; all parts of a record stay together
  Lines,
  Bytes,  // pieces of equal size
};
enum class FifoWrap : std::uint8_t { None, RecordIo };  // RecordIo: each file becomes one record
enum class FifoCompression : std::uint8_t { None, Gzip };
enum class FifoOrder : std::uint8_t { ByName, Shuffled };  // Shuffled: a new random order for each epoch
enum class Equalize : std::uint8_t { No, Drop };           // Drop: records that do not fill a whole round are left out

inline constexpr std::uint32_t kDefaultPiece = 64 << 10;

// One channel on one host: what fills it, and which ranks read it.
struct FifoChannel {
  std::string name;
  std::string path{};  // of a folder or manifest that the agent feeds; empty: the platform fills the FIFOs
  FifoWrap wrap = FifoWrap::None;
  FifoCompression compression = FifoCompression::None;
  FifoOrder order = FifoOrder::ByName;
  std::uint64_t seed = 0;                    // for Shuffled
  FifoFraming framing = FifoFraming::Whole;  // Whole: one FIFO for the host, otherwise one for each rank
  std::uint32_t group = 1;  // the number of consecutive records for one rank; with Bytes: the size of a piece
  Equalize equalize = Equalize::No;
  std::uint32_t epochs = 0;  // 0: no limit
  void fields(auto& a) { a(name, path, wrap, compression, order, seed, framing, group, equalize, epochs); }
  bool operator==(const FifoChannel&) const = default;
};

// The channels of a host, and its ranks that read them, in the order in which records are dealt.
struct FifoPlan {
  std::vector<FifoChannel> channels;
  std::vector<Rank> readers;
  void fields(auto& a) { a(channels, readers); }
};

// Parses the value of --pipe: NAME=DIR|MANIFEST[,wrap=recordio][,gunzip][,shuffle=SEED]. The path stays as written.
Result<FifoChannel> parse_pipe(std::string_view text);
// Parses the value of --pipe-fanout: NAME[:records|lines|bytes][,group=K][,equalize=drop].
Result<FifoChannel> parse_pipe_fanout(std::string_view text);

// Joins both lists: a channel that is in both is fed and dealt out. `epochs` applies to all channels. Relative paths of
// feeds are resolved against `folder`.
std::vector<FifoChannel> join_fifos(std::span<const FifoChannel> feeds, std::span<const FifoChannel> fanouts,
                                    std::uint32_t epochs, std::string_view folder);

// "SM_CHANNEL_MY-DATA=FOLDER/my-data"; the names of the FIFOs are this path with _EPOCH appended. A second variable has
// "_" for each character that a shell does not allow in a name.
std::vector<std::string> fifo_variables(const FifoChannel& channel, std::string_view folder);

}  // namespace sml::plan
