// --trace: the start of a job, from the start of sml-run to the first output of all ranks, as time spans in the trace
// event format of Chrome and Perfetto. Covers the first attempt only. Pure.
//
// The spans of a host, in order:
// - one for each step in which it is connected and prepared, with the step's name in the status line;
// - "waits for hosts": it is ready, and waits for the others;
// - "probe": the search for an address that all hosts reach;
// - "start": its ranks start;
// - "first output": until all of its ranks have printed something or ended.
// If its ranks take part in an MPI fence with other hosts, there are also "join", until they come there, and "waits for
// ranks".
//
// The job has spans for the plan, for all hosts together until the workers start ("hosts"), and until all ranks have
// joined ("join"), where that is known: from the MPI fence, or from the torch store that the agent serves, which does
// not distinguish hosts.
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
  // `process_start`: when this sml-run process started; the trace's time 0.
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
    std::string fault{};  // why it failed
    std::size_t ranks = 0;
    std::size_t started = 0;  // the number of its ranks that have started
    std::size_t spoken = 0;   // the number of its ranks that have printed or ended
    TimePoint last_start{};   // of a rank
    TimePoint last_word{};    // when the last of these ranks printed for the first time, or ended
    std::optional<TimePoint> at_fence{};
  };
  static constexpr std::size_t kMostSteps = 64;

  struct Listener;
  void begin(const JobBegins& job, TimePoint at);
  void spoke(Rank rank, TimePoint at);
  std::optional<TimePoint> all_started() const;
  Host* host(HostId id);  // null: it has no ranks

  TimePoint process_start_;
  TimePoint begin_{};
  std::string job_id_;
  std::vector<Host> hosts_;                     // in the order of the plan; those without ranks have no spans
  std::vector<HostIndex> places_;               // in hosts_, by HostId
  std::vector<std::size_t> host_of_rank_;       // by rank
  std::vector<char> spoken_;                    // by rank
  std::optional<TimePoint> all_ready_{};        // when the last host was ready
  std::optional<TimePoint> workers_started_{};  // when the launcher requested their start
  std::optional<TimePoint> met_{};              // when all ranks had joined
  bool over_ = false;                           // the first attempt is over: later events are ignored
};

}  // namespace sml::report
