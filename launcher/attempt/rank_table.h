// Records the state of each rank of one attempt: what it printed, whether and why it failed, how it ended. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/clock.h"
#include "common/core/exit_status.h"
#include "common/core/strong.h"
#include "common/plan/launch_plan.h"
#include "launcher/report/events/event_feed.h"
#include "launcher/report/outcome/error_file.h"
#include "launcher/report/outcome/job_outcome.h"
#include "launcher/report/outcome/last_lines.h"

namespace sml::attempt {

class RankTable {
 public:
  explicit RankTable(const plan::LaunchPlan& plan) { grow(plan); }

  // Adds the ranks of `plan` behind those that it knows.
  void grow(const plan::LaunchPlan& plan);

  void started(Rank rank, std::int32_t pid);
  // The rank has written `bytes` more bytes to its stdout.
  void printed(Rank rank, std::size_t bytes) { ranks_[rank.value()].printed += bytes; }
  // `bytes` is part of the rank's stderr.
  void wrote_errors(Rank rank, std::string_view bytes);
  // The rank's own report of its failure, from its error file. It counts only before ended().
  void explained(Rank rank, report::WorkerError error);

  // The rank has failed, before its end and whatever its exit status will be. The first call counts; `code` becomes its
  // status. `why` as in wire::RankFault.
  void condemned(Rank rank, int code, std::string why, TimePoint at);
  // The same for a rank that has asked for the end of the job.
  void aborted(Rank rank, int code, std::string why, TimePoint at);

  // No failure (Nothing): the rank succeeded, or it only served workers, which have all ended.
  enum class Weight : std::uint8_t { Nothing, Failure };
  // The rank's process has ended. Call once for each rank.
  [[nodiscard]] Weight ended(Rank rank, const ExitStatus& status, report::Ending ending, TimePoint at);
  // The resources that the rank used until its end.
  void cost(Rank rank, const Usage& usage) { ranks_[rank.value()].end.usage = usage; }
  // Records the evidence that the rank was killed for lack of memory.
  void ran_out_of_memory(Rank rank, std::string evidence);

  // From now on failures() and unseen() leave this rank out, however it has ended or will end.
  void do_without(Rank rank) { ranks_[rank.value()].counts = false; }

  // The number of ranks that do the job's work (plan::Part::Worker) and have not ended.
  std::uint32_t workers_left() const { return workers_left_; }
  // The end of a rank that has ended or has been condemned. The last lines of its output may still arrive.
  report::AttemptFacts::WorkerEnd end_of(Rank rank) const;
  bool has_ended(Rank rank) const { return ranks_[rank.value()].has_ended(); }
  // The number of ranks whose end was not reported, or that never ran.
  std::size_t unseen() const;
  // The failed ranks, in the order in which their failures became known.
  std::vector<report::AttemptFacts::WorkerEnd> failures() const;
  // How each rank's process has ended, without its last lines and without what condemned() tells; by rank.
  std::vector<report::AttemptFacts::WorkerEnd> ends() const;

 private:
  struct Entry {
    report::AttemptFacts::WorkerEnd end;  // see ends()
    report::LastLines last_lines;
    std::uint64_t printed = 0;   // bytes of stdout
    bool flushes_lines = false;  // the program writes each line at once, even to a pipe
    plan::Part part = plan::Part::Worker;
    bool counts = true;  // false: see do_without()
    // Set by condemned() or aborted().
    struct Fault {
      int code = 1;
      std::string why;
      TimePoint at;
      bool aborted = false;
    };
    std::optional<Fault> fault;
    bool has_ended() const { return end.at != TimePoint(); }
    // Whether the last lines of the rank may have been lost in its own output buffer.
    bool may_keep_lines() const;
  };

  std::vector<Entry> ranks_;  // by rank
  std::vector<Rank> failed_;  // in the order in which this became known
  std::uint32_t workers_left_ = 0;
};

}  // namespace sml::attempt
