// --app: the programs of a job from a file.
#pragma once
#include "common/core/error.h"
#include "launcher/options/gather.h"
#include "launcher/options/options.h"

namespace sml {

inline constexpr std::size_t kMaxAppFileBytes = std::size_t{1} << 20;

// Puts the programs of options.app_file, if one is named, into options.command and options.more_programs. One a line,
// in words as a shell reads them, with options of its own before it; empty lines and lines that begin with '#' say
// nothing. -x, --env-file and --wdir of the command line hold for all of them, where a line does not say otherwise;
// -H names the hosts of the job. Errors begin with the path, and with the line.
Result<void> read_app_file(Options& options, const ReadFile& read_file);

}  // namespace sml
