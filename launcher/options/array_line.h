// --array-file: selects the line of the file for this run, and applies its values to the options. Reads the file;
// starts no process.
#pragma once
#include "common/core/error.h"
#include "common/plan/environment/worker_env.h"
#include "launcher/options/gather.h"
#include "launcher/options/options.h"
#include "launcher/plan/array_file.h"

namespace sml {

// Inserts the values of this run's line into the program's arguments, --wdir, --report, --events and the values of -x,
// and into extra_variables. Does nothing without --array-file. Errors (Config) name the file, and the line
// if there is one. `read_file` reads s3://BUCKET/KEY, too.
Result<void> take_array_line(Options& options, const plan::Environment& environment, const ReadFile& read_file);

}  // namespace sml
