// The jobs that run on this machine, found by their sockets: this user's, and for root those of other users too. Linux.
//
// Whatever another user's process says of itself decides nothing about a job of ours: ours are looked for first, a job
// has the id that its socket is named after, and where a folder is believed only because a process named sml-run was
// found, that process must be the one that answers.
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
  std::string name;            // of the socket
  uid_t owner = 0;             // who must be behind it
  std::vector<pid_t> peers{};  // one of which must be behind it; empty, in a folder of ours: whichever is the owner's

  std::string job() const { return name.substr(0, name.find('.')); }
  bool is_ours() const;
  std::string called() const;  // for people: the job, and whose it is where it is not ours
};

// A question that has been asked.
class Conversation {
 public:
  // Error (Lost): nobody is there any more; (Io, Protocol): who is there is not the job's launcher.
  static Result<Conversation> begin(const Door& door, const Request& request, std::size_t longest_answer = kMaxAnswer);

  // The next answer; nothing: the other side has gone. `patience_ms` < 0: for ever. Error (Timeout, Protocol, Io).
  Result<std::optional<Answer>> next(int patience_ms);
  // The same of what has come by now. Nothing: more is to come.
  std::optional<Result<std::optional<Answer>>> take();
  int fd() const { return socket_.get(); }
  pid_t peer() const { return peer_; }

 private:
  os::UniqueFd socket_;
  std::string buffer_;
  std::size_t longest_ = kMaxAnswer;
  pid_t peer_ = 0;
};

struct FoundJob {
  Door door;
  report::JobSummary summary;
};
struct Found {
  std::vector<FoundJob> jobs;      // ours, the oldest first, then those of others
  std::vector<std::string> notes;  // what could not be asked, for people
};

// Asks all at once. Takes away the sockets of launchers that are dead for certain: nobody listens, and the socket was
// made on this kernel since it started, in a folder of ours.
Found find_jobs();

// Whose id begins so, or is just that; empty: the only one. Those of others count where none of ours fits, and where an
// id is given. Error (Usage): none or several.
Result<Door> find_job(const std::string& id);

}  // namespace sml::control
