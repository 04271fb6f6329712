// Messages to people who stop a job. Pure.
#pragma once
#include <string>

namespace sml::report {

// How the grace is cut short, as common/supervise/stop_rule.h has it: a clause.
std::string how_to_insist(int signo);

}  // namespace sml::report
