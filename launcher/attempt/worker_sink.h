// The interface to the component that takes the output of an attempt's workers and brings their input.
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
  // The ranks of `plan` from `first` on may be added while others run. Adds to the `messages` for their agents where
  // their output goes. Error: why their output cannot be kept there.
  virtual Result<void> complete(const plan::LaunchPlan& plan, Rank first, std::vector<wire::AddWorkers>& messages) = 0;
  // The ranks from `first` on are about to start.
  virtual void add_workers(const plan::LaunchPlan& plan, Rank first) = 0;
  // All workers run: input that is sent to them arrives.
  virtual void workers_run() = 0;
  // The worker has written `bytes`. `read_at`: when the agent read them, on the launcher's clock.
  virtual void worker_output(Rank rank, Stream stream, std::string_view bytes, TimePoint read_at) = 0;
  // The same for Stream::Results.
  virtual void worker_results(Rank rank, std::string_view bytes) = 0;
  // No more output of the rank follows. May be called twice.
  virtual void worker_drained(Rank rank) = 0;
  virtual void worker_ended(Rank rank) = 0;
  // The agent has passed `bytes` more bytes of stdin to the worker, so as many may be sent again.
  virtual void input_taken(Rank rank, std::uint64_t bytes) = 0;
  // Bytes of output and results that wait for the launcher's readers to take them.
  virtual std::size_t pending_output() const = 0;
};

}  // namespace sml::attempt
