#include "launcher/agent/os/gpu_look.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace sml::os {

namespace {

constexpr std::uint64_t kBusiest = 100;
constexpr std::uint64_t kShareOfCore = 1000;  // queries take one part in so many
constexpr std::uint64_t kMostSeconds = 30;

// Takes a leading number off `text`.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return out;
}

// Takes the character `before` and a number off `text`.
std::optional<std::uint64_t> take_after(char before, std::string_view& text) {
  if (!text.starts_with(before)) return std::nullopt;
  text.remove_prefix(1);
  return take_number(text);
}

// ";0 87 1073741824 85899345920"
std::optional<AcceleratorUse> take_device(std::string_view& text) {
  const std::optional<std::uint64_t> index = take_after(';', text);
  const std::optional<std::uint64_t> busy = take_after(' ', text);
  const std::optional<std::uint64_t> used = take_after(' ', text);
  const std::optional<std::uint64_t> total = take_after(' ', text);
  if (!index || !busy || !used || !total) return std::nullopt;
  return AcceleratorUse{.name = "gpu" + std::to_string(*index),
                        .busy_percent = static_cast<std::uint8_t>(std::min(*busy, kBusiest)),
                        .memory_used = std::min(*used, *total),
                        .memory_total = *total};
}

}  // namespace

std::optional<GpuLook> parse_gpu_line(std::string_view line) {
  const std::optional<std::uint64_t> cost = take_number(line);
  if (!cost) return std::nullopt;
  GpuLook out{*cost, {}};
  while (!line.empty()) {
    std::optional<AcceleratorUse> device = take_device(line);
    if (!device || out.devices.size() == kMostAccelerators) return std::nullopt;
    out.devices.push_back(std::move(*device));
  }
  return out;
}

Duration gpu_interval(std::uint64_t cost_us) {
  const std::uint64_t most = kMostSeconds * 1'000'000 / kShareOfCore;
  const std::chrono::microseconds wait(std::min(cost_us, most) * kShareOfCore);
  return std::max<Duration>(std::chrono::seconds(1), wait);
}

}  // namespace sml::os
