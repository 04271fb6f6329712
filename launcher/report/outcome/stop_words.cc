#include "launcher/report/outcome/stop_words.h"

#include <csignal>

namespace sml::report {

std::string how_to_insist(int signo) {
  return std::string(signo == SIGINT ? "press Ctrl-C again" : "send it again from the same process") +
         ", half a second from now or later, to kill them at once";
}

}  // namespace sml::report
