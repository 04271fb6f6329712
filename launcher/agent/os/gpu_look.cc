#include "launcher/agent/os/gpu_look.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "common/core/text.h"

namespace sml::os {

namespace {

constexpr std::uint32_t kBusiest = 100;
constexpr int kShareOfTime = 100;  // questions take one part in so many

std::optional<std::uint64_t> bytes_of(std::string_view mebibytes) {
  const auto number = parse_number<std::uint32_t>(trim(mebibytes));
  return number ? std::optional(std::uint64_t{*number} << 20) : std::nullopt;
}

std::optional<AcceleratorUse> parse_device(std::string_view line) {
  const std::vector<std::string_view> fields = split(line, ',');
  if (fields.size() != 4) return std::nullopt;
  const auto index = parse_number<std::uint32_t>(trim(fields[0]));
  const auto busy = parse_number<std::uint32_t>(trim(fields[1]));
  if (!index || !busy) return std::nullopt;
  AcceleratorUse out{.name = "gpu" + std::to_string(*index),
                     .busy_percent = static_cast<std::uint8_t>(std::min(*busy, kBusiest))};
  const std::optional<std::uint64_t> used = bytes_of(fields[2]);
  const std::optional<std::uint64_t> total = bytes_of(fields[3]);
  if (!used || !total) return out;
  out.memory_used = std::min(*used, *total);
  out.memory_total = *total;
  return out;
}

}  // namespace

std::vector<std::string> gpu_question(const std::string& file) {
  return {file, "--query-gpu=index,utilization.gpu,memory.used,memory.total", "--format=csv,noheader,nounits"};
}

std::vector<AcceleratorUse> parse_gpu_listing(std::string_view listing) {
  std::vector<AcceleratorUse> out;
  while (listing.find('\n') != std::string_view::npos && out.size() < kMostAccelerators) {
    if (auto device = parse_device(take_until(listing, '\n'))) out.push_back(std::move(*device));
  }
  return out;
}

Duration gpu_interval(Duration took) {
  return std::clamp<Duration>(took * kShareOfTime, std::chrono::seconds(1), std::chrono::seconds(30));
}

}  // namespace sml::os
