// Turns events of a job into the notifications of --notify. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launcher/options/observer_options.h"
#include "launcher/report/events/event_feed.h"

namespace sml::notify {

// A notification: its facts, and one sentence that has them in words.
struct Notice {
  NotifyOn kind = NotifyOn::Start;
  std::string job_id;
  std::string command;  // shortened
  std::uint32_t hosts = 0;
  std::uint32_t ranks = 0;
  std::uint32_t attempt = 1;
  double unix_time = 0;  // wall clock, seconds
  double age = 0;        // seconds since the job began
  std::optional<int> exit_code{};
  std::string verdict{};
  std::optional<Rank> root_cause{};
  std::vector<std::string> last_lines{};  // of that rank, on its stderr
  std::string text{};
};

class NoticeMaker {
 public:
  explicit NoticeMaker(const ObserverOptions& options) : options_(options) {}
  // nullopt: this event is not told. A job that ends with a failure is one notification: of its end, or where that is
  // not wanted, of the failure.
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
