// The interface through which the parts that watch and control a job use the run that they belong to.
#pragma once
#include <string>

#include "common/plan/launch_plan.h"
#include "launcher/attempt/hosts/record_query.h"
#include "launcher/attempt/hosts/stack_query.h"

namespace sml::run {

class WatchedJob {
 public:
  virtual ~WatchedJob() = default;
  virtual const plan::LaunchPlan& plan() const = 0;  // of the current attempt
  virtual bool workers_run() const = 0;
  // These two ask the agents for the workers' stacks, and for what torch's flight recorders hold. `done` is called once
  // with the replies so far: from the loop when all have come or a time limit has passed, or when the attempt ends.
  virtual void look_for_workers(TraceTools tools, attempt::StackQuery::Done done) = 0;
  virtual void fetch_records(attempt::RecordQuery::Done done) = 0;
  // `who`, another process, has asked for the end of the job.
  virtual void stop_for(const std::string& who) = 0;
};

}  // namespace sml::run
