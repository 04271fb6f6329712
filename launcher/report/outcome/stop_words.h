// Messages to a user who stops a job. Pure.
#pragma once
#include <string>

namespace sml::report {

// How to end the grace early, as a part of a sentence: "press Ctrl-C again, ...". See launcher/os/stop_rule.h.
std::string how_to_insist(int signo);

}  // namespace sml::report
