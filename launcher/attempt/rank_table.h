// The state of each rank of one attempt. Pure.
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
#include "launcher/report/outcome/report_json.h"

namespace sml::attempt {

class RankTable {
 public:
  explicit RankTable(const plan::LaunchPlan& plan) { grow(plan); }

  // Adds the ranks of `plan` behind those that it knows.
  void grow(const plan::LaunchPlan& plan);

  void started(Rank rank, std::int32_t pid);
  // So many bytes have come of its stdout.
  void printed(Rank rank, std::size_t bytes) { ranks_[rank.value()].printed += bytes; }
  // `bytes` is part of the rank's stderr.
  void wrote_errors(Rank rank, std::string_view bytes);
  // The rank's own account of its failure, which arrives before its end.
  void explained(Rank rank, report::WorkerError error);

  // The rank has failed with the status `code`, before its end and whatever its exit status will be; `why` as in
  // wire::RankFault.
  void condemned(Rank rank, int code, std::string why, TimePoint at);
  // The same of one that has asked for the end of the job.
  void aborted(Rank rank, int code, std::string why, TimePoint at);

  enum class Weight : std::uint8_t {
    Nothing,
    Failure
  };  // no weight: it succeeded, or it only served others, which have ended
  // Once for each rank.
  [[nodiscard]] Weight ended(Rank rank, const ExitStatus& status, report::Ending ending, TimePoint at);
  // The resources that the rank used until its end.
  void cost(Rank rank, const Usage& usage) { ranks_[rank.value()].record.usage = usage; }
  // Evidence that the rank was killed for lack of memory.
  void ran_out_of_memory(Rank rank, std::string evidence);

  // The outcome of this rank, past or future, does not count.
  void do_without(Rank rank) { ranks_[rank.value()].counts = false; }

  // Ranks that do the job's work and have not ended.
  std::uint32_t workers_left() const { return workers_left_; }
  // The end of a rank that has failed. The last lines of its output may still arrive.
  report::AttemptFacts::WorkerEnd end_of(Rank rank) const;
  bool has_ended(Rank rank) const { return ranks_[rank.value()].record.status.has_value(); }
  // The number of ranks whose end was not reported, or that never ran.
  std::size_t unseen() const;
  // In the order in which they became known.
  std::vector<report::AttemptFacts::WorkerEnd> failures() const;
  std::vector<report::RankRecord> records() const;

 private:
  struct Entry {
    report::RankRecord record;
    report::LastLines last_lines;
    report::WorkerError error;
    std::string out_of_memory;
    std::uint64_t printed = 0;   // bytes
    bool flushes_lines = false;  // whatever its stdout is
    plan::Part part = plan::Part::Worker;
    bool counts = true;
    struct Fault {
      int code = 1;
      std::string why;
      TimePoint at;
      bool aborted = false;
    };
    std::optional<Fault> fault;
  };
  static bool may_keep_lines(const Entry& entry, const ExitStatus& status);

  std::vector<Entry> ranks_;  // by rank
  std::vector<Rank> failed_;
  std::uint32_t workers_left_ = 0;
};

}  // namespace sml::attempt
