// Finds the script that an interpreter is given. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sml::plan {

enum class ScriptPlace : std::uint8_t {
  Folder,       // a relative name is searched in the working directory
  FolderOrPath  // ... and then in PATH, as shells do
};

struct Script {
  std::string path;  // empty: there is none, or it cannot be determined
  ScriptPlace place = ScriptPlace::Folder;
};

// Finds the script in a command line such as `python3 -u train.py --lr 1`, `bash -e run.sh` or `perl x.pl`. The path is
// empty for `-c`, `-m`, standard input, a device, and options that are not known here.
Script script_of(std::span<const std::string> command);

}  // namespace sml::plan
