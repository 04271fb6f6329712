// The metrics of a job: names, units and labels follow the conventions of Prometheus. Pure; single-threaded.
//
// The list of metrics is in sml-run-output(7). A job of more than kMostRanks ranks has no series for each rank, only
// those of hosts and of the job.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "launcher/metrics/exposition.h"
#include "launcher/report/events/event_feed.h"
#include "launcher/report/live/goodput.h"
#include "launcher/report/live/job_progress.h"
#include "launcher/report/live/live_use.h"

namespace sml::metrics {

class JobMetrics final : public report::EventListener {
 public:
  static constexpr std::size_t kMostRanks = 1024;

  // `progress` and `goodput` belong to the same job, must outlive this object, and must receive each event before this
  // object does. Without `goodput` the metrics have no progress.
  explicit JobMetrics(const report::JobProgress& progress, const report::Goodput* goodput = nullptr)
      : progress_(progress), goodput_(goodput) {}

  void on_event(const report::Event& event) override;
  // All metrics as they are at `now`. `uses` has the ranks whose use of resources is known.
  std::string text(Format format, TimePoint now, const report::LiveUses& uses) const;

 private:
  void write_job(Exposition& out) const;
  void write_goodput(Exposition& out, TimePoint now) const;
  void write_hosts(Exposition& out) const;
  void write_ranks(Exposition& out, TimePoint now, const report::LiveUses& uses) const;

  const report::JobProgress& progress_;
  const report::Goodput* goodput_;
  std::string job_id_;
  double started_ = 0;  // wall clock, seconds
  std::uint64_t attempts_ = 0;
  std::array<std::uint64_t, 2> output_{};  // bytes by stream
  std::optional<int> exit_status_;
};

}  // namespace sml::metrics
