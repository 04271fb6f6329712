// The readers of one channel (plan::FifoChannel) on this host, and its epochs: decides which readers are awaited, when
// the source (the platform's FIFO of the epoch) is opened and closed, and when the next epoch begins. Pure: takes
// events, returns what to do.
//
// An epoch ends for a reader when all of its share is written, or when it closes its FIFO early: the rest of its share
// is then lost. The next epoch begins for all readers when all have ended this one. A dead reader is no longer
// awaited. The source is opened when the first reader opens its FIFO. It is closed when the source has ended, or when
// no reader needs the rest.
#pragma once
#include <cstdint>
#include <vector>

namespace sml::agent {

enum class ReaderState : std::uint8_t {
  Awaited,    // has not opened the FIFO of this epoch yet
  Reading,    // has opened it
  Finishing,  // the source has ended; the rest of its share is being written
  Done,       // has ended this epoch
  Dead,
};

enum class Act : std::uint8_t {
  Offer,        // create the reader's FIFOs of this epoch and of the next, and wait until it opens the first
  OpenSource,   // of this epoch
  CloseSource,  // whether or not all of it has been read
  Finish,       // write the rest, close the FIFO, then call finished()
  Discard,      // drop the rest, close the FIFO
};
struct Step {
  Act act;
  std::uint32_t reader = 0;  // for Offer, Finish, Discard
  bool operator==(const Step&) const = default;
};
using Steps = std::vector<Step>;

class ChannelMachine {
 public:
  // `readers`: their number, at least one; each is identified by its index. `epochs`: 0 for no limit.
  ChannelMachine(std::uint32_t readers, std::uint32_t epochs) : epochs_(epochs), readers_(readers) {}

  [[nodiscard]] Steps begin();
  [[nodiscard]] Steps came(std::uint32_t reader);      // has opened its FIFO
  [[nodiscard]] Steps left(std::uint32_t reader);      // has closed its FIFO
  [[nodiscard]] Steps died(std::uint32_t reader);      // and will never open another FIFO
  [[nodiscard]] Steps finished(std::uint32_t reader);  // after Finish
  [[nodiscard]] Steps source_ended();                  // all of its bytes have been dealt

  std::uint32_t epoch() const { return epoch_; }
  bool over() const { return over_; }  // no epoch follows
  bool source_open() const { return source_ == Source::Open; }
  ReaderState state(std::uint32_t reader) const { return readers_[reader]; }
  // True if bytes for the reader must be kept; otherwise they are dropped.
  bool takes(std::uint32_t reader) const;
  bool last_epoch() const { return epochs_ != 0 && epoch_ + 1 == epochs_; }

 private:
  enum class Source : std::uint8_t { Unopened, Open, Ended };

  void settle(Steps& steps);
  void offer_all(Steps& steps);

  std::uint32_t epochs_;
  std::uint32_t epoch_ = 0;
  Source source_ = Source::Unopened;
  bool over_ = false;
  std::vector<ReaderState> readers_;
};

}  // namespace sml::agent
