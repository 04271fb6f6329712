// --progress-file: whether a file has been written, or made, since an attempt began. It may be on a shared filesystem.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace sml::run {

class ProgressFile {
 public:
  // Empty: none is looked at.
  explicit ProgressFile(std::string path) : path_(std::move(path)) {}

  // An attempt begins.
  void begin() { before_ = look(); }
  // Since then; nothing where none is looked at.
  std::optional<bool> touched() const;

 private:
  // What changes when somebody writes it; zeros where it is not there.
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
