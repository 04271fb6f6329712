// --array-file: selects the line of the file for this run, and applies its values to the options. Reads the file;
// starts no process.
#pragma once
#include "common/core/error.h"
#include "common/plan/environment/worker_env.h"
#include "launcher/options/gather.h"
#include "launcher/options/options.h"
#include "launcher/plan/array_file.h"

namespace sml {

// True if sml-run is to start itself once for each line. (A run for one --array-index is one of those.)
bool runs_whole_array(const Options& options);

// Errors (Config) name the file, and the line if there is one. If runs_whole_array(), also rejects options with which
// the runs would overwrite each other's files (Usage). `read_file` reads s3://BUCKET/KEY, too.
Result<plan::ArrayFile> read_array_file(const Options& options, const ReadFile& read_file);

// Inserts the values of this run's line into the program's arguments, --wdir, --report, --events and the values of -x,
// and into extra_variables. Does nothing without --array-file. Errors (Config): as read_array_file(); no index; no such
// line.
Result<void> take_array_line(Options& options, const plan::Environment& environment, const ReadFile& read_file);

}  // namespace sml
