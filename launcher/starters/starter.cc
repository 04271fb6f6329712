#include "launcher/starters/starter.h"

#include <algorithm>
#include <utility>

#include "common/core/text.h"
#include "common/plan/environment/worker_env.h"

namespace sml::starters {

bool stands_for(Names names, std::string_view variable) {
  return std::any_of(names.begin(), names.end(), [variable](std::string_view name) {
    if (!name.ends_with('*')) return name == variable;
    return variable.starts_with(name.substr(0, name.size() - 1));
  });
}

bool agents_call(const Starter& starter, std::size_t hosts) {
  return starter.step.arguments != nullptr && hosts >= starter.step.least_hosts;
}

std::vector<std::string> environment_of_tool(const Starter& starter, Environment environment) {
  std::vector<std::string> out;
  for (const std::string& entry : environment) {
    if (!stands_for(starter.not_for_tool, plan::name_of(entry))) out.push_back(entry);
  }
  return out;
}

std::string clause_for(std::span<const KnownWords> known, std::string_view errors) {
  for (const KnownWords& words : known) {
    if (errors.find(words.part) != std::string_view::npos) return std::string(words.clause);
  }
  return last_line(errors);
}

std::string account_of(const Starter& starter, std::string_view errors) {
  return starter.account != nullptr ? starter.account(errors) : last_line(errors);
}

std::string last_line(std::string_view errors) {
  errors = trim(errors);
  const std::size_t line = errors.rfind('\n');
  return std::string(trim(line == std::string_view::npos ? errors : errors.substr(line + 1)));
}

std::vector<std::string> without_shell(std::vector<std::string> words, const std::string& script) {
  words.insert(words.end(), {"/bin/sh", "-c", script});
  return words;
}

}  // namespace sml::starters
