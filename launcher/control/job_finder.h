// Finds the jobs that run on this machine, in containers too, by their sockets (runtime_folder.h): this user's jobs,
// and if this user is root, which every launcher answers, those of all users. Reads /proc. Linux.
//
// Another user's processes cannot pass for a job of this user, or hide one: this user's jobs are looked for first, a
// job has the id that its socket is named after, and in a folder that was found only through a process named sml-run,
// that process must be the one that listens.
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
  std::shared_ptr<const os::UniqueFd> folder;  // that contains the socket; open
  std::string name;                            // of the socket
  uid_t owner = 0;                             // the user who must own the listening process
  // the listening process must be one of these; empty, in a folder of this user: any process of the owner
  std::vector<pid_t> peers{};

  std::string job() const { return name.substr(0, name.find('.')); }
  bool is_ours() const;
  std::string called() const;  // for display: the job, and its user if that is not this user
};

// A request that was sent to a job, and the connection on which the answers arrive.
class Conversation {
 public:
  // Error (Lost): nothing listens there any more; (Io, Protocol): the listening process is not the job's launcher.
  static Result<Conversation> begin(const JobSocket& job, const Request& request,
                                    std::size_t longest_answer = kMaxAnswer);

  // Waits for the next answer; nullopt: the other side has closed the connection. `timeout_ms` < 0: no time limit.
  // Error (Timeout, Protocol).
  Result<std::optional<Answer>> next(int timeout_ms);
  // The same without waiting. nullopt: the next answer is incomplete; call again once fd() is readable.
  std::optional<Result<std::optional<Answer>>> take();
  int fd() const { return socket_.get(); }
  pid_t peer() const { return peer_; }  // the process id of the launcher

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
  std::vector<std::string> notes;  // sentences about jobs that gave no summary, for display
};

// Asks all jobs for their summaries in parallel; waits for the answers for 3 seconds at most. Removes the sockets of
// launchers that are certainly dead: no process listens, and the socket was made on this kernel since it booted, in a
// folder of this user.
Found find_jobs();

// Finds the job with the id `id`, else the only one whose id begins with it; `id` empty: the only job. Jobs of other
// users count only if `id` is given and fits no job of this user. Blocks as find_jobs() does. Error (Usage): no job
// fits, or several.
Result<JobSocket> find_job(const std::string& id);

}  // namespace sml::control
