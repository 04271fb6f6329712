// The options of all layers: of the command line, of variables and files, ours and those of the launcher by whose name
// we are called.
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

// A file's contents, at most `limit` bytes.
using ReadFile = std::function<Result<std::string>(const std::string& path, std::size_t limit)>;

// Where options come from beside the command line; injected so that tests need none.
struct OptionSources {
  std::span<const std::string> environment = {};
  std::string_view called = {};  // argv[0]: by the name of another launcher its options mean what they mean there
  std::function<bool(const std::string& path)> exists = {};
  std::function<bool(const std::string& path)> executable = {};
  ReadFile read_file = {};  // none: no --config
  // What to do where the hosts of a job share no secret; empty, or null: they do.
  std::function<std::string_view()> secret_advice = {};
};

// As dialects see options, those of variables first.
std::vector<dialects::Given> given_to(const Scan& scanned);

// Adds what the other launcher's own variables and file say, as far as the command line says nothing.
Result<void> add_dialect_variables(dialects::Dialect dialect, const OptionSources& around, Scan& scanned);

struct Given {
  std::vector<Occurrence> options;  // of all layers
  std::vector<std::string> warnings;
};

// In the order in which they have their say, the command line last.
Result<Given> gather(dialects::Dialect dialect, const Scan& scanned, const OptionSources& around);

// Clauses for the user who names hosts in more ways than count.
std::vector<std::string> idle_hosts(const std::vector<Occurrence>& given);

// What other launchers' options tell of the hosts, now that all is known that could name them: as options of ours at
// the end of `given`.
Result<void> settle_hosts(Scan& scanned, std::vector<Occurrence>& given, const OptionSources& around);

}  // namespace sml
