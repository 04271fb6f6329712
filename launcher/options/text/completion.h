// The output of --completion: a script for a shell that completes the options of sml-run. Pure; generated from the
// option table, so that it has every option.
#pragma once
#include <cstdint>
#include <string>

namespace sml {

enum class Shell : std::uint8_t { Bash, Zsh, Fish };

std::string completion_script(Shell shell);

}  // namespace sml
