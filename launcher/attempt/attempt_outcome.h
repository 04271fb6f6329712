// The result of one attempt.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "common/core/strong.h"
#include "launcher/report/outcome/job_outcome.h"

namespace sml::attempt {

struct AttemptOutcome {
  explicit AttemptOutcome(report::AttemptFacts of) : facts(std::move(of)), verdict(report::judge(facts)) {}
  AttemptOutcome(AttemptOutcome&&) = default;  // no copies: `verdict` points into `facts`
  AttemptOutcome& operator=(AttemptOutcome&&) = default;

  report::AttemptFacts facts;
  report::JobOutcome verdict;
  double started_unix = 0;  // when the workers started, in seconds since 1970; 0: they did not
  // Whether all workers had joined the others, in torch's store or by MPI, and whether some had. Counted only if
  // another attempt may follow; otherwise false.
  bool all_joined = false;
  bool some_joined = false;
  // For an elastic job: the number of rounds after the first, and the hosts that later rounds have done without because
  // workers failed there.
  std::uint32_t resets = 0;
  std::vector<HostId> hosts_out{};
};

}  // namespace sml::attempt
