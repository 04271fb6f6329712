// Slurm's compressed lists, and the hosts of its jobs.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "launcher/hosts/source_context.h"

namespace sml::hosts {

// "n[001-003,7]-ib[0-1],m1" → names, in Slurm's order, with duplicates. Items are separated by commas, blanks or
// newlines. Source: src/common/hostlist.c, scontrol show hostnames. Text after the last bracket is a suffix, as in
// Slurm 23. At most kMaxHosts names. Errors (kind Config) quote the item: "\"n[3-1]\" has a range that runs backwards;
// ...".
Result<std::vector<std::string>> expand_slurm_hostlist(std::string_view text);

// "8(x2),4" → 8, 8, 4; there must be exactly `hosts` counts. Source: sbatch(1), SLURM_TASKS_PER_NODE. Error messages
// (kind Config) are parts of a sentence, which the caller completes.
Result<std::vector<std::uint32_t>> expand_slurm_counts(std::string_view text, std::size_t hosts);

// The hosts of the allocation, however sml-run has been started in it; see slurm_hosts() in batch_systems.h.
FoundHosts slurm_job_hosts(const SourceContext& s);

}  // namespace sml::hosts
