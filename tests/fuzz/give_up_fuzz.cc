// Any text as rules of --give-up and as a --restart-delay: what is taken has bounds and counts what it says.
#include <cstdint>
#include <string>
#include <string_view>

#include "launcher/options/restart_options.h"
#include "tests/fuzz/require.h"

using namespace sml;
using sml::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto rules = GiveUpRule::parse(text);
  if (!rules) require(!rules.error().message().empty());
  if (rules) require(!rules->empty());
  for (const GiveUpRule& rule : rules ? *rules : std::vector<GiveUpRule>()) {
    require(rule.failures >= 1 && rule.failures <= GiveUpRule::kMostFailures);
    require(!rule.within || *rule.within > Duration::zero());
    for (const GiveUpRule::Codes& codes : rule.codes) {
      require(codes.first >= 1 && codes.first <= codes.last && codes.last <= 255);
      require(rule.counts(ExitStatus(Exited{codes.first})) && rule.counts(ExitStatus(Exited{codes.last})));
    }
    for (const int signo : rule.signals) require(rule.counts(ExitStatus(Signaled{signo, false})));
    require(rule.counts(std::nullopt) == (rule.codes.empty() && rule.signals.empty()));
    const auto one = GiveUpRule::parse(rule.text);
    require(one && one->size() == 1 && one->front().failures == rule.failures);
  }
  if (const auto delay = RestartDelay::parse(text)) require(delay->first <= delay->most);
  return 0;
}
