// The options that decide when a failed job is restarted, and when it is not restarted any more. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/exit_status.h"
#include "launcher/plan/regroup.h"

namespace sml {

// A rule of --give-up: this many failures of a kind, within a time, end the job.
struct GiveUpRule {
  static constexpr std::uint32_t kMostFailures = 1'000'000;

  // A range of exit statuses.
  struct Codes {
    int first = 0;
    int last = 0;
  };
  std::string text;  // as it was written
  std::uint32_t failures = 1;
  std::optional<Duration> within;  // nullopt: in the whole job
  // True if the rule allows some failures of its kind before it ends the job.
  bool allows_some() const { return failures > 1; }
  // The exit statuses and signals of a worker that count. If both are empty, any failure counts.
  std::vector<Codes> codes;
  std::vector<int> signals;

  // "5/60s:1,101-103,SIGSEGV" in the grammar of the manual; several are separated by ";". Error (Usage) gives what was
  // expected and where.
  static Result<std::vector<GiveUpRule>> parse(std::string_view text);
  // Whether a worker's end with `status` counts for this rule. nullopt: no worker is the root cause; then only a rule
  // for any failure counts it.
  bool counts(const std::optional<ExitStatus>& status) const;
};

// The backoff: the wait before a restart.
struct RestartDelay {
  static constexpr Duration kMost = std::chrono::seconds(30);
  Duration first{};       // before a restart after a healthy attempt
  Duration most = kMost;  // the longest wait, after several failures

  // Parses "D" or "D:MAX".
  static Result<RestartDelay> parse(std::string_view text);
};

// When a host is excluded from the job because attempts have failed on it, and for how long.
struct ExcludeOptions {
  std::uint32_t after = 0;              // number of failures; 0: never
  std::optional<Duration> within{};     // only failures within this time count; nullopt: all
  std::optional<Duration> cool_down{};  // how long a host is excluded; nullopt: for good
  // The time doubles each time that the host is excluded again, up to this one; nullopt: it stays the same.
  std::optional<Duration> longest_cool_down{};
  std::string file{};  // path of a list of hosts that are not used, see exclude_list.h; empty: none

  // Parses "K" or "K/D".
  Result<void> read_after(std::string_view text);
  // Parses "D" or "D:MAX".
  Result<void> read_cool_down(std::string_view text);
  // The duration of a host's exclusion number `number`, from 1 on; nullopt: for good.
  std::optional<Duration> cool_down_of(std::uint32_t number) const;
};

// The source from which the host list of a running job is read again and again.
struct DiscoveryOptions {
  std::string script{};  // a command for sh that prints the hosts; empty: none
  enum class Watch : std::uint8_t { No, Yes } watch_hosts = Watch::No;
  std::string hostfile{};  // the file read with `watch_hosts`
  enum class Callers : std::uint8_t { AtStart, AnyTime } callers = Callers::AtStart;  // AnyTime: hosts may call later
  // Time between two reads.
  Duration interval = std::chrono::seconds(1);
  Duration wait = std::chrono::minutes(10);  // for enough hosts, at the start and before a restart
  // How long the list must be unchanged before the attempt is ended for a larger one; nullopt: the job grows only at
  // restarts that have another reason.
  std::optional<Duration> grow_after{};
  std::optional<std::uint32_t> most_ranks{};      // nullopt: one per slot
  std::optional<std::uint32_t> slots{};           // of a host listed without slots; nullopt: as many as the first host
  std::optional<std::uint32_t> ranks_per_host{};  // of new hosts; nullopt: one per slot

  bool watches() const { return watch_hosts == Watch::Yes; }
  bool is_on() const { return !script.empty() || watches() || callers == Callers::AnyTime; }
};

// The framework whose workers may be replaced within an attempt.
enum class Elastic : std::uint8_t { None, Horovod };

struct RestartOptions {
  std::uint32_t max = 0;           // restarts of the whole job
  std::optional<Duration> window;  // only restarts within this time count; nullopt: all
  RestartDelay delay;
  std::vector<GiveUpRule> give_up;
  // The number of attempts in a row without progress after which the job ends. 0: any number is allowed; nullopt: 2, if
  // it can be seen whether the job makes progress, else any number.
  std::optional<std::uint32_t> most_without_progress{};
  std::string progress_file;                  // a file whose change is progress; empty: none
  std::uint32_t spares = 0;                   // number of spare hosts: the last ones of the host list
  std::optional<std::uint32_t> most_hosts{};  // with workers; further ones are spare hosts; nullopt: no maximum
  ExcludeOptions exclude{};
  std::string health_check{};  // a command that exits with 0 on healthy hosts; empty: none
  DiscoveryOptions discovery{};
  Elastic elastic = Elastic::None;
  plan::LeastSize least{};  // minimum to which the job may shrink when hosts are lost

  // True if the job may continue after a host is lost.
  bool outlives_hosts() const {
    return max > 0 && (spares > 0 || most_hosts || least.may_shrink() || discovery.is_on());
  }
};

}  // namespace sml
