#include "launcher/settle.h"

#include <utility>
#include <vector>

#include "launcher/inputs/stop_grace.h"
#include "launcher/options/app_file.h"
#include "launcher/options/array_line.h"
#include "launcher/sagemaker/sources.h"

namespace sml {

namespace {

using Warn = std::function<void(const std::string&)>;

void warn_all(const std::vector<std::string>& warnings, const Warn& warn) {
  for (const std::string& warning : warnings) warn(warning);
}

Result<void> settle_training(Options& options, Training& training, HostFinder& finder, const Machine& machine,
                             const Warn& warn) {
  const Result<std::vector<std::string>> fetched = fetch_sources(options, machine);
  if (!fetched) return fetched.error();
  warn_all(*fetched, warn);
  Result<Training> prepared = prepare_training(options, machine, finder);
  if (!prepared) return prepared.error();
  training = std::move(*prepared);
  warn_all(training.warnings, warn);
  return {};
}

}  // namespace

ReadFile reader_of_objects(const Machine& machine) {
  return [&machine](const std::string& path, std::size_t limit) { return read_file_or_object(path, limit, machine); };
}

Result<void> settle_options(Options& options, Training& training, HostFinder& finder, const Machine& machine,
                            const std::function<void(const std::string&)>& warn) {
  choose_failure_file(options, machine);
  if (Result<void> removed = remove_old_failure(options, machine); !removed) warn(removed.error().message());
  choose_start_timeout(options, finder);
  warn_all(choose_stop_grace(options, machine, finder), warn);
  if (Result<void> read = read_app_file(options, machine.read_file); !read) return read;
  const Result<void> taken = take_array_line(options, machine.environment, reader_of_objects(machine));
  if (!taken) return taken;
  if (options.mode != Mode::Train) return {};
  return settle_training(options, training, finder, machine, warn);
}

}  // namespace sml
