// Which script an interpreter is given. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sml::plan {

enum class ScriptPlace : std::uint8_t {
  Folder,       // a relative name is looked for in the working directory
  FolderOrPath  // ... and then in PATH, as shells do
};

struct Script {
  std::string path;  // empty: there is none, or nobody can tell
  ScriptPlace place = ScriptPlace::Folder;
};

// Of a command line such as `python3 -u train.py --lr 1`, `bash -e run.sh` or `perl x.pl`; not for `-c`, `-m`, standard
// input, a device, or options whose meaning is not known here.
Script script_of(std::span<const std::string> command);

}  // namespace sml::plan
