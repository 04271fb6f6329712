// The rows of sml-run top: which ranks are shown, in which order, and which are folded into one row. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/clock.h"
#include "common/core/error.h"

namespace sml::top {

struct RankState {
  std::string host{};
  std::string state{};   // a word of sml-run status
  std::string status{};  // how it ended, in words; empty: it has not
  std::int64_t pid = 0;  // 0: not known
  std::uint64_t output_bytes = 0;
  std::optional<double> silent_s{};       // since its last output; nullopt: not known
  std::optional<double> cpu_percent{};    // of one core; nullopt: not known
  std::optional<std::uint64_t> memory{};  // bytes; nullopt: not known
  double output_rate = 0;                 // bytes a second between two answers; see add_rates()
  bool is_odd = false;                    // differs from most others; see mark_odd()
};

struct HostState {
  std::string name{};
  std::string state{};
  std::string detail{};                // more about the state, in words
  std::string ranks{};                 // "0-3,7"
  std::uint64_t memory_used = 0;       // bytes
  std::uint64_t memory_size = 0;       // bytes; 0: not known
  std::vector<double> busy_percent{};  // one for each of its accelerators
};

// The answer of a job to sml-run status, at one moment.
struct Snapshot {
  std::string id{};
  std::string state{};
  std::string command{};
  double age_s = 0;
  std::uint32_t attempt = 1;
  std::optional<double> goodput{};  // from 0 to 1; nullopt: not known
  std::vector<HostState> hosts{};
  std::vector<RankState> ranks{};  // by rank
};

// Parses the JSON of sml-run status. Error (Protocol): it is no JSON object. Fields that are not there stay empty.
Result<Snapshot> read_snapshot(std::string_view json);

// Fills in output_rate from an earlier snapshot, which is `elapsed` older. Does nothing if that is of another attempt.
void add_rates(Snapshot& now, const Snapshot& before, Duration elapsed);

// Sets is_odd of ranks that have failed or are lost, of ranks whose state is not the most frequent one, and of running
// ranks that are silent much longer, or use much less CPU or much more memory, than the median rank.
void mark_odd(Snapshot& now);

enum class Order : std::uint8_t { OddFirst, Rank, Cpu, Memory, Silence, Output };
std::string_view name(Order order);

// A row of the table: one rank, or several ranks that are folded into one row because their state is the same.
struct Row {
  std::vector<std::size_t> ranks;  // one or more
  bool is_folded() const { return ranks.size() > 1; }
};

// All ranks in that order, equal ones by number. If that gives more than `most` rows, the ranks that are not odd are
// folded: by state and host if that gives at most `most` rows, else by state alone. Odd ranks always have their own
// rows, so there may be more than `most`.
std::vector<Row> rows_of(const Snapshot& job, Order order, std::size_t most);

// The numbers, in ascending order, as a text such as "0-3,7".
std::string numbers_text(const std::vector<std::size_t>& ranks);

}  // namespace sml::top
