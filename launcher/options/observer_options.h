// Options for those who look at a job from outside while it runs: metrics, notifications, a trace of its start.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sml {

// Where metrics are served. Exactly one of the two is set: a numeric address, or the path of a Unix socket.
struct MetricsAddress {
  std::string host;
  std::uint16_t port = 0;  // 0: any free port
  std::string path{};
};

enum class NotifyOn : std::uint8_t { Start = 1, Restart = 2, Failure = 4, End = 8 };
inline constexpr std::uint8_t kNotifyOnAll = 15;

// Whom to notify: the words of a command, or a URL.
struct NotifyTarget {
  std::string text;                    // as given, for messages
  std::vector<std::string> command{};  // empty: a URL
};

// Where the progress of the job goes: to Kubeflow's status server, and into lines of the output.
enum class ProgressPush : std::uint8_t { No, Yes };
enum class ProgressLines : std::uint8_t { No, Yes };
struct StatusServer {
  std::string url;          // empty: none
  std::string authorities;  // path of a file; empty: those of the system
  std::string token_file;   // path; read for each message
};

struct ObserverOptions {
  std::vector<MetricsAddress> metrics;  // at most one
  std::string metrics_file;             // empty: none
  std::vector<NotifyTarget> notify;
  std::uint8_t notify_on = kNotifyOnAll;  // NotifyOn, added up
  std::string trace_file;                 // empty: none
  ProgressPush progress_push = ProgressPush::Yes;
  StatusServer status_server;  // from the platform, as is the next
  ProgressLines progress_lines = ProgressLines::No;

  bool notifies(NotifyOn what) const { return (notify_on & static_cast<std::uint8_t>(what)) != 0; }
};

}  // namespace sml
