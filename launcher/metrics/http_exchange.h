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

// A request that is refused, with the whole response to it.
struct Refusal {
  std::string response;
};
// The format in which the metrics are wanted, or a refusal. nullopt: the request has not ended yet. Bytes after its
// header are not looked at.
std::optional<std::variant<Format, Refusal>> read_request(std::string_view bytes);

// The header before `size` bytes of metrics.
std::string response_head(Format format, std::size_t size);

}  // namespace sml::metrics
