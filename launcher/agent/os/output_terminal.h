// A terminal that takes the place of a pipe for what a process writes, so that C libraries send each line as it comes.
#pragma once
#include "common/core/error.h"
#include "common/os/fd.h"

namespace sml::os {

// Makes a pseudo-terminal. All bytes that a process writes to Pipe::write come out of Pipe::read unchanged: the
// terminal translates and echoes none, and no byte is a command to it. A writer blocks while some thousand bytes are
// unread. Once no process has Pipe::write open, reading fails with EIO, instead of returning 0.
//
// It is not the controlling terminal of any session, so no process gets SIGHUP when an end is closed. Other users
// cannot write to it. Its size is 0 by 0: unknown. Error (Io): the system has no terminal left, or none at all.
Result<Pipe> make_output_terminal();

}  // namespace sml::os
