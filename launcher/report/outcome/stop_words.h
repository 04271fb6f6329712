// Messages to a user who stops a job. Pure.
#pragma once
#include <string>

namespace sml::report {

// A clause: how to end the grace period early, see launcher/os/stop_rule.h.
std::string how_to_insist(int signo);

}  // namespace sml::report
