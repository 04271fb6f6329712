#include "launcher/report/outcome/last_lines.h"

#include <algorithm>

namespace sml::report {

void LastLines::add(std::string_view bytes) {
  if (bytes.size() > kBytes) bytes.remove_prefix(bytes.size() - kBytes);
  text_ += bytes;
  if (text_.size() > 2 * kBytes) text_.erase(0, text_.size() - kBytes);
}

std::vector<std::string> LastLines::lines() const {
  std::vector<std::string> out;
  std::string_view rest = text_;
  if (rest.size() > kBytes) rest.remove_prefix(rest.size() - kBytes);
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find_first_of("\r\n"));
    if (!line.empty()) out.emplace_back(line);
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  if (out.size() > kLines) out.erase(out.begin(), out.end() - static_cast<std::ptrdiff_t>(kLines));
  return out;
}

}  // namespace sml::report
