// When a job that has failed is tried again, and when not any more. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/exit_status.h"
#include "common/plan/regroup.h"

namespace sml {

// So many failures of a kind within a time are enough.
struct GiveUpRule {
  static constexpr std::uint32_t kMostFailures = 1'000'000;

  struct Codes {
    int first = 0;
    int last = 0;
  };
  std::string text;  // as it was written
  std::uint32_t failures = 1;
  std::optional<Duration> within;  // nothing: of the whole job
  // It says how many failures of its kind are too many.
  bool allows_some() const { return failures > 1; }
  // Both empty: any failure.
  std::vector<Codes> codes;
  std::vector<int> signals;

  // "5/60s:1,101-103,SIGSEGV" in the grammar of the manual; several with ";" between them. Error (Usage): what was
  // expected, and where.
  static Result<std::vector<GiveUpRule>> parse(std::string_view text);
  // Whether a worker that ended so is one of these; nothing: it was no worker that failed.
  bool counts(const std::optional<ExitStatus>& status) const;
};

struct RestartDelay {
  static constexpr Duration kMost = std::chrono::seconds(30);
  Duration first{};  // before a restart when the attempt had been healthy
  Duration most = kMost;

  // "D" or "D:MAX".
  static Result<RestartDelay> parse(std::string_view text);
};

// When a host is out on which attempts have failed.
struct ExcludeOptions {
  std::uint32_t after = 0;              // failures; 0: never
  std::optional<Duration> within{};     // only those of so long count; nothing: all
  std::optional<Duration> cool_down{};  // how long it is out; nothing: for good
  std::string file{};                   // that names hosts which are not to be used; empty: none

  // "K" or "K/D".
  Result<void> read_after(std::string_view text);
};

// Where the hosts of a job that runs are read from, again and again.
struct DiscoveryOptions {
  std::string script{};  // for sh, prints them; empty: none
  enum class Watch : std::uint8_t { No, Yes } watch_hosts = Watch::No;
  std::string hostfile{};                                                             // that is watched then
  enum class Callers : std::uint8_t { AtStart, AnyTime } callers = Callers::AtStart;  // hosts that call may come later
  Duration interval = std::chrono::seconds(1);
  Duration wait = std::chrono::minutes(10);  // for enough hosts, at the start and before a restart
  std::optional<Duration> grow_after{};      // the list has been the same for so long; nothing: no attempt ends to grow
  std::optional<std::uint32_t> most_ranks{};      // nothing: one for each slot
  std::optional<std::uint32_t> slots{};           // of a host that names none; nothing: as the first has
  std::optional<std::uint32_t> ranks_per_host{};  // of hosts that come; nothing: one for each slot

  bool watches() const { return watch_hosts == Watch::Yes; }
  bool is_on() const { return !script.empty() || watches() || callers == Callers::AnyTime; }
};

// Whose workers may outlive each other within an attempt.
enum class Elastic : std::uint8_t { None, Horovod };

struct RestartOptions {
  std::uint32_t max = 0;           // restarts, of the whole job
  std::optional<Duration> window;  // only those of so long count; nothing: all
  RestartDelay delay;
  std::vector<GiveUpRule> give_up;
  // Attempts in a row without progress; 0: any number; nothing: 2, of a job of which progress can be seen.
  std::optional<std::uint32_t> most_fruitless{};
  std::string progress_file;                  // whose change is progress; empty: none is looked at
  std::uint32_t spares = 0;                   // hosts, the last of the list, that have no workers at first
  std::optional<std::uint32_t> most_hosts{};  // with workers; those beyond are spares
  ExcludeOptions exclude{};
  std::string health_check{};  // a command that exits with 0 on hosts that are well; empty: none
  DiscoveryOptions discovery{};
  Elastic elastic = Elastic::None;
  plan::LeastSize least{};  // that the job may shrink to when hosts are lost

  // A lost host need not be the end of the job.
  bool outlives_hosts() const {
    return max > 0 && (spares > 0 || most_hosts || least.may_shrink() || discovery.is_on());
  }
};

}  // namespace sml
