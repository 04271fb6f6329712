// --trace: the start of a job, from the start of sml-run to the first output of all ranks, as spans for each host in
// the trace event format of Chrome and Perfetto. Pure.
//
// A host has a span for each step by which it is reached and prepared, named as the status line names them; then one in
// which it is ready and waits for others, one for the search for an address that all hosts reach ("probe"), one in
// which its ranks start, and one until all of them have printed something or ended ("first output"). Where its ranks
// meet those of other hosts in a fence of MPI, it has one until they come there ("join") and one in which they wait for
// the others. The job has one for the plan, and one until all ranks have met ("join"), where that is known: in that
// fence, or in torch's store that the agent serves, which does not tell hosts apart. Of a job with restarts it is the
// first attempt's start.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launcher/report/events/event_feed.h"

namespace sml::report {

class StartTrace final : public EventListener {
 public:
  // `process_start`: of this sml-run.
  explicit StartTrace(TimePoint process_start) : process_start_(process_start) {}

  void on_event(const Event& event) override;
  // One line with a newline. Spans that have not ended end at `now`, and are marked as open.
  std::string json(TimePoint now) const;

 private:
  struct Step {
    std::string text;
    TimePoint at;
  };
  struct Host {
    std::string name;
    std::vector<Step> steps{};  // at most kMostSteps
    std::optional<TimePoint> ready{};
    std::optional<TimePoint> failed{};
    std::string fault{};
    std::size_t ranks = 0;
    std::size_t started = 0;
    std::size_t spoken = 0;  // have printed, or ended
    TimePoint last_start{};
    TimePoint last_word{};
    std::optional<TimePoint> at_fence{};
  };
  static constexpr std::size_t kMostSteps = 64;

  struct Listener;
  void begin(const JobBegins& job, TimePoint at);
  void spoke(Rank rank, TimePoint at);
  std::optional<TimePoint> all_started() const;
  Host* host(HostIndex index);

  TimePoint process_start_;
  TimePoint begin_{};
  std::string job_id_;
  std::vector<Host> hosts_;                     // by host index; those without ranks stay empty
  std::vector<std::size_t> host_of_rank_;       // by rank
  std::vector<char> spoken_;                    // by rank
  std::optional<TimePoint> all_ready_{};        // the last host was ready
  std::optional<TimePoint> workers_started_{};  // by the launcher
  std::optional<TimePoint> met_{};              // all ranks have
  bool over_ = false;                           // the attempt
};

}  // namespace sml::report
