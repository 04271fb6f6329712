// Environments: lists of "NAME=VALUE" byte strings. Values may contain any byte but NUL. Pure.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sml::plan {

using Environment = std::vector<std::string>;

std::string_view name_of(std::string_view entry);   // "A=b" → "A"
std::string_view value_of(std::string_view entry);  // "A=b" → "b"; empty without '='

// The last entry with this name, which is the one that counts; nullptr if there is none.
const std::string* find_variable(std::span<const std::string> environment, std::string_view name);

// The value of this variable; "" if it is not set.
std::string_view variable(std::span<const std::string> environment, std::string_view name);

}  // namespace sml::plan
