// Channels that workers read from FIFOs, epoch after epoch, as SageMaker's Pipe mode has them. Pure.
// Source: "Accessing Training Data" and CreateTrainingJob (InputMode, RecordWrapperType, ShuffleConfig,
// CompressionType) in the developer guide.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/core/strong.h"

namespace sml::plan {

// What is dealt to the ranks of a host.
enum class FifoFraming : std::uint8_t {
  Whole,    // all to one reader
  Records,  // RecordIO, with all parts of a record together
  Lines,
  Bytes,  // pieces of equal size
};
enum class FifoWrap : std::uint8_t { None, RecordIo };  // RecordIo: each file becomes a record
enum class FifoCompression : std::uint8_t { None, Gzip };
enum class FifoOrder : std::uint8_t { ByName, Shuffled };  // Shuffled: drawn anew for each epoch
enum class Equalize : std::uint8_t { No, Drop };           // Drop: what does not make a whole round is left out

inline constexpr std::uint32_t kDefaultPiece = 64 << 10;

// One channel on one host: who fills it, and who reads it.
struct FifoChannel {
  std::string name;
  std::string path{};  // of a folder or manifest that we feed; empty: the platform's FIFOs
  FifoWrap wrap = FifoWrap::None;
  FifoCompression compression = FifoCompression::None;
  FifoOrder order = FifoOrder::ByName;
  std::uint64_t seed = 0;                    // for Shuffled
  FifoFraming framing = FifoFraming::Whole;  // Whole: one FIFO for the host, else one for each rank
  std::uint32_t group = 1;                   // so many records in a row for one rank; the size of a piece of Bytes
  Equalize equalize = Equalize::No;
  std::uint32_t epochs = 0;  // 0: as many as are read
  void fields(auto& a) { a(name, path, wrap, compression, order, seed, framing, group, equalize, epochs); }
  bool operator==(const FifoChannel&) const = default;
};

// The channels of a host, and its ranks that read them, in the order in which records are dealt.
struct FifoPlan {
  std::vector<FifoChannel> channels;
  std::vector<Rank> readers;
  void fields(auto& a) { a(channels, readers); }
};

// --pipe NAME=DIR|MANIFEST[,wrap=recordio][,gunzip][,shuffle=SEED]; the path stays as it is written.
Result<FifoChannel> parse_pipe(std::string_view text);
// --pipe-fanout NAME[:records|lines|bytes][,group=K][,equalize=drop]
Result<FifoChannel> parse_pipe_fanout(std::string_view text);

// A channel that is in both lists is fed and dealt out. `epochs` is for all of them. Relative paths are relative to
// `folder`.
std::vector<FifoChannel> join_fifos(std::span<const FifoChannel> feeds, std::span<const FifoChannel> fanouts,
                                    std::uint32_t epochs, std::string_view folder);

// "SM_CHANNEL_MY-DATA=FOLDER/my-data", whose FIFOs are that with _EPOCH behind it; once more with "_" where a shell
// allows no other character.
std::vector<std::string> fifo_variables(const FifoChannel& channel, std::string_view folder);

}  // namespace sml::plan
