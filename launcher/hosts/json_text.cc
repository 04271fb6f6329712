#include "launcher/hosts/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "common/core/text.h"
#include "common/core/text_cursor.h"

namespace sml::hosts {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxBytes = 1 << 20;
constexpr std::size_t kMaxDepth = 64;  // real files have only a few levels

// Describes the position of byte `at` (counted from 1, as the JSON parser does) for people.
std::string place(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at > 0 ? at - 1 : 0);
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  return fmt::format("line {}, column {}", line, before.size() - line_start + 1);
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view path) {
  if (text.size() > kMaxBytes) return file_error(path, "is larger than 1 MiB");
  bool too_deep = false;
  const auto guard = [&](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > static_cast<int>(kMaxDepth);
    return !too_deep;
  };
  try {
    Json json = Json::parse(text, guard);
    if (!too_deep) return json;
  } catch (const Json::parse_error& error) {
    if (!too_deep) return file_error(path, fmt::format("is not JSON ({})", place(text, error.byte)));
  } catch (const Json::exception&) {  // a number that is out of the range of double
    if (!too_deep) return file_error(path, "is not JSON that can be read (a number is out of range)");
  }
  return file_error(path, fmt::format("is nested deeper than {} levels", kMaxDepth));
}

}  // namespace sml::hosts
