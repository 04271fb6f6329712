// The program of ProxyCommand or ProxyJump: its standard input and output replace the connection.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "common/core/error.h"
#include "common/os/fd.h"

namespace sml::ssh {

// Owns the process: the destructor kills its process group and reaps it. A default-constructed object owns nothing. Not
// thread-safe; may be handed from thread to thread.
class ProxyCommand {
 public:
  ProxyCommand() = default;
  ProxyCommand(ProxyCommand&& other) noexcept;
  ProxyCommand& operator=(ProxyCommand&& other) noexcept;
  ~ProxyCommand() { stop(); }

  struct Started;
  // Starts argv in a session of its own. Error: Connect if it cannot be started ("ssh is not installed here").
  static Result<Started> start(const std::vector<std::string>& argv);

  explicit operator bool() const { return pid_ > 0; }
  // Readable when the program has written to standard error; -1 after its end.
  int errors_fd() const { return errors_.get(); }
  // Reads the available standard error and keeps its last 2 KiB, so that the program never blocks on a full pipe.
  void take_errors();
  // The last lines of standard error, for a message.
  std::string errors();
  // The exit status if the program has ended; 128+n for a signal. Waits briefly for the end, as its output ends first.
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
