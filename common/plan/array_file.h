// Array jobs: one run for each line of a file. Pure.
//
// Line i of the file belongs to index i (counted from the base). A line has as many fields as there are names, with
// commas between them; blanks around a field do not count, nothing is quoted. Empty lines at the end of the file do not
// count.
// Sources of the index: AWS Batch user guide, "Array jobs"; Slurm, sbatch(1) --array; PBS Professional and TORQUE,
// qsub(1) -J and -t; Grid Engine, qsub(1) -t; LSF, bsub(1) -J; Kubernetes, "Indexed Job".
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/worker_env.h"

namespace sml::plan {

inline constexpr std::size_t kMaxArrayFileBytes = std::size_t{16} << 20;
inline constexpr std::uint32_t kMaxArrayIndex = 1'000'000'000;

// "A,B" → {"A", "B"}. Errors (Usage) quote the name: not a variable's, given twice, or one that workers get from us.
Result<std::vector<std::string>> parse_array_names(std::string_view text);

struct ArrayFile {
  std::string path;
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> lines;  // the fields of each; as many as there are names
};

// Errors (Config) name the path and the line, never the text: a line without fields, with more or fewer fields than
// names, with a NUL byte; no line at all; more than kMaxArrayFileBytes.
Result<ArrayFile> parse_array_file(std::string_view text, std::string_view path, std::vector<std::string> names);

// Which line is ours, as a batch system or the user says it.
struct ArrayIndex {
  std::uint32_t value = 0;
  std::uint32_t base = 0;  // the index of the first line
  std::string source;      // the variable's or option's name
};

// From the first of these that is set: AWS_BATCH_JOB_ARRAY_INDEX, SLURM_ARRAY_TASK_ID, PBS_ARRAY_INDEX, PBS_ARRAYID,
// SGE_TASK_ID, LSB_JOBINDEX, JOB_COMPLETION_INDEX. The base is 1 for SGE and LSF, whose arrays cannot hold 0, else 0.
// What those two say outside an array ("undefined", 0) counts as not set. Nothing when none is set; Config for a value
// that is no index.
Result<std::optional<ArrayIndex>> find_array_index(std::span<const std::string> environment);

// One index of the array.
struct ArrayTask {
  std::uint32_t index = 0;
  std::size_t line = 0;  // in the file, from 1
  std::vector<std::string> values;
};

// Error (Config) names the file, its number of lines and the source of the index when the file has no such line.
Result<ArrayTask> find_task(const ArrayFile& file, const ArrayIndex& index);

// All of them, in the order of the file.
std::vector<ArrayTask> all_tasks(const ArrayFile& file, std::uint32_t base);

// A=..., B=..., SML_ARRAY_INDEX=...
Environment array_environment(std::span<const std::string> names, const ArrayTask& task);

// `text` with {array_index} and {A} replaced for every name; all else in braces stays. What has been put in is not
// looked at again.
std::string fill_in(std::string_view text, std::span<const std::string> names, const ArrayTask& task);

}  // namespace sml::plan
