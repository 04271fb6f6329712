// Lists of folders that a program looks through: absolute ones, each once, at most 64. Pure.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sml::plan {

using Folders = std::vector<std::string>;

void add_folder(Folders& to, const std::string& folder);

// Of a list as in PATH.
void add_folders(Folders& to, std::string_view list);

// That of a file: what is before the last /.
std::string folder_of(const std::string& path);

// The variable's value; empty where it is not set.
std::string value_in(std::span<const std::string> environment, std::string_view name);

}  // namespace sml::plan
