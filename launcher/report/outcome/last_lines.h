// Keeps the end of a worker's stderr for the report. Pure; bounded.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sml::report {

class LastLines {
 public:
  static constexpr std::size_t kLines = 20;
  static constexpr std::size_t kBytes = 4096;  // kept at most; a longer line loses its beginning

  void add(std::string_view bytes);
  // At most kLines, oldest first, without line ends or empty lines.
  std::vector<std::string> lines() const;

 private:
  std::string text_;
};

}  // namespace sml::report
