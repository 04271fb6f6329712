// Turns events of a job into the notifications of --notify. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launcher/options/observer_options.h"
#include "launcher/report/events/event_feed.h"

namespace sml::notify {

// A notification: its facts, and one sentence that states them.
struct Notice {
  NotifyOn kind = NotifyOn::Start;
  std::string job_id;
  std::string command;  // shortened
  std::uint32_t hosts = 0;
  std::uint32_t ranks = 0;
  std::uint32_t attempt = 1;
  double unix_time = 0;                   // wall clock, seconds
  double age = 0;                         // seconds since the job began
  std::optional<int> exit_code{};         // nullopt: neither the attempt nor the job has ended
  std::string verdict{};                  // why the attempt or the job has ended; empty: it has not
  std::optional<Rank> root_cause{};       // nullopt: no rank is
  std::vector<std::string> last_lines{};  // of that rank, on its stderr
  std::string text{};                     // the sentence
};

// Makes the notifications of one job from its events.
class NoticeMaker {
 public:
  // `options` must outlive this object.
  explicit NoticeMaker(const ObserverOptions& options) : options_(options) {}
  // Must receive every event. nullopt: the event needs no notification, or the options do not ask for it. A job that
  // ends with a failure is one notification: of its end, or, if the options do not ask for that, of the failure.
  std::optional<Notice> on_event(const report::Event& event);

 private:
  Notice make(NotifyOn kind, TimePoint at) const;
  std::optional<Notice> wanted(Notice notice) const;

  const ObserverOptions& options_;
  std::string job_id_;
  std::string command_;
  std::uint32_t hosts_ = 0;
  std::uint32_t ranks_ = 0;
  std::uint32_t attempt_ = 1;
  double began_unix_ = 0;
  TimePoint began_{};
};

// One object: event, job_id, command, hosts, ranks, attempt, time, age_s, text, and what is known of exit_code,
// verdict, root_cause and last_lines. ASCII, at most kMostBody bytes.
inline constexpr std::size_t kMostBody = std::size_t{16} << 10;
std::string to_json(const Notice& notice);
// The body that Slack's incoming webhooks take: only the text.
std::string to_slack(const Notice& notice);

}  // namespace sml::notify
