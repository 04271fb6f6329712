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
  // Starts to wait for the reader of this epoch; look() returns true once it has opened the FIFO.
  void await(std::uint32_t epoch);
  Result<bool> look();
  bool awaiting() const { return awaiting_; }
  // Adds data for the reader. `bytes` must stay valid until write() is called.
  void add(std::string_view bytes);
  enum class Written : std::uint8_t { All, Some, NoReader };
  Written write();
  void finish() { finishing_ = true; }  // no more add() follows
  bool finished() const { return finishing_ && fd_ && pending() == 0; }
  void close();  // removes the FIFO; unwritten bytes are lost
  int fd() const { return fd_.get(); }
  std::size_t pending() const { return backlog_.size() - sent_ + listed_size_; }
  bool full() const { return pending() >= kMostPending; }  // the source then has to wait

 private:
  static constexpr std::size_t kMostPending = std::size_t{512} << 10;
  void forget();
  bool write_listed();
  void keep_listed(std::size_t written);
  std::string base_;
  std::uint32_t epoch_ = 0;
  bool awaiting_ = false;
  bool finishing_ = false;
  os::UniqueFd fd_;
  std::string backlog_;
  std::size_t sent_ = 0;         // the number of bytes of backlog_ that have been written
  std::vector<iovec> listed_;    // added but not copied; follows the backlog
  std::size_t listed_size_ = 0;  // in bytes
};

}  // namespace sml::agent
