// --hang-report: a folder that keeps all that is known of the ranks whenever a report of them is printed.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/os/fd.h"
#include "launcher/report/hang_report.h"

namespace sml::run {

class HangFolder {
 public:
  static constexpr unsigned kMost = 1000;  // reports in it, those of earlier jobs included

  // Keeps nothing.
  HangFolder() = default;
  // Made if it is not there, for its owner alone. Error (Usage) naming the option: it cannot be, or nothing can be made
  // in it.
  static Result<HangFolder> open(const std::string& path);

  bool keeps() const { return static_cast<bool>(folder_); }

  struct Report {
    const std::vector<std::string>& table;  // lines
    std::string json;
    const report::Traces& traces;
    const std::vector<report::Recording>& recordings;
    std::uint32_t world_size = 1;
  };
  // In a new folder, 1, 2, ..., below: table.txt, ranks.json, rank.R.txt for each rank, and what was recorded of it,
  // nccl_trace_rank_R or torch_trace_rank_R.json. Its path; empty: nothing is kept. Error (Io) says what is in the way;
  // what has been written by then stays.
  Result<std::string> keep(const Report& report) const;

 private:
  Result<os::UniqueFd> make_next(std::string& path) const;

  std::string path_;
  os::UniqueFd folder_;  // O_PATH; empty: nothing is kept
};

}  // namespace sml::run
