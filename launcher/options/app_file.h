// --app: reads the programs of a job from a file.
#pragma once
#include "common/core/error.h"
#include "launcher/options/gather.h"
#include "launcher/options/options.h"

namespace sml {

inline constexpr std::size_t kMaxAppFileBytes = std::size_t{1} << 20;

// Reads the programs of options.app_file, if set, into options.command and options.more_programs. Each line has one
// program, split into words as a shell does, preceded by its own options; empty lines and lines that begin with '#' are
// ignored. -x, --env-file and --wdir of the command line apply to all programs unless a line overrides them; -H names
// the hosts of the job. Errors begin with the path, and with the line if there is one.
Result<void> read_app_file(Options& options, const ReadFile& read_file);

}  // namespace sml
