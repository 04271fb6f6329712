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
  std::string_view architecture() const;         // as uname -m says it: "x86_64", "aarch64"; "" if unknown
  std::string file_name() const;                 // in a host's cache
  // What cksum(1) of POSIX prints for it: "3779251591 1892704". Finds damage, not deceit.
  const std::string& cksum() const { return cksum_; }

 private:
  std::string_view bytes_;
  std::shared_ptr<std::string> owned_;
  std::string id_;
  std::string cksum_;
};

// Where an installation has it: beside this program. "" where that cannot be told.
std::string installed_agent();

// A descriptor that can be executed: the file `installed` if it is the image, else a nameless file that the image is
// copied into, which costs a millisecond. It is the image when it belongs to this program's owner, no other can write
// it, and it agrees in size and in its first 4096 bytes; the linker's build ID, a hash of the program, is among these.
Result<os::UniqueFd> executable_descriptor(const AgentImage& image, const std::string& installed);

}  // namespace sml::launch
