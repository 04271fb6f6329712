// The jobs of this user that run on this machine, found by their sockets. Linux.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "common/core/error.h"
#include "common/os/fd.h"
#include "launcher/control/messages.h"

namespace sml::control {

// Where a job listens.
struct Door {
  std::shared_ptr<const os::UniqueFd> folder;
  std::string name;                                                   // of the socket
  uid_t owner = 0;                                                    // who must be behind it
  enum class Root : std::uint8_t { Ours, Others } root = Root::Ours;  // Others: in a container

  std::string job() const { return name.substr(0, name.find('.')); }
};

// A question that has been asked.
class Conversation {
 public:
  // Error (Lost): nobody is there any more; (Io, Protocol): what is there is not the job's launcher.
  static Result<Conversation> begin(const Door& door, const Request& request);

  // The next answer; nothing: the other side has gone. `patience_ms` < 0: for ever. Error (Timeout, Protocol, Io).
  Result<std::optional<Answer>> next(int patience_ms);
  pid_t peer() const { return peer_; }

 private:
  os::UniqueFd socket_;
  std::string buffer_;
  pid_t peer_ = 0;
};

struct FoundJob {
  Door door;
  report::JobSummary summary;
};
struct Found {
  std::vector<FoundJob> jobs;      // the oldest first
  std::vector<std::string> notes;  // what could not be asked, for people
};

// Asks each of them. Takes away the sockets of launchers that are dead for certain: nobody listens, and the socket was
// made on this kernel since it started, in a folder of ours.
Found find_jobs();

// Whose id begins so, or is just that; empty: the only one. Error (Usage): none or several.
Result<Door> find_job(const std::string& id);

}  // namespace sml::control
