// --app: reads the programs of a job from a file.
#pragma once
#include "common/core/error.h"
#include "launcher/options/gather.h"
#include "launcher/options/options.h"

namespace sml {

inline constexpr std::size_t kMaxAppFileBytes = std::size_t{1} << 20;  // the limit that `read_file` gets

// Reads the programs of the file options.app_file, if it is set, with `read_file`. Each line has the options of one
// program, the program and its arguments. The first line replaces all ProgramOptions of `options`; the others become
// options.more_programs. Empty lines and lines that begin with '#' are skipped. The others are split and quoted as in a
// shell, but not expanded, and a '#' in them begins no comment. -x, --env-file and --wdir of the command line apply to
// all programs unless a line overrides them; --local-rank-argument applies to all. -H of the first line or of the
// command line, which must not both have it, names the hosts of the job. Errors begin with "PATH: " or "PATH:LINE: ",
// or with "--app PATH: " if the file cannot be read.
Result<void> read_app_file(Options& options, const ReadFile& read_file);

}  // namespace sml
