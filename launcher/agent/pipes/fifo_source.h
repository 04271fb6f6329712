// The FIFOs that the platform fills for a channel, epoch by epoch: FOLDER/CHANNEL_EPOCH.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "common/core/error.h"
#include "common/os/fd.h"

namespace sml::agent {

class FifoSource {
 public:
  FifoSource(const std::string& folder, const std::string& channel) : base_(folder + "/" + channel + "_") {}

  enum class Opened : std::uint8_t { Yes, NotYet };  // NotYet: the FIFO does not exist yet; try again
  // Error (Io): the FIFO exists and cannot be opened, or another user can have put it there.
  Result<Opened> open(std::uint32_t epoch);
  // A descriptor that becomes readable when there is data, and at the end; -1 if none is open.
  int wait_fd() const { return fd_.get(); }
  // Returns the number of bytes that were read; 0 at the end of the epoch; nullopt if no bytes are available now. To be
  // called only when wait_fd() is readable: before the platform has opened the FIFO, this would return 0, too.
  Result<std::optional<std::size_t>> read(std::span<char> out);
  void close() { fd_.reset(); }
  // The path that is being read, for messages.
  const std::string& place() const { return path_; }

 private:
  std::string base_;
  std::string path_;
  os::UniqueFd fd_;
};

}  // namespace sml::agent
