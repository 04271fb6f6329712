// The part of HTTP/1.1 that serves one document: GET /metrics, one request a connection. Pure; bounded.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "launcher/metrics/exposition.h"

namespace sml::metrics {

inline constexpr std::size_t kMostRequest = 8192;  // bytes up to the end of a request's header

// The whole response to a request that is refused.
struct Refusal {
  std::string response;
};
// Reads the request at the beginning of `bytes`: returns the format in which the client wants the metrics, or a
// refusal. nullopt: the end of the request's header has not come yet. Ignores bytes after the header.
std::optional<std::variant<Format, Refusal>> read_request(std::string_view bytes);

// The header of the response before `size` bytes of metrics.
std::string response_head(Format format, std::size_t size);

}  // namespace sml::metrics
