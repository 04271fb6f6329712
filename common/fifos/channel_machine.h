// The readers of one channel and its epochs: who is waited for, when the source is opened and closed, when the next
// epoch begins. Pure: told what happened, answers what to do.
//
// An epoch ends for a reader when all of its share is written, or when it closes its FIFO early: the rest of its share
// is then lost. The next epoch begins for all of them when the last has ended this one. A reader that has died is
// waited for no more. The source is opened when the first reader comes, and closed when nobody wants the rest.
#pragma once
#include <cstdint>
#include <vector>

namespace sml::fifos {

enum class ReaderState : std::uint8_t {
  Awaited,    // has not opened the FIFO of this epoch
  Reading,    //
  Finishing,  // the source has ended; what is left of its share is being written
  Done,       // with this epoch
  Dead,
};

enum class Act : std::uint8_t {
  Offer,        // make the reader's FIFO of this epoch and of the next, and wait for it
  OpenSource,   // of this epoch
  CloseSource,  // whether it has ended or not
  Finish,       // write what is left, close the FIFO, then tell finished()
  Discard,      // forget what is left, close the FIFO
};
struct Step {
  Act act;
  std::uint32_t reader = 0;  // for Offer, Finish, Discard
  bool operator==(const Step&) const = default;
};
using Steps = std::vector<Step>;

class ChannelMachine {
 public:
  // At least one reader. `epochs`: 0 for any number.
  ChannelMachine(std::uint32_t readers, std::uint32_t epochs) : epochs_(epochs), readers_(readers) {}

  [[nodiscard]] Steps begin();
  [[nodiscard]] Steps came(std::uint32_t reader);      // it has opened its FIFO
  [[nodiscard]] Steps left(std::uint32_t reader);      // it has closed it
  [[nodiscard]] Steps died(std::uint32_t reader);      // and will never open another
  [[nodiscard]] Steps finished(std::uint32_t reader);  // after Finish
  [[nodiscard]] Steps source_ended();

  std::uint32_t epoch() const { return epoch_; }
  bool over() const { return over_; }  // no epoch follows
  bool source_open() const { return source_ == Source::Open; }
  ReaderState state(std::uint32_t reader) const { return readers_[reader]; }
  // Whether bytes for it are kept; else they are dropped.
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

}  // namespace sml::fifos
