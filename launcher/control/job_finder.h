// Finds the jobs that run on this machine by their sockets: this user's jobs, and for root those of other users too.
// Linux.
//
// The claims of another user's processes do not affect this user's jobs: these are looked for first, a job has the id
// that its socket is named after, and where a folder is trusted only because a process named sml-run was found, that
// process must be the one that answers.
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

// The socket of a job.
struct JobSocket {
  std::shared_ptr<const os::UniqueFd> folder;
  std::string name;  // of the socket
  uid_t owner = 0;   // the user who must own the listening process
  // the listening process must be one of these; empty, in a folder of this user: any process of the owner
  std::vector<pid_t> peers{};

  std::string job() const { return name.substr(0, name.find('.')); }
  bool is_ours() const;
  std::string called() const;  // for display: the job, and its user if that is not this user
};

// A request that has been sent to a job, and the connection for its answers.
class Conversation {
 public:
  // Error (Lost): nothing listens there any more; (Io, Protocol): the listening process is not the job's launcher.
  static Result<Conversation> begin(const JobSocket& job, const Request& request,
                                    std::size_t longest_answer = kMaxAnswer);

  // The next answer; nullopt: the other side has closed the connection. `patience_ms` < 0: no time limit. Error
  // (Timeout, Protocol, Io).
  Result<std::optional<Answer>> next(int patience_ms);
  // The same from what has been received so far. nullopt: the answer is incomplete.
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
  JobSocket socket;
  report::JobSummary summary;
};
struct Found {
  std::vector<FoundJob> jobs;      // this user's jobs, the oldest first, then those of others
  std::vector<std::string> notes;  // jobs that could not be asked, for display
};

// Asks all jobs in parallel. Removes the sockets of launchers that are certainly dead: nothing listens, and the socket
// was made on this kernel since it booted, in a folder of this user.
Found find_jobs();

// Finds the job whose id begins with `id` or equals it; empty: the only job. Jobs of other users count only if none of
// this user's fits and `id` is given. Error (Usage): none or several.
Result<JobSocket> find_job(const std::string& id);

}  // namespace sml::control
