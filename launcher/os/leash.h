// Kills child processes when this process ends, even if it is itself killed: the kernel sends the signal when a socket
// of this process closes (fcntl(2), O_ASYNC and F_SETSIG). Linux.
#pragma once
#include <string_view>
#include <utility>

#include <sys/types.h>

#include "common/core/error.h"
#include "common/os/fd.h"

namespace sml::os {

class Leash {
 public:
  // Bytes of `input` that always fit.
  static constexpr std::size_t kMostInput = std::size_t{64} << 10;
  // The processes read `input` from their standard input, and then its end. It must be small, as make() writes it at
  // once. Error: it does not fit, or the system lacks descriptors or memory.
  static Result<Leash> make(std::string_view input = {});

  // The descriptor to start the processes with as standard input. If this process is killed, they are killed only if
  // one of them still has it open.
  int input() const { return theirs_.get(); }
  // From now on the process group gets SIGKILL when this object is destroyed, or this process ends.
  void tie(pid_t group) const;
  // Undoes tie().
  void untie() const;

 private:
  Leash(UniqueFd ours, UniqueFd theirs) : theirs_(std::move(theirs)), ours_(std::move(ours)) {}

  UniqueFd theirs_;
  UniqueFd ours_;  // its end causes the signal
};

}  // namespace sml::os
