// Options for people and programs that observe a job from outside while it runs: metrics, notifications, a trace of its
// start.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sml {

// The address at which metrics are served: a numeric address and a port, or the path of a Unix socket. `host` or `path`
// is set, never both.
struct MetricsAddress {
  std::string host;
  std::uint16_t port = 0;  // 0: any free port
  std::string path{};
};

// The events of which notifications are sent; the values are bits of ObserverOptions::notify_on.
enum class NotifyOn : std::uint8_t { Start = 1, Restart = 2, Failure = 4, End = 8 };
inline constexpr std::uint8_t kNotifyOnAll = 15;

// A receiver of notifications: the words of a command, or a URL.
struct NotifyTarget {
  std::string text;                    // as given, for messages
  std::vector<std::string> command{};  // empty: `text` is a URL
};

// Whether the progress of the job goes to Kubeflow's status server, and whether it goes into lines of the output.
enum class ProgressPush : std::uint8_t { No, Yes };
enum class ProgressLines : std::uint8_t { No, Yes };
struct StatusServer {
  std::string url;          // empty: none
  std::string authorities;  // path of a file of certificates; empty: those of the system
  std::string token_file;   // path; the file is read for each message
};

struct ObserverOptions {
  std::vector<MetricsAddress> metrics;  // at most one
  std::string metrics_file;             // empty: none
  std::vector<NotifyTarget> notify;
  std::uint8_t notify_on = kNotifyOnAll;  // the bits of NotifyOn
  std::string trace_file;                 // empty: none
  ProgressPush progress_push = ProgressPush::Yes;
  StatusServer status_server;  // set by the platform, as is progress_lines
  ProgressLines progress_lines = ProgressLines::No;

  bool notifies(NotifyOn what) const { return (notify_on & static_cast<std::uint8_t>(what)) != 0; }
};

}  // namespace sml
