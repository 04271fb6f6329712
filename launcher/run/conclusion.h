// The end of a job: makes what is printed, written and sent to the hosts about its outcome.
#pragma once
#include <string>
#include <vector>

#include "common/plan/launch_plan.h"
#include "launcher/attempt/attempt_outcome.h"
#include "launcher/options/job_options.h"
#include "launcher/report/events/event_feed.h"
#include "launcher/report/live/job_progress.h"
#include "launcher/report/outcome/job_outcome.h"
#include "launcher/run/restarts/restart_controller.h"
#include "launcher/run/watch/file_work.h"
#include "launcher/run/watch/printer.h"
#include "launcher/transport/agent_launcher.h"

namespace sml::run {

class Conclusion {
 public:
  // Everything here must outlive this.
  struct Deps {
    const JobOptions& options;
    const plan::LaunchPlan& plan;  // the plan of the last attempt
    const RestartController& restarts;
    const report::JobProgress& progress;
    const report::Goodput* goodput;  // null: not known
    Printer& printer;
    FileWork& files;
  };
  // `outcome` is that of the last attempt.
  Conclusion(Deps job, attempt::AttemptOutcome outcome);
  Conclusion(const Conclusion&) = delete;
  Conclusion& operator=(const Conclusion&) = delete;

  const report::JobOutcome& verdict() const { return outcome_.verdict; }
  void print_outcome() const;  // prints the report of a failure, and the list of earlier attempts
  // The text for --report; does not write the file. `ranks`: the end of each rank of the last attempt.
  std::string report(std::vector<report::AttemptFacts::WorkerEnd> ranks) const;
  // Begins to write --error-file, if that is given and the root cause is a worker that wrote one.
  void leave_error_file() const;
  // Begins to write --failure-file, if that is given and the job has failed. Returns what is to be sent to the hosts,
  // each of which may write such a file, too; does not send it.
  transport::RunEnd leave_failure_file() const;
  report::JobEnds event() const;  // for the caller to publish

 private:
  std::optional<report::GoodputSums> goodput() const;  // nullopt: not known
  std::uint32_t attempt_number() const { return deps_.plan.job.attempt + 1; }
  std::optional<Rank> root_cause() const;  // nullopt: the root cause is no worker

  Deps deps_;
  attempt::AttemptOutcome outcome_;
};

}  // namespace sml::run
