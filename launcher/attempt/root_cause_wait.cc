#include "launcher/attempt/root_cause_wait.h"

#include "launcher/report/outcome/job_outcome.h"

namespace sml::attempt {

bool RootCauseWait::stops_now(Rank rank) {
  if (table_.workers_left() == 0 || !report::is_consequence(table_.end_of(rank))) return true;
  if (waits_) return false;
  waits_ = true;
  timer_.expires_after(report::kRootCauseWindow);
  timer_.async_wait([this, alive = std::weak_ptr<bool>(alive_)](boost::system::error_code error) {
    if (!error && !alive.expired()) over_();
  });
  return false;
}

}  // namespace sml::attempt
