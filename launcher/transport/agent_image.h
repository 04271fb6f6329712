// The agent's executable as bytes, to be sent to hosts that do not have it.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "common/core/error.h"
#include "common/os/fd.h"

namespace sml::transport {

// Value type that shares its bytes.
class AgentImage {
 public:
  // The image that this sml-run contains.
  static AgentImage embedded();
  // --agent-path: a file on the launcher's machine. Errors: kind Usage.
  static Result<AgentImage> load(const std::string& path);

  std::string_view bytes() const { return bytes_; }
  const std::string& id() const { return id_; }  // identifies these bytes; [0-9a-f]{16}
  std::string_view architecture() const;         // as uname -m prints it: "x86_64", "aarch64"; "" if unknown
  std::string file_name() const;                 // in a host's cache
  // The output of POSIX cksum(1) for it, such as "3779251591 1892704". Detects damage, not tampering.
  const std::string& cksum() const { return cksum_; }

 private:
  std::string_view bytes_;
  std::shared_ptr<std::string> owned_;
  std::string id_;
  std::string cksum_;
};

// The path of an installed agent: beside this program. "" if that is unknown.
std::string installed_agent();

// A descriptor that can be executed: the file `installed` if it is the image, else a nameless file that the image is
// copied into, which costs a millisecond. It is the image when it belongs to this program's owner, no other can write
// it, and it agrees in size and in its first 4096 bytes; the linker's build ID, a hash of the program, is among these.
Result<os::UniqueFd> executable_descriptor(const AgentImage& image, const std::string& installed);

}  // namespace sml::transport
