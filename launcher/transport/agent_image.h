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
  // --agent-path: a file on the launcher's machine. Error (Usage): it cannot be read, is no executable (ELF) file, or
  // another user can change it (common/os/trust.h).
  static Result<AgentImage> load(const std::string& path);

  std::string_view bytes() const { return bytes_; }
  const std::string& id() const { return id_; }  // identifies these bytes; [0-9a-f]{16}
  std::string_view architecture() const;         // as uname -m prints it: "x86_64", "aarch64"; "" if unknown
  std::string file_name() const;                 // of the agent in a host's cache; differs for each id()
  // The output of POSIX cksum(1) for it, such as "3779251591 1892704". Detects damage, not tampering.
  const std::string& cksum() const { return cksum_; }

 private:
  std::string_view bytes_;
  std::shared_ptr<std::string> owned_;
  std::string id_;
  std::string cksum_;
};

// The path that an installed agent has, in the folder of this program; the file may not exist. "" if the folder is
// unknown.
std::string installed_agent();

// Returns a descriptor from which the agent can be executed: that of the file `installed` if the file is the image,
// else that of a nameless file with a copy of the image, which costs a millisecond. The file counts as the image if
// os::check_trust() accepts it, and its size and first 4096 bytes are those of the image; these bytes contain the
// linker's build ID, a hash of the program.
Result<os::UniqueFd> executable_descriptor(const AgentImage& image, const std::string& installed);

}  // namespace sml::transport
