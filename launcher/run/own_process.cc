#include "launcher/run/own_process.h"

#include <csignal>

namespace sml::run {

void SystemProcess::stop() { ::raise(SIGSTOP); }

}  // namespace sml::run
