// Where the bytes of a channel come from, epoch by epoch.
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

  enum class Opened : std::uint8_t { Yes, NotYet };  // NotYet: what is to be opened is not there; try again
  virtual Result<Opened> open(std::uint32_t epoch) = 0;
  // Readable when there is something to read, or the end; -1: read() can always be called.
  virtual int wait_fd() const = 0;
  // Bytes that were read; 0: the epoch has ended; nothing: there is none now.
  virtual Result<std::optional<std::size_t>> read(std::span<char> out) = 0;
  virtual void close() = 0;
  // For messages: what is being read.
  virtual std::string place() const = 0;
};

// The FIFOs that the platform makes: FOLDER/CHANNEL_EPOCH.
std::unique_ptr<FifoSource> platform_source(std::string folder, std::string channel);
// The files of channel.path, one behind the other.
std::unique_ptr<FifoSource> file_source(const plan::FifoChannel& channel);

// The files of a folder and of those below it by their paths, bytewise; or those of a manifest, in its order. Errors
// (Config) name the path.
Result<std::vector<std::string>> list_objects(const std::string& path);

// Whether there is a folder, or a manifest as it should be: as list_objects(), without looking into the folder.
Result<void> check_objects(const std::string& path);

}  // namespace sml::agent
