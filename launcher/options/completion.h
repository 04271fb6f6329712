// What --completion prints: a script that makes a shell complete the options of sml-run. Pure; made of the table of
// options, so that it cannot lack one.
#pragma once
#include <cstdint>
#include <string>

namespace sml {

enum class Shell : std::uint8_t { Bash, Zsh, Fish };

std::string completion_script(Shell shell);

}  // namespace sml
