#include "common/plan/program/folders.h"

#include <algorithm>

#include "common/core/text.h"

namespace sml::plan {

namespace {

constexpr std::size_t kMostFolders = 64;

}  // namespace

void add_folder(Folders& to, const std::string& folder) {
  if (!folder.starts_with('/') || to.size() >= kMostFolders) return;
  if (std::find(to.begin(), to.end(), folder) == to.end()) to.push_back(folder);
}

void add_folders(Folders& to, std::string_view list) {
  while (!list.empty()) add_folder(to, std::string(take_until(list, ':')));
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace sml::plan
