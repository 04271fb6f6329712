// Lists of folders in which this host looks for libraries and packages of a program. add_folder() keeps to absolute
// paths, without duplicates, 64 at most, and leaves out others without a word; that there are such folders is not
// checked. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace sml::plan {

using Folders = std::vector<std::string>;

void add_folder(Folders& to, const std::string& folder);

// Adds the folders of a list in the form of PATH.
void add_folders(Folders& to, std::string_view list);

// The folder of a file: the part of the path before the last "/"; all of it if there is none.
std::string folder_of(const std::string& path);

}  // namespace sml::plan
