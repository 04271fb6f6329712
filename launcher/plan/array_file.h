// Array jobs: one run for each line of a file. Pure.
//
// Line i of the file belongs to index i (counted from the base). A line has as many fields as there are names,
// separated by commas. Blanks around a field are ignored, and there is no quoting. Empty lines at the end of the file
// are ignored.
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
#include "common/plan/environment/worker_env.h"

namespace sml::plan {

inline constexpr std::size_t kMaxArrayFileBytes = std::size_t{16} << 20;
inline constexpr std::uint32_t kMaxArrayIndex = 1'000'000'000;

// "A,B" → {"A", "B"}. Error (Usage), which quotes the name: it is no variable name, is given twice, or is one that
// sml-run sets for workers.
Result<std::vector<std::string>> parse_array_names(std::string_view text);

struct ArrayFile {
  std::string path;
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> lines;  // the fields of each line, as many as there are names
};

// Error (Config): the file is empty or has more than kMaxArrayFileBytes, a line before the last one with text is empty,
// a line has more or fewer fields than there are names, or there is a NUL byte. The error names the path and, if one
// line is wrong, its number, but never shows the text.
Result<ArrayFile> parse_array_file(std::string_view text, std::string_view path, std::vector<std::string> names);

// The index of this run, as a batch system or the user gives it.
struct ArrayIndex {
  std::uint32_t value = 0;
  std::uint32_t base = 0;  // the index of the first line
  std::string source;      // the name of the variable or option
};

// Reads the first of these variables that is set: AWS_BATCH_JOB_ARRAY_INDEX, SLURM_ARRAY_TASK_ID, PBS_ARRAY_INDEX,
// PBS_ARRAYID, SGE_TASK_ID, LSB_JOBINDEX, JOB_COMPLETION_INDEX. The base is 1 for SGE and LSF, whose arrays cannot hold
// 0, otherwise 0. The values of these two outside an array ("undefined", 0) and empty values count as not set. Returns
// nullopt if none is set, and an error (Config) for a value that is no index.
Result<std::optional<ArrayIndex>> find_array_index(std::span<const std::string> environment);

// The task for one index of the array.
struct ArrayTask {
  std::uint32_t index = 0;
  std::size_t line = 0;  // in the file, from 1
  std::vector<std::string> values;
};

// Error (Config) if the file has no line for the index; it names the file, its number of lines and the source of the
// index.
Result<ArrayTask> find_task(const ArrayFile& file, const ArrayIndex& index);

// A=..., B=..., SML_ARRAY_INDEX=...
Environment array_environment(std::span<const std::string> names, const ArrayTask& task);

// Returns `text` with {array_index} and each {NAME} replaced by its value; other text in braces stays. Inserted values
// are not searched for placeholders again.
std::string fill_in(std::string_view text, std::span<const std::string> names, const ArrayTask& task);

}  // namespace sml::plan
