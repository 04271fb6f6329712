// Computes the absolute paths of log files from a template for names below the folder of --log-dir. Makes no files.
#pragma once
#include <cstddef>
#include <string>
#include <utility>

#include "common/core/error.h"
#include "common/core/stream.h"
#include "common/core/strong.h"
#include "common/plan/launch_plan.h"
#include "launcher/output/log_layout.h"

namespace sml::run {

// The place of a stream in a list that has stdout and stderr of each rank.
constexpr std::size_t log_index(Rank rank, Stream stream) {
  return std::size_t{rank.value()} * 2 + (stream == Stream::Stderr ? 1 : 0);
}

// The plan must outlive this.
class LogPaths {
 public:
  // Error (Usage): `layout` is not a template.
  static Result<LogPaths> make(const std::string& directory, const std::string& layout, const plan::LaunchPlan& plan);

  std::string of(const plan::RankAssignment& rank, Stream stream) const;

 private:
  LogPaths(output::LogLayout layout, std::string folder, const plan::LaunchPlan& plan)
      : layout_(std::move(layout)), folder_(std::move(folder)), plan_(plan) {}

  output::LogLayout layout_;
  std::string folder_;  // ends with a slash
  const plan::LaunchPlan& plan_;
};

}  // namespace sml::run
