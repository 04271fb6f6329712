// The interface through which the parts of an attempt end it.
#pragma once
#include <vector>

#include "common/core/error.h"
#include "launcher/report/outcome/job_outcome.h"

namespace sml::attempt {

class AttemptControl {
 public:
  virtual ~AttemptControl() = default;
  // The attempt may be over: something has ended on a host, or RendezvousSetup has counted the workers that had joined.
  virtual void look_for_end() = 0;
  // Ends the attempt as failed: the workers cannot go on. `lost`: the hosts that were lost, if any; then they are the
  // cause.
  virtual void give_up(const std::vector<report::AttemptFacts::HostFault>& lost) = 0;
  // Ends the attempt for the reason `why`, which is no failure of a worker or host.
  virtual void stop_for(Error why) = 0;
};

}  // namespace sml::attempt
