// --hang-report: a folder that receives all details of the ranks whenever a report of where they are is printed.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/os/fd.h"
#include "launcher/report/hosts/hang_report.h"

namespace sml::run {

class HangFolder {
 public:
  static constexpr unsigned kMost = 1000;  // reports in the folder, including those of earlier jobs

  // Keeps no reports.
  HangFolder() = default;
  // Creates the folder if it does not exist, accessible to its owner only. An empty `path`: no reports are kept. Error
  // (Usage), with the name of the option: the folder cannot be made, or it is not writable.
  static Result<HangFolder> open(const std::string& path);

  bool keeps() const { return static_cast<bool>(folder_); }

  // One report; refers to data of the caller, which does not change meanwhile.
  struct Report {
    const std::vector<std::string>& table;  // the printed lines
    std::string json;                       // of report::hang_json()
    const report::Traces& traces;
    const std::vector<report::Recording>& recordings;
    std::uint32_t world_size = 1;
  };
  // Writes into a new subfolder, 1, 2, ...: table.txt, ranks.json, rank.R.txt for each rank, and its recording by
  // torch's flight recorder, if there is one, as nccl_trace_rank_R or torch_trace_rank_R.json. Returns the subfolder's
  // path; empty if no reports are kept. Blocks for as long as the file system takes. Error (Io): there are kMost
  // reports already, or a file cannot be written; files written before it stay.
  Result<std::string> keep(const Report& report) const;

 private:
  Result<os::UniqueFd> make_next(std::string& path) const;  // sets `path` to that of the new subfolder

  std::string path_;
  os::UniqueFd folder_;  // O_PATH; empty: no reports are kept
};

}  // namespace sml::run
