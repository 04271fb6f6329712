// The agent's executable as bytes: what is sent to hosts that do not have it.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "common/core/error.h"
#include "common/os/fd.h"

namespace sml::launch {

// Value type that shares its bytes.
class AgentImage {
 public:
  // The one that this sml-run carries.
  static AgentImage embedded();
  // --agent-path: a file of the launcher's machine. Errors: kind Usage.
  static Result<AgentImage> load(const std::string& path);

  std::string_view bytes() const { return bytes_; }
  const std::string& id() const { return id_; }  // names these bytes and no others; [0-9a-f]{16}
  std::string_view machine() const;              // as uname -m says it: "x86_64", "aarch64"; "" if unknown
  std::string file_name() const;                 // in a host's cache
  // What cksum(1) of POSIX prints for it: "3779251591 1892704". Finds damage, not deceit.
  const std::string& cksum() const { return cksum_; }

 private:
  std::string_view bytes_;
  std::shared_ptr<std::string> owned_;
  std::string id_;
  std::string cksum_;
};

// A descriptor that can be executed (memfd), holding the image.
Result<os::UniqueFd> executable_descriptor(const AgentImage& image);

}  // namespace sml::launch
