// The program of ProxyCommand or ProxyJump: its standard input and output stand for the connection.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "common/core/error.h"
#include "common/os/fd.h"

namespace sml::ssh {

// Owns the process: destroying it kills its process group and reaps it. An empty one owns nothing. Not thread-safe; may
// be handed from thread to thread.
class ProxyCommand {
 public:
  ProxyCommand() = default;
  ProxyCommand(ProxyCommand&& other) noexcept;
  ProxyCommand& operator=(ProxyCommand&& other) noexcept;
  ~ProxyCommand() { stop(); }

  struct Started;
  // Starts argv in a session of its own. Error: Connect, when it cannot be started ("ssh is not installed here").
  static Result<Started> start(const std::vector<std::string>& argv);

  explicit operator bool() const { return pid_ > 0; }
  // Readable when the program has written to standard error; -1 after its end.
  int errors_fd() const { return errors_.get(); }
  // Takes what there is of standard error; the last 2 KiB are kept, so that the program never waits for us.
  void take_errors();
  // The last lines of standard error, for a message.
  std::string errors();
  // Exit status if it has ended; 128+n for a signal. Waits for it up to a moment, as its output ends before it does.
  std::optional<int> wait_briefly();

 private:
  void stop();
  bool reap(int flags);

  pid_t pid_ = -1;  // not yet reaped
  std::optional<int> status_;
  os::UniqueFd errors_;
  std::string text_;
};

struct ProxyCommand::Started {
  ProxyCommand process;
  os::UniqueFd socket;  // non-blocking
};

}  // namespace sml::ssh
