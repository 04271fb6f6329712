// --timeline: collects what a picture of the job shows; the functions at the end render it, while the job runs and when
// it has ended. Pure.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/report/events/event_feed.h"

namespace sml::report {

class Timeline final : public EventListener {
 public:
  static constexpr std::size_t kBuckets = 128;  // equal time spans, over the whole job, in which output is counted
  static constexpr std::size_t kEarlier = 100;  // the most attempts before the last that are drawn
  static constexpr std::size_t kUses = 256;     // the most samples of a host's resource usage

  enum class Outcome : std::uint8_t { Unknown, Succeeded, Failed, Stopped };
  // Times are seconds since the job's start.
  struct Step {
    double at = 0;
    std::string text;
  };
  struct Host {
    std::string name;
    std::vector<Step> steps;
    std::optional<double> end;                      // when no process of the job was left there
    std::optional<Step> fault;                      // when and why it failed
    std::vector<std::pair<double, HostUse>> use{};  // at most kUses samples, evenly spaced
  };
  // A rank in one attempt.
  struct Run {
    std::size_t host = 0;  // index into hosts()
    std::int32_t pid = 0;
    std::optional<double> start;
    std::optional<double> end;
    Outcome outcome = Outcome::Unknown;
    std::string status;  // how it ended, in words
    std::optional<Usage> usage;
  };
  // The rank's last attempt, and earlier ones.
  struct RankLine : Run {
    std::vector<Run> earlier;
    std::vector<std::string> last_lines;           // of its stderr, if it failed
    std::array<std::uint64_t, kBuckets> output{};  // bytes, by bucket
  };
  struct Mark {
    double at = 0;
    std::string kind;  // "start", "signal", "stop", "restart", "hosts"
    std::string text;
  };

  void on_event(const Event& event) override;
  // The job still runs at `now`: extends what is drawn up to there.
  void runs_on(TimePoint now);

  const std::string& job_id() const { return job_id_; }
  const std::string& program() const { return program_; }
  const std::string& command() const { return command_; }        // with its arguments, shortened
  double unix_time() const { return unix_time_; }                // start of the job
  const std::vector<Host>& hosts() const { return hosts_; }      // those with ranks, and spares
  const std::vector<RankLine>& ranks() const { return ranks_; }  // by rank
  const std::vector<Mark>& marks() const { return marks_; }
  double bucket_seconds() const { return bucket_; }
  double end() const { return end_; }               // of what is drawn: the latest event, or runs_on()
  std::uint64_t events() const { return events_; }  // how many have come
  bool has_ended() const { return ended_; }
  std::optional<Rank> root_cause() const { return root_cause_; }
  int exit_code() const { return exit_code_; }
  const std::string& goodput() const { return goodput_; }  // in words; empty: not known
  void set_goodput(std::string text) { goodput_ = std::move(text); }
  const std::string& verdict() const { return verdict_; }  // in words; while the job runs: of the last failed attempt

 private:
  struct Listener;
  void begin(const JobBegins& job, TimePoint at);
  void begin_again(const AttemptBegins& attempt, double at);
  void widen_buckets();
  void add_use(Host& host, double at, const HostUse& use) const;
  void add_output(const RankOutput& output, double at);
  double seconds(TimePoint at) const { return in_seconds(at - begin_); }
  Host* host(HostId id);  // null: the host is not drawn
  void enlist(const plan::JobMap& map);
  void place(const plan::JobMap& map);

  TimePoint begin_;
  std::string job_id_;
  std::string program_;
  std::string command_;
  double unix_time_ = 0;
  std::vector<std::optional<std::size_t>> drawn_;  // by HostId: position in hosts_
  std::vector<Host> hosts_;
  std::vector<RankLine> ranks_;
  std::vector<Mark> marks_;
  double bucket_ = 0.01;
  double end_ = 0;
  std::uint64_t events_ = 0;
  bool ended_ = false;
  std::optional<Rank> root_cause_;
  int exit_code_ = 0;
  std::string verdict_;
  std::string goodput_;
};

// A self-contained page: it loads nothing from the network or from other files.
std::string timeline_html(const Timeline& timeline);

// The trace event format of Chrome and Perfetto (JSON object format of the document "Trace Event Format"): a process
// for each host, a thread for each rank.
std::string timeline_trace(const Timeline& timeline);

}  // namespace sml::report
