// The progress of a job in the formats of two platforms: the body for Kubeflow's status server, and a line in which
// regular expressions find numbers. Pure.
//
// Sources: the TrainJob status server of Kubeflow Trainer (KEP-2779): POST of {"trainerStatus": {...}}; algorithm
// metrics of SageMaker: regular expressions over the lines of the container.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "common/core/clock.h"

namespace sml::notify {

struct ProgressFacts {
  enum class Job : std::uint8_t { Runs, Succeeded, Failed };
  Job job = Job::Runs;
  std::uint32_t attempt = 1;
  double goodput = 0;                    // 0 to 1
  std::optional<std::uint64_t> step{};   // the last one; nullopt: the job reports no numbers
  std::optional<std::uint64_t> total{};  // steps of the whole job; nullopt: not known
  std::optional<Duration> remaining{};   // until the last step; nullopt: not known
};

// 0 to 100; 100 only once the job has succeeded. Nullopt: not known.
std::optional<unsigned> percentage(const ProgressFacts& facts);

// The body for the status server. `unix_time`: now, in seconds. Facts that are not known are left out.
std::string to_trainer_status(const ProgressFacts& facts, double unix_time);

// The line, without facts that are not known:
// "progress: sml_run_progress_step=120; sml_run_progress_percent=12; sml_run_goodput_ratio=0.931; sml_run_attempts=2;"
std::string to_metric_line(const ProgressFacts& facts);

}  // namespace sml::notify
