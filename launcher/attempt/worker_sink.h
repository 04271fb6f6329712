// What the workers of an attempt print and read, for whoever takes and brings it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/stream.h"
#include "common/core/strong.h"
#include "common/plan/launch_plan.h"
#include "common/wire/messages.h"

namespace sml::attempt {

class WorkerSink {
 public:
  virtual ~WorkerSink() = default;
  // Ranks may come while others run: those of `plan`, from `first` on; completes what their agents are told. Error: why
  // their output cannot be kept where it is to be.
  virtual Result<void> complete(const plan::LaunchPlan& plan, Rank first, std::vector<wire::AddWorkers>& messages) = 0;
  // They are about to start.
  virtual void add_workers(const plan::LaunchPlan& plan, Rank first) = 0;
  // All of them run: what they are sent arrives.
  virtual void workers_run() = 0;
  // `read_at`: by our clock.
  virtual void worker_output(Rank rank, Stream stream, std::string_view bytes, TimePoint read_at) = 0;
  // No more output of it follows. May come twice.
  virtual void worker_drained(Rank rank) = 0;
  virtual void worker_ended(Rank rank) = 0;
  virtual void input_taken(Rank rank, std::uint64_t bytes) = 0;
  // Output that our reader has not taken.
  virtual std::size_t pending_output() const = 0;
};

}  // namespace sml::attempt
