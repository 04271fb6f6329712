// The process beside the agent that deals the channels of a host to their readers: it reads the FIFOs that the platform
// fills (SageMaker's Pipe mode), and writes each record to the FIFO of one reader. It is a process of its own so that
// slow readers block nothing else.
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
#include "launcher/agent/pipes/fifo_sink.h"
#include "launcher/agent/pipes/fifo_source.h"
#include "launcher/agent/pipes/record_distributor.h"

namespace sml::agent {

// A channel with the folders of its FIFOs.
struct FifoFeed {
  plan::FifoChannel channel;
  std::string platform_folder;       // the folder of the platform's FIFOs
  std::vector<std::string> folders;  // the FIFO folder of each reader
  std::vector<std::string> readers;  // for messages: "rank 3"
};

// Deals one channel: owns its source, its state machine, its distributor and its sinks; makes and removes the readers'
// FIFOs in FifoFeed::folders, which must exist. `feed` must outlive it. Readers are indices in FifoFeed::folders. No
// call blocks.
class FifoChannelFeed {
 public:
  explicit FifoChannelFeed(const FifoFeed& feed);

  void begin();  // makes each reader's FIFOs of the first two epochs; the readers are awaited from then on
  void reader_died(std::uint32_t reader);
  // True while a reader has not opened its FIFO, or a source that is to be read does not exist. No descriptor reports
  // when that changes: look() finds out, and must be called from time to time.
  bool looking() const;
  void look();

  struct Watch {  // a descriptor for poll()
    int fd;
    short events;
    std::uint32_t reader;  // kSource: the descriptor is that of the source
  };
  static constexpr std::uint32_t kSource = UINT32_MAX;
  void add_watches(std::vector<Watch>& out) const;
  // To be called for a watch that poll() reports; `events`: what it reports (revents).
  void source_ready();
  void reader_ready(std::uint32_t reader, short events);

  // A counter that grows whenever the channel makes progress.
  std::uint64_t moved() const { return moved_; }
  // Names whoever holds the other readers up, for a warning: "rank 3 does not read", or that nothing comes from the
  // source. Empty if no reader is held up, or if no cause is known.
  std::string stuck() const;
  // The error after which this object does nothing more; its text begins with place(). nullopt: none.
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
  RecordDistributor distributor_;
  FifoSource source_;
  std::vector<FifoSink> sinks_;
  std::vector<char> buffer_;
  // Awaited: to be opened as soon as its FIFO exists
  enum class Source : std::uint8_t { Closed, Awaited, Open } source_state_ = Source::Closed;
  std::uint64_t moved_ = 0;
  std::optional<Error> fault_;
};

// The message on the control pipe: a reader that has died, as an index in FifoFeed::folders, which is the same in all
// feeds.
using DeadReader = std::uint32_t;

// The main loop of the process, which has one thread: deals the channels until the pipe `control` reaches its end.
// SIGPIPE must be ignored. Writes an error to `report` as a line that begins with '!', a warning (after a minute
// without progress) as one that begins with '?'. After an error it deals no channel any more, but closes no FIFO, so
// that no reader takes a broken stream for a complete one. FIFOs that are not done with stay in their folders.
void feed_fifos(const std::vector<FifoFeed>& feeds, int control, int report);

}  // namespace sml::agent
