// The process beside the agent that feeds the channels of a host: reads their sources, writes the FIFOs of the readers.
// Slow disks and readers hold up nobody else in it, which is why it is a process of its own.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/uio.h>

#include "common/core/error.h"
#include "common/fifos/channel_machine.h"
#include "common/fifos/dealer.h"
#include "common/os/fd.h"
#include "common/plan/fifos.h"
#include "launcher/agent/fifo_source.h"

namespace sml::agent {

// A channel with the places of its FIFOs.
struct FifoFeed {
  plan::FifoChannel channel;
  std::string platform_folder;       // where the platform's FIFOs are, for a channel that we do not feed
  std::vector<std::string> folders;  // of each reader's FIFOs
  std::vector<std::string> readers;  // for messages: "rank 3"
};

// The FIFOs of one reader, one after the other: FOLDER/CHANNEL_EPOCH.
class FifoSink {
 public:
  FifoSink(const std::string& folder, const std::string& channel) : base_(folder + "/" + channel + "_") {}

  // Makes the FIFO of an epoch; one that is there stays.
  Result<void> make(std::uint32_t epoch) const;
  // The reader of this epoch is awaited; look() tells whether it is there now.
  void await(std::uint32_t epoch);
  Result<bool> look();
  bool awaiting() const { return awaiting_; }
  // `bytes` must stay until write().
  void add(std::string_view bytes);
  enum class Written : std::uint8_t { All, Some, NoReader };
  Written write();
  void finish() { finishing_ = true; }  // nothing more is added
  bool finished() const { return finishing_ && fd_ && pending() == 0; }
  void close();  // removes the FIFO; what has not been written is lost
  int fd() const { return fd_.get(); }
  std::size_t pending() const { return backlog_.size() - sent_ + listed_size_; }

 private:
  void forget();
  bool write_listed();
  void keep_listed(std::size_t written);
  std::string base_;
  std::uint32_t epoch_ = 0;
  bool awaiting_ = false;
  bool finishing_ = false;
  os::UniqueFd fd_;
  std::string backlog_;
  std::size_t sent_ = 0;         // of backlog_
  std::vector<iovec> listed_;    // what has been added and not copied; comes behind the backlog
  std::size_t listed_size_ = 0;  // bytes
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
