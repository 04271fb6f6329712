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
  std::string status{};  // how it ended, in words
  std::int64_t pid = 0;
  std::uint64_t output_bytes = 0;
  std::optional<double> silent_s{};
  std::optional<double> cpu_percent{};
  std::optional<std::uint64_t> memory{};
  double output_rate = 0;  // bytes a second between two answers
  bool is_odd = false;     // differs from most others
};

struct HostState {
  std::string name{};
  std::string state{};
  std::string detail{};
  std::string ranks{};
  std::uint64_t memory_used = 0;
  std::uint64_t memory_size = 0;       // 0: not known
  std::vector<double> busy_percent{};  // of its accelerators
};

// The answer of a job to sml-run status, at one moment.
struct Snapshot {
  std::string id{};
  std::string state{};
  std::string command{};
  double age_s = 0;
  std::uint32_t attempt = 1;
  std::optional<double> goodput{};  // from 0 to 1
  std::vector<HostState> hosts{};
  std::vector<RankState> ranks{};
};

// Reads the JSON of sml-run status. Error (Protocol): it is something else. Fields that are not there stay empty.
Result<Snapshot> read_snapshot(std::string_view json);

// Fills in the rates since an earlier snapshot of the same attempt, `elapsed` before.
void add_rates(Snapshot& now, const Snapshot& before, Duration elapsed);

// Marks the ranks that differ from most: those that have failed or are lost, those whose state is not that of most, and
// those that run and are silent much longer, or use much less CPU or much more memory, than the middle one.
void mark_odd(Snapshot& now);

enum class Order : std::uint8_t { OddFirst, Rank, Cpu, Memory, Silence, Output };
std::string_view name(Order order);

// A rank, or ranks that are folded: alike in state, and in a row of the table where they are neighbours in number.
struct Row {
  std::vector<std::size_t> ranks;  // one or more
  bool is_folded() const { return ranks.size() > 1; }
};

// All ranks in that order, ties by number. Where they are more than `most` rows, those that are not odd are folded by
// state and, as far as there is room, by host; all in all at most `most` rows, unless more ranks are odd.
std::vector<Row> rows_of(const Snapshot& job, Order order, std::size_t most);

// "0-3,7"
std::string numbers_text(const std::vector<std::size_t>& ranks);

}  // namespace sml::top
