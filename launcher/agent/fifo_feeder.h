// The process beside the agent that feeds the channels of a host: reads their sources, writes the FIFOs of the readers.
// Slow disks and readers hold up nobody else in it, which is why it is a process of its own.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/fifos/channel_machine.h"
#include "common/fifos/dealer.h"
#include "common/plan/fifos.h"
#include "launcher/agent/fifo_sink.h"
#include "launcher/agent/fifo_source.h"

namespace sml::agent {

// A channel with the places of its FIFOs.
struct FifoFeed {
  plan::FifoChannel channel;
  std::string platform_folder;       // where the platform's FIFOs are, for a channel that we do not feed
  std::vector<std::string> folders;  // of each reader's FIFOs
  std::vector<std::string> readers;  // for messages: "rank 3"
};

// One channel: its source, its machine, its dealer and its sinks. `feed` outlives it.
class FifoChannelFeed {
 public:
  explicit FifoChannelFeed(const FifoFeed& feed);

  void begin();  // makes the first FIFOs
  void reader_died(std::uint32_t reader);
  // Whether readers or the source were not there; then look() looks again.
  bool looking() const;
  void look();

  struct Watch {
    int fd;
    short events;
    std::uint32_t reader;
  };
  static constexpr std::uint32_t kSource = UINT32_MAX;
  void add_watches(std::vector<Watch>& out) const;
  bool ready() const;  // the source can be read without being waited for
  void source_ready();
  void reader_ready(std::uint32_t reader, short events);

  // Grows whenever something comes or goes.
  std::uint64_t moved() const { return moved_; }
  // Who is waited for while others wait; empty: nobody waits.
  std::string stuck() const;
  // With place() before it; nothing: all is well.
  const std::optional<Error>& fault() const { return fault_; }
  std::string place() const;  // "channel train, epoch 0"

 private:
  bool wants_source() const;
  void perform(const fifos::Steps& steps);
  void perform(const fifos::Step& step);
  void offer(std::uint32_t reader);
  void open_source();
  void close_source();
  void hand_out(const Result<std::span<const fifos::Share>>& shares);
  void flush(std::uint32_t reader);
  void fail(const Error& why, std::string_view place);

  const FifoFeed& feed_;
  fifos::ChannelMachine machine_;
  fifos::Dealer dealer_;
  std::unique_ptr<FifoSource> source_;
  std::vector<FifoSink> sinks_;
  std::vector<char> buffer_;
  enum class Source : std::uint8_t { Closed, Awaited, Open } source_state_ = Source::Closed;
  std::uint64_t moved_ = 0;
  std::optional<Error> fault_;
};

// What comes on the control pipe: this reader has died.
using DeadReader = std::uint32_t;

// Feeds until `control` ends. What fails goes to `report` as a line that begins with '!', a warning as one that begins
// with '?'. After a failure no FIFO is closed, so that no reader takes a broken stream for a whole one.
void feed_fifos(const std::vector<FifoFeed>& feeds, int control, int report);

}  // namespace sml::agent
