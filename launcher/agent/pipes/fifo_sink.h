// Writes the data of one reader of a channel to that reader's FIFOs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/uio.h>

#include "common/core/error.h"
#include "common/os/fd.h"

namespace sml::agent {

// The FIFOs of one reader, one for each epoch, one after the other: FOLDER/CHANNEL_EPOCH.
class FifoSink {
 public:
  FifoSink(const std::string& folder, const std::string& channel) : base_(folder + "/" + channel + "_") {}

  // Makes the FIFO of an epoch; keeps one that exists.
  Result<void> make(std::uint32_t epoch) const;
  // Starts to wait for the reader of this epoch, and drops unwritten bytes of the one before. look() returns true once
  // the reader has opened the FIFO. Its error (Io): the FIFO cannot be opened, or belongs to another user.
  void await(std::uint32_t epoch);
  Result<bool> look();
  bool awaiting() const { return awaiting_; }
  // Adds data for the reader. `bytes` must stay valid until write() is called.
  void add(std::string_view bytes);
  enum class Written : std::uint8_t {
    All,
    Some,     // the FIFO is full; the rest stays pending
    NoReader  // the reader has closed the FIFO
  };
  Written write();                      // only while the FIFO is open; never blocks
  void finish() { finishing_ = true; }  // no more add() follows
  bool finished() const { return finishing_ && fd_ && pending() == 0; }
  void close();                         // closes and removes the FIFO; unwritten bytes are lost
  int fd() const { return fd_.get(); }  // -1: not open
  // The number of bytes that have not been written.
  std::size_t pending() const { return backlog_.size() - sent_ + listed_size_; }
  bool full() const { return pending() >= kMostPending; }  // the source then has to wait

 private:
  static constexpr std::size_t kMostPending = std::size_t{512} << 10;  // bytes
  void forget();
  bool write_listed();
  void keep_listed(std::size_t written);
  std::string base_;
  std::uint32_t epoch_ = 0;
  bool awaiting_ = false;
  bool finishing_ = false;
  os::UniqueFd fd_;
  std::string backlog_;          // copied bytes
  std::size_t sent_ = 0;         // the number of bytes of backlog_ that have been written
  std::vector<iovec> listed_;    // added but not copied; follows the backlog
  std::size_t listed_size_ = 0;  // in bytes
};

}  // namespace sml::agent
