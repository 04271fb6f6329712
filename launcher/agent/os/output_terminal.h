// A terminal that takes the place of a pipe for what a process writes, so that C libraries send each line as it comes.
#pragma once
#include "common/core/error.h"
#include "common/os/fd.h"

namespace sml::os {

// The writer gets one end, whose bytes come out of the other unchanged: nothing is translated, echoed or obeyed, and
// it blocks where some thousand bytes have not been read. The end is read as EIO once nobody has that end open. It is
// no session's controlling terminal, so that nobody gets SIGHUP for an end that is closed, and other users cannot write
// to it. Its size is 0 by 0: unknown. Error (Io): the system has no more, or none at all.
Result<Pipe> make_output_terminal();

}  // namespace sml::os
