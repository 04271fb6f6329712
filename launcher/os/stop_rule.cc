#include "launcher/os/stop_rule.h"

#include <algorithm>
#include <utility>

namespace sml::os {

StopEffect StopRule::heed(std::string_view sender, int signo, TimePoint now) {
  const bool begins = firsts_.empty();
  const bool is_echo = now - std::exchange(last_, now) < kInsistAfter;
  const auto same = [&](const First& one) { return one.sender == sender && one.signo == signo; };
  const auto first = std::ranges::find_if(firsts_, same);
  if (first != firsts_.end()) return now - first->at < kInsistAfter ? StopEffect::Echoes : StopEffect::Insists;
  firsts_.push_back({std::string(sender), signo, now});
  if (begins) return StopEffect::Begins;
  return is_echo ? StopEffect::Echoes : StopEffect::Joins;
}

}  // namespace sml::os
