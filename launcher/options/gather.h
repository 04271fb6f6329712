// Collects the options of all layers: command line, variables and files, for sml-run's own options and for those of the
// launcher by whose name it is called.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "launcher/dialects/dialect.h"
#include "launcher/options/option_layers.h"
#include "launcher/options/scan.h"

namespace sml {

// Returns a file's contents; more than `limit` bytes are an error.
using ReadFile = std::function<Result<std::string>(const std::string& path, std::size_t limit)>;

// Sources of options other than the command line; injected, so that tests need none.
struct OptionSources {
  std::span<const std::string> environment = {};
  std::string_view called = {};  // argv[0]; if it is the name of another launcher, options mean what they mean there
  std::function<bool(const std::string& path)> exists = {};
  std::function<bool(const std::string& path)> executable = {};
  // Error: another user can change the file, see common/os/trust.h. Null: not checked.
  std::function<Result<void>(const std::string& path)> check_trust = {};
  ReadFile read_file = {};  // null: no files are read
  // Advice for a job whose hosts share no secret; returns an empty text, or is null, if they share one.
  std::function<std::string_view()> secret_advice = {};
};

// The options of `scanned`, in the form that dialects use; those from variables come first.
std::vector<dialects::SetOption> given_to(const Scan& scanned);

// Adds options from the other launcher's own variables and settings file to `scanned`, unless the command line
// overrides them.
Result<void> add_dialect_variables(dialects::Dialect dialect, const OptionSources& sources, Scan& scanned);

// The result of gather().
struct GatheredOptions {
  std::vector<OptionValue> options;  // of all layers
  std::vector<std::string> warnings;
};

// Collects the options of all layers, in ascending precedence: those of the command line are last. Error (Usage, or
// Config for a file): an option cannot be read.
Result<GatheredOptions> gather(dialects::Dialect dialect, const Scan& scanned, const OptionSources& sources);

// Warnings about options that name hosts but have no effect because another one takes precedence; each is a part of a
// sentence.
std::vector<std::string> idle_hosts(const std::vector<OptionValue>& given);

// Translates other launchers' options about hosts, once all sources that could name hosts are known: appends them to
// `given` as options of sml-run.
Result<void> settle_hosts(Scan& scanned, std::vector<OptionValue>& given, const OptionSources& sources);

}  // namespace sml
