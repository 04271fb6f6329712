// Access to the files of a machine; injected, so that tests need none.
#pragma once
#include <functional>
#include <string>

#include "common/core/error.h"

namespace sml {

struct FileAccess {
  // Returns a file's contents; more than `limit` bytes are an error.
  std::function<Result<std::string>(const std::string& path, std::size_t limit)> read;
  std::function<bool(const std::string& path)> exists;
  // Error if another user can change the file that the path names, see common/os/trust.h. Null: not checked.
  std::function<Result<void>(const std::string& path)> check_trust{};
};

}  // namespace sml
