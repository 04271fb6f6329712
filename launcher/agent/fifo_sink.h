// Where the feeder writes what one reader of a channel is to have: FIFOs, one for each epoch.
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
  bool full() const { return pending() >= kMostPending; }  // then the source waits

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
  std::size_t sent_ = 0;         // of backlog_
  std::vector<iovec> listed_;    // what has been added and not copied; comes behind the backlog
  std::size_t listed_size_ = 0;  // bytes
};

}  // namespace sml::agent
