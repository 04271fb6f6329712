#include "launcher/options/array_line.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "common/core/text.h"

namespace sml {

namespace {

Result<plan::ArrayIndex> index_of_run(const Options& options, const plan::Environment& environment) {
  if (options.array.index) {
    return plan::ArrayIndex{*options.array.index, options.array.base.value_or(0), "--array-index"};
  }
  Result<std::optional<plan::ArrayIndex>> found = plan::find_array_index(environment);
  if (!found) return found.error();
  if (*found) {
    (*found)->base = options.array.base.value_or((*found)->base);
    return **found;
  }
  return Error(ErrorKind::Config,
               "--array-file: no array index; AWS_BATCH_JOB_ARRAY_INDEX or that of another batch "
               "system is not set")
      .with_hint("--array-index I names the line");
}

Result<plan::ArrayFile> read_array_file(const Options& options, const ReadFile& read_file) {
  const std::string& path = options.array.file;
  const Result<std::string> text = read_file(path, plan::kMaxArrayFileBytes);
  if (!text) return Error(ErrorKind::Config, fmt::format("--array-file {}: {}", show(path), text.error().message()));
  return plan::parse_array_file(*text, path, options.array.names);
}

}  // namespace

Result<void> take_array_line(Options& options, const plan::Environment& environment, const ReadFile& read_file) {
  if (options.array.file.empty()) return {};
  const Result<plan::ArrayIndex> index = index_of_run(options, environment);
  if (!index) return index.error();
  const Result<plan::ArrayFile> file = read_array_file(options, read_file);
  if (!file) return file.error();
  const Result<plan::ArrayTask> task = plan::find_task(*file, *index);
  if (!task) return task.error();
  const auto fill = [&](std::string& text) { text = plan::fill_in(text, file->names, *task); };
  const auto fill_program = [&](ProgramOptions& program) {
    for (std::string& word : program.command) fill(word);
    for (std::string& word : program.export_variables) fill(word);
    fill(program.working_directory);
  };
  fill_program(options);
  for (ProgramOptions& program : options.more_programs) fill_program(program);
  fill(options.report_file);
  fill(options.events_file);
  options.extra_variables = plan::array_environment(file->names, *task);
  return {};
}

}  // namespace sml
