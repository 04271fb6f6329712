// A container of SageMaker's made of values.
#pragma once
#include <map>
#include <string>

#include "launcher/sagemaker/contract.h"

namespace sml::test {

// A folder is there when a file below it is.
struct FakeContainer {
  std::map<std::string, std::string> files;

  FileAccess view() const {
    return {.read = [this](const std::string& path, std::size_t) -> Result<std::string> {
              const auto found = files.find(path);
              if (found == files.end()) return Error(ErrorKind::Config, "no such file or directory");
              return found->second;
            },
            .exists =
                [this](const std::string& path) {
                  if (files.count(path) > 0) return true;
                  const auto below = files.lower_bound(path + "/");
                  return below != files.end() && below->first.starts_with(path + "/");
                }};
  }
  void config(const std::string& name, std::string text) { files["/opt/ml/input/config/" + name] = std::move(text); }
};

}  // namespace sml::test
