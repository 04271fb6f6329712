// Access to a host's files for pure code that determines what a program there would use.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/plan/program/elf_file.h"

namespace sml::plan {

struct HostFiles {
  ReadFileAt read;
  std::function<bool(const std::string& path)> is_file;
  std::function<std::vector<std::string>(const std::string& folder)> list;  // the names of the entries
};

struct CommandLine {
  std::string program;  // absolute
  std::span<const std::string> words{};
  std::string folder{};  // the working directory
};

}  // namespace sml::plan
