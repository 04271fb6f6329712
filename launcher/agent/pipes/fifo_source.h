// Sources of a channel's bytes, epoch by epoch.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/plan/fifos.h"

namespace sml::agent {

class FifoSource {
 public:
  virtual ~FifoSource() = default;

  enum class Opened : std::uint8_t { Yes, NotYet };  // NotYet: the source does not exist yet; try again
  virtual Result<Opened> open(std::uint32_t epoch) = 0;
  // A descriptor that becomes readable at data or at the end; -1 if read() can be called at any time.
  virtual int wait_fd() const = 0;
  // The number of bytes that were read; 0 at the end of the epoch; nullopt if no bytes are available now.
  virtual Result<std::optional<std::size_t>> read(std::span<char> out) = 0;
  virtual void close() = 0;
  // The path that is being read, for messages.
  virtual std::string place() const = 0;
};

// Reads the FIFOs that the platform makes: FOLDER/CHANNEL_EPOCH.
std::unique_ptr<FifoSource> platform_source(std::string folder, std::string channel);
// Reads the files of channel.path one after the other.
std::unique_ptr<FifoSource> file_source(const plan::FifoChannel& channel);

// Lists the files in and below a folder, sorted by the bytes of their paths, or the files of a manifest in its order.
// Errors (Config) name the path.
Result<std::vector<std::string>> list_objects(const std::string& path);

// Checks that `path` is a readable folder or a valid manifest: like list_objects(), but does not read the folder.
Result<void> check_objects(const std::string& path);

}  // namespace sml::agent
