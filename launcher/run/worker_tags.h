// The tags before the lines of the workers, as the options and the job's shape determine them.
#pragma once
#include <vector>

#include "common/core/clock.h"
#include "common/core/stream.h"
#include "common/plan/ranks/job_map.h"
#include "launcher/options/job_options.h"
#include "launcher/output/chain.h"

namespace sml::run {

// One subject for each rank, in the order of ranks; the `stream` and `tagged` of each are not set.
std::vector<output::TagSubject> tag_subjects(const plan::JobMap& map);

// The tag subject for one stream of `worker`.
output::TagSubject tagged(output::TagSubject worker, Stream stream, const OutputOptions& options);

// Settings of a chain that tags the lines of `workers` and changes nothing else.
output::Chain::Settings tag_settings(const std::vector<output::TagSubject>& workers, const OutputOptions& options);

// Whether the tags contain the time of day.
bool tags_have_time(const OutputOptions& options);

// Converts a time of this process's monotonic clock to the time of day, in whole milliseconds.
output::WallTime wall_time(TimePoint time);

}  // namespace sml::run
