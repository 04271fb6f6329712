// The program of ProxyCommand or ProxyJump: its standard input and output are used instead of a TCP connection.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "common/core/error.h"
#include "common/os/fd.h"

namespace sml::ssh {

// Owns the process: the destructor kills its process group and reaps it. A default-constructed object owns no process.
// Not thread-safe; may be handed from thread to thread.
class ProxyCommand {
 public:
  ProxyCommand() = default;
  ProxyCommand(ProxyCommand&& other) noexcept;
  ProxyCommand& operator=(ProxyCommand&& other) noexcept;
  ~ProxyCommand() { stop(); }

  struct Started;
  // Starts argv in a session of its own. Error: Connect if it cannot be started ("ssh is not installed here").
  static Result<Started> start(const std::vector<std::string>& argv);

  explicit operator bool() const { return pid_ > 0; }  // there is a process that is not reaped
  // Readable when the program has written to standard error; -1 after the end of that.
  int errors_fd() const { return errors_.get(); }
  // Reads the available standard error and keeps its last 2 KiB, so that the program never blocks on a full pipe.
  void take_errors();
  // The end of standard error so far, at most 2 KiB, for a message.
  std::string errors();
  // The exit status of the program; 128+n for a signal. Waits up to 100 ms for its end, as its output ends before it.
  // nullopt: it still runs.
  std::optional<int> wait_briefly();

 private:
  void stop();
  bool reap(int flags);

  pid_t pid_ = -1;             // of a process that is not yet reaped; else -1
  std::optional<int> status_;  // set when it is reaped
  os::UniqueFd errors_;        // our end of its standard error
  std::string text_;           // the last bytes of it
};

struct ProxyCommand::Started {
  ProxyCommand process;
  os::UniqueFd socket;  // its standard input and output; non-blocking
};

}  // namespace sml::ssh
