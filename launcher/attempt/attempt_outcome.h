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
  double started_unix = 0;   // of the workers, wall clock; 0: none was started
  bool all_joined = false;   // all had met, in torch's store or by MPI; known where another attempt may follow
  bool some_joined = false;  // some had
  // Not empty: the hosts are fewer machines than the plan has them, so nothing was started, and the rest says nothing.
  // Each list has the names of one machine.
  std::vector<hosts::MachineNames> machines;
  // For an elastic job: the number of times that workers went on without others, and the hosts of the workers that were
  // left out.
  std::uint32_t resets = 0;
  std::vector<HostId> hosts_out{};
};

}  // namespace sml::attempt
