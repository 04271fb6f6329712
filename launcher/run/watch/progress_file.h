// --progress-file: detects whether a file was written, or created, since an attempt began. It may be on a shared
// filesystem.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace sml::run {

class ProgressFile {
 public:
  // An empty path: no file is watched.
  explicit ProgressFile(std::string path) : path_(std::move(path)) {}

  // To be called when an attempt begins.
  void begin() { before_ = look(); }
  // Whether the file exists and has changed since begin(); nullopt if no file is watched. Blocks while the file system
  // does.
  std::optional<bool> touched() const;

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
