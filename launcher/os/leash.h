// Ends processes that we have started together with us, however we end: a signal of the kernel's, which a process that
// is killed need not send (fcntl(2), F_SETSIG). Linux.
#pragma once
#include <string_view>
#include <utility>

#include <sys/types.h>

#include "common/core/error.h"
#include "common/os/fd.h"

namespace sml::os {

class Leash {
 public:
  // The processes read `input` from their standard input, and then its end. It must be small, as it is written at once:
  // up to kMostInput bytes. Error (Io): it does not fit, or the system lacks something.
  static constexpr std::size_t kMostInput = std::size_t{64} << 10;
  static Result<Leash> make(std::string_view input = {});

  // The standard input of the processes. They are held for as long as one of them has it.
  int input() const { return theirs_.get(); }
  // From now on that process group gets SIGKILL when this goes, or this process.
  void tie(pid_t group) const;
  void untie() const;

 private:
  Leash(UniqueFd ours, UniqueFd theirs) : theirs_(std::move(theirs)), ours_(std::move(ours)) {}

  UniqueFd theirs_;
  UniqueFd ours_;
};

}  // namespace sml::os
