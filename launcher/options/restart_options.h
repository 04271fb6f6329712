// When a failed job is restarted, and when it gives up. Pure.
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

// A rule: this many failures of a kind within a time end the job.
struct GiveUpRule {
  static constexpr std::uint32_t kMostFailures = 1'000'000;

  struct Codes {
    int first = 0;
    int last = 0;
  };
  std::string text;  // as it was written
  std::uint32_t failures = 1;
  std::optional<Duration> within;  // nullopt: during the whole job
  // True if the rule allows some failures of its kind before it ends the job.
  bool allows_some() const { return failures > 1; }
  // If both are empty, any failure counts.
  std::vector<Codes> codes;
  std::vector<int> signals;

  // "5/60s:1,101-103,SIGSEGV" in the grammar of the manual; several are separated by ";". Error (Usage) gives what was
  // expected and where.
  static Result<std::vector<GiveUpRule>> parse(std::string_view text);
  // True if a worker's end with `status` counts for this rule; nullopt: no worker is the root cause, so only a rule for
  // any failure counts it.
  bool counts(const std::optional<ExitStatus>& status) const;
};

struct RestartDelay {
  static constexpr Duration kMost = std::chrono::seconds(30);
  Duration first{};  // before a restart after a healthy attempt
  Duration most = kMost;

  // Parses "D" or "D:MAX".
  static Result<RestartDelay> parse(std::string_view text);
};

// When a host is excluded because attempts have failed on it.
struct ExcludeOptions {
  std::uint32_t after = 0;              // number of failures; 0: never
  std::optional<Duration> within{};     // only failures within this time count; nullopt: all
  std::optional<Duration> cool_down{};  // how long it is excluded; nullopt: for good
  // The time doubles each time that the host is excluded again, up to this one; nullopt: it stays the same.
  std::optional<Duration> longest_cool_down{};
  std::string file{};  // names hosts not to be used; empty: none

  // Parses "K" or "K/D".
  Result<void> read_after(std::string_view text);
  // Parses "D" or "D:MAX".
  Result<void> read_cool_down(std::string_view text);
  // For the exclusion of that number, from 1 on; nullopt: for good.
  std::optional<Duration> cool_down_of(std::uint32_t number) const;
};

// Where the host list of a running job is read from repeatedly.
struct DiscoveryOptions {
  std::string script{};  // for sh, prints the hosts; empty: none
  enum class Watch : std::uint8_t { No, Yes } watch_hosts = Watch::No;
  std::string hostfile{};  // the file read with `watch_hosts`
  enum class Callers : std::uint8_t { AtStart, AnyTime } callers = Callers::AtStart;  // AnyTime: hosts may call later
  Duration interval = std::chrono::seconds(1);
  Duration wait = std::chrono::minutes(10);  // for enough hosts, at the start and before a restart
  // how long the list must be unchanged before the job grows; nullopt: no attempt ends to grow
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
  // Attempts in a row without progress; 0: any number; nothing: 2, of a job of which progress can be seen.
  std::optional<std::uint32_t> most_without_progress{};
  std::string progress_file;                  // whose change is progress; empty: none is looked at
  std::uint32_t spares = 0;                   // hosts, the last of the list, that have no workers at first
  std::optional<std::uint32_t> most_hosts{};  // with workers; those beyond are spares
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
