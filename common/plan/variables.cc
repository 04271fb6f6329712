#include "common/plan/variables.h"

#include <algorithm>

namespace sml::plan {

std::string_view name_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

std::string_view value_of(std::string_view entry) {
  const std::size_t equals = entry.find('=');
  return equals == std::string_view::npos ? std::string_view() : entry.substr(equals + 1);
}

const std::string* find_variable(std::span<const std::string> environment, std::string_view name) {
  const auto has_the_name = [name](const std::string& e) {
    return e.starts_with(name) && (e.size() == name.size() || e[name.size()] == '=');
  };
  const auto found = std::find_if(environment.rbegin(), environment.rend(), has_the_name);
  return found == environment.rend() ? nullptr : &*found;
}

std::string_view variable(std::span<const std::string> environment, std::string_view name) {
  const std::string* entry = find_variable(environment, name);
  return entry == nullptr ? std::string_view() : value_of(*entry);
}

}  // namespace sml::plan
