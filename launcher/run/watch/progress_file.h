// --progress-file: detects whether a file has been written, or created. It may be on a shared filesystem, and each call
// blocks while that does.
#pragma once
#include <cstdint>
#include <string>

namespace sml::run {

class ProgressFile {
 public:
  explicit ProgressFile(std::string path) : path_(std::move(path)) {}

  void begin() { before_ = look(); }
  // Whether the file exists and has changed since begin(), or since the last call that returned true.
  bool has_changed();

 private:
  // Attributes that change when the file is written; all zero if it does not exist.
  struct Stamp {
    std::int64_t changed_ns = 0;
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    bool operator==(const Stamp&) const = default;
  };
  Stamp look() const;

  std::string path_;
  Stamp before_;
};

}  // namespace sml::run
