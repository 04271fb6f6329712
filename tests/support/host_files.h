// Files of a host that are not there, by their paths.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "common/plan/program/host_files.h"

namespace sml::test {

inline plan::HostFiles files_of(const std::map<std::string, std::string>& files) {
  return {[files](const std::string& path, std::uint64_t offset, std::size_t size) {
            const auto found = files.find(path);
            if (found == files.end() || offset >= found->second.size()) return std::string();
            return found->second.substr(offset, size);
          },
          [files](const std::string& path) { return files.contains(path); },
          [files](std::string folder) {
            if (!folder.ends_with('/')) folder += '/';
            std::vector<std::string> out;
            for (const auto& [path, bytes] : files) {
              if (!path.starts_with(folder)) continue;
              const std::string rest = path.substr(folder.size());
              out.push_back(rest.substr(0, rest.find('/')));
            }
            return out;
          }};
}

}  // namespace sml::test
