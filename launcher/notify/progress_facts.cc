#include "launcher/notify/progress_facts.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

namespace sml::notify {

namespace {

using Json = nlohmann::ordered_json;

std::string ratio_text(double ratio) { return fmt::format("{:.3f}", std::clamp(ratio, 0.0, 1.0)); }

}  // namespace

std::optional<unsigned> percentage(const ProgressFacts& facts) {
  constexpr double kWhole = 100;
  constexpr unsigned kMostWhileItRuns = 99;
  if (facts.job == ProgressFacts::Job::Succeeded) return 100;
  if (!facts.step || !facts.total || *facts.total == 0) return std::nullopt;
  const double share = kWhole * static_cast<double>(*facts.step) / static_cast<double>(*facts.total);
  return std::min(static_cast<unsigned>(std::min(share, kWhole)), kMostWhileItRuns);
}

std::string to_trainer_status(const ProgressFacts& facts, double unix_time) {
  Json status;
  if (const std::optional<unsigned> percent = percentage(facts)) status["progressPercentage"] = *percent;
  if (facts.job == ProgressFacts::Job::Succeeded) {
    status["estimatedRemainingSeconds"] = 0;
  } else if (facts.job == ProgressFacts::Job::Runs && facts.remaining) {
    status["estimatedRemainingSeconds"] = std::llround(std::ceil(in_seconds(*facts.remaining)));
  }
  Json metrics = Json::array();
  const auto add = [&](std::string_view name, const std::string& value) {
    metrics.push_back({{"name", name}, {"value", value}});
  };
  if (facts.step) add("step", std::to_string(*facts.step));
  if (facts.total) add("total_steps", std::to_string(*facts.total));
  add("goodput_ratio", ratio_text(facts.goodput));
  add("attempt", std::to_string(facts.attempt));
  status["metrics"] = std::move(metrics);
  status["lastUpdatedTime"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(unix_time)));
  return Json{{"trainerStatus", std::move(status)}}.dump();
}

std::string to_metric_line(const ProgressFacts& facts) {
  std::string out = "progress:";
  if (facts.step) out += fmt::format(" sml_run_progress_step={};", *facts.step);
  if (const std::optional<unsigned> percent = percentage(facts))
    out += fmt::format(" sml_run_progress_percent={};", *percent);
  return out + fmt::format(" sml_run_goodput_ratio={}; sml_run_attempts={};", ratio_text(facts.goodput), facts.attempt);
}

}  // namespace sml::notify
