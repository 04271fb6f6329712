// The progress of a job: the state of every host and rank as the launcher knows it. Source of the status line and of
// the table of --status-signal. Pure.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/rank_set.h"
#include "launcher/report/events/event_feed.h"
#include "launcher/report/live/host_peaks.h"

namespace sml::report {

class JobProgress final : public EventListener {
 public:
  enum class HostState : std::uint8_t { Waiting, Connected, Ready, Failed, Ended };
  enum class RankState : std::uint8_t { Waiting, Running, Succeeded, Failed, Stopped, Lost };
  struct Host {
    std::string name;
    HostState state = HostState::Waiting;
    std::string text;  // its current step while it is connected and prepared, or why it failed
    RankSet ranks;
    HostPeaks peaks{};
  };
  struct RankLine {
    std::size_t host = 0;  // index into hosts()
    std::int32_t pid = 0;
    RankState state = RankState::Waiting;
    TimePoint start;
    TimePoint end;
    TimePoint last_output;    // its start if it has printed nothing
    std::uint64_t bytes = 0;  // printed
    std::string status;       // how it ended, in words
  };
  enum class Phase : std::uint8_t { Starting, Running, Stopping };

  void on_event(const Event& event) override;

  const std::vector<Host>& hosts() const { return hosts_; }  // hosts with ranks
  const std::vector<RankLine>& ranks() const { return ranks_; }
  TimePoint begin() const { return begin_; }
  std::uint32_t attempt() const { return attempt_; }
  Phase phase() const { return phase_; }
  std::size_t count(RankState state) const { return rank_counts_[static_cast<std::size_t>(state)]; }
  std::size_t count(HostState state) const { return host_counts_[static_cast<std::size_t>(state)]; }

 private:
  struct Listener;
  void begin_job(const JobBegins& job, TimePoint at);
  void set(Host& host, HostState state);
  void set(RankLine& rank, RankState state);
  void fail(Host& host, std::string why);
  Host* host(HostId id);  // null: it has no ranks

  void begin_attempt(const AttemptBegins& attempt);
  void list(const plan::JobMap& map);
  void grow(const plan::JobMap& map, Rank first);

  TimePoint begin_;
  std::uint32_t attempt_ = 1;
  Phase phase_ = Phase::Starting;
  std::vector<std::optional<std::size_t>> place_;  // in hosts_, by HostId; nullopt: it has no ranks
  std::vector<Host> hosts_;
  std::vector<RankLine> ranks_;
  std::array<std::size_t, 5> host_counts_{};
  std::array<std::size_t, 6> rank_counts_{};
};

}  // namespace sml::report
