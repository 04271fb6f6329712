// The result of one attempt.
#pragma once
#include <vector>

#include "launcher/hosts/aliases.h"
#include "launcher/report/outcome/job_outcome.h"
#include "launcher/report/outcome/report_json.h"

namespace sml::attempt {

struct AttemptOutcome {
  report::AttemptFacts facts;
  std::vector<report::RankRecord> ranks;
  double started_unix = 0;  // when the workers started, in seconds since 1970; 0: they did not
  // Whether all workers had joined the others, in torch's store or by MPI, and whether some had. Counted only if
  // another attempt may follow; otherwise false.
  bool all_joined = false;
  bool some_joined = false;
  // Not empty: some hosts of the plan are one machine, so no worker was started, and the other members mean nothing.
  // Each list has the names of one machine.
  std::vector<hosts::MachineNames> machines;
  // For an elastic job: the number of rounds after the first, and the hosts that later rounds have done without because
  // workers failed there.
  std::uint32_t resets = 0;
  std::vector<HostId> hosts_out{};
};

}  // namespace sml::attempt
