#include "launcher/plan/export_words.h"

#include <algorithm>
#include <utility>

#include "common/core/text.h"
#include "common/plan/environment/kept_back.h"
#include "common/plan/environment/secrets.h"
#include "launcher/plan/env_file.h"

namespace sml::plan {

namespace {

void add_warning(ExportedVariables& out, std::string warning) {
  const bool is_new = std::find(out.warnings.begin(), out.warnings.end(), warning) == out.warnings.end();
  if (is_new) out.warnings.push_back(std::move(warning));
}

void add_matching(std::string_view word, std::span<const std::string> environment, ExportedVariables& out) {
  const std::string_view prefix = word.substr(0, word.size() - 1);
  const std::size_t before = out.variables.size();
  for (const std::string& entry : environment) {
    const std::string_view name = name_of(entry);
    const bool is_wanted_function = prefix.starts_with("BASH_FUNC_") && names_bash_function(name);
    const bool travels =
        is_wanted_function || (valid_variable_name(name) && !bound_to_host(name) && !set_by_a_launcher(name));
    if (name.starts_with(prefix) && travels) out.variables.push_back(entry);
  }
  if (out.variables.size() == before) {
    add_warning(out, "-x '" + std::string(word) + "': no variable that can be passed begins so");
  }
}

void add_named(std::string_view name, std::span<const std::string> environment, ExportedVariables& out) {
  if (const std::string* entry = find_variable(environment, name)) {
    out.variables.push_back(*entry);
  } else {
    add_warning(out, "-x " + std::string(name) + ": not set in the launcher's environment, so not passed");
  }
}

void add_set(const std::string& word, ExportedVariables& out) {
  const std::string_view name = name_of(word);
  out.variables.push_back(word);
  if (!names_a_secret(name) && !holds_a_secret(word)) return;
  const std::string shown(name);
  add_warning(out, "-x " + shown +
                       "=...: every user of this machine can see the value in the list of processes; export " + shown +
                       " and write -x " + shown);
}

}  // namespace

Result<void> check_export_word(std::string_view word) {
  const std::size_t equals = word.find('=');
  std::string_view name = word.substr(0, equals);
  if (equals == std::string_view::npos && name.ends_with('*')) name.remove_suffix(1);
  if (valid_variable_name(name) || names_bash_function(name)) return {};
  if (word.find(',') < equals) {
    return Error(ErrorKind::Usage, "\"" + show(word, 60) + "\" is a list; write one -x for each variable");
  }
  return Error(ErrorKind::Usage, "\"" + show(word.substr(0, equals), 60) +
                                     "\" is no variable name; expected NAME, NAME=VALUE or PREFIX_*");
}

ExportedVariables resolve_export_words(std::span<const std::string> words,
                                       std::span<const std::string> launcher_environment) {
  ExportedVariables out;
  for (const std::string& word : words) {
    if (word.find('=') != std::string::npos) {
      add_set(word, out);
    } else if (word.ends_with('*')) {
      add_matching(word, launcher_environment, out);
    } else {
      add_named(word, launcher_environment, out);
    }
  }
  return out;
}

}  // namespace sml::plan
