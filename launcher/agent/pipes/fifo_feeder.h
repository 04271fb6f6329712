// The process beside the agent that feeds the channels of a host: it reads the platform's FIFOs and writes those of
// their readers. It is a process of its own so that slow readers block nothing else.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/plan/fifos.h"
#include "launcher/agent/pipes/channel_machine.h"
#include "launcher/agent/pipes/dealer.h"
#include "launcher/agent/pipes/fifo_sink.h"
#include "launcher/agent/pipes/fifo_source.h"

namespace sml::agent {

// A channel with the folders of its FIFOs.
struct FifoFeed {
  plan::FifoChannel channel;
  std::string platform_folder;       // the folder of the platform's FIFOs
  std::vector<std::string> folders;  // the FIFO folder of each reader
  std::vector<std::string> readers;  // for messages: "rank 3"
};

// Feeds one channel: owns its source, its state machine, its dealer and its sinks. `feed` must outlive it.
class FifoChannelFeed {
 public:
  explicit FifoChannelFeed(const FifoFeed& feed);

  void begin();  // makes the first FIFOs
  void reader_died(std::uint32_t reader);
  // True if a reader or the source was not there yet; look() then tries again.
  bool looking() const;
  void look();

  struct Watch {
    int fd;
    short events;
    std::uint32_t reader;
  };
  static constexpr std::uint32_t kSource = UINT32_MAX;
  void add_watches(std::vector<Watch>& out) const;
  void source_ready();
  void reader_ready(std::uint32_t reader, short events);

  // A counter that grows whenever something comes or goes.
  std::uint64_t moved() const { return moved_; }
  // Names whatever holds the others up; empty if nothing is held up.
  std::string stuck() const;
  // The error that place() prefixes; nullopt if there is none.
  const std::optional<Error>& fault() const { return fault_; }
  std::string place() const;  // "channel train, epoch 0"

 private:
  bool wants_source() const;
  void perform(const Steps& steps);
  void perform(const Step& step);
  void offer(std::uint32_t reader);
  void open_source();
  void close_source();
  void hand_out(const Result<std::span<const Share>>& shares);
  void flush(std::uint32_t reader);
  void fail(const Error& why, std::string_view place);

  const FifoFeed& feed_;
  ChannelMachine machine_;
  Dealer dealer_;
  FifoSource source_;
  std::vector<FifoSink> sinks_;
  std::vector<char> buffer_;
  enum class Source : std::uint8_t { Closed, Awaited, Open } source_state_ = Source::Closed;
  std::uint64_t moved_ = 0;
  std::optional<Error> fault_;
};

// The message on the control pipe: the index of a reader that has died.
using DeadReader = std::uint32_t;

// Feeds the channels until `control` reaches its end. Writes an error to `report` as a line that begins with '!', a
// warning as a line that begins with '?'. Closes no FIFO after an error, so that no reader takes a broken stream for a
// complete one.
void feed_fifos(const std::vector<FifoFeed>& feeds, int control, int report);

}  // namespace sml::agent
