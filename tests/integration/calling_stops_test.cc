// Hosts that call and are told to stop, in a few copies of sml-run over loopback: who cuts the grace of workers short.
#include <csignal>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "common/core/exit_status.h"
#include "launcher/os/stop_rule.h"
#include "tests/support/copies.h"
#include "tests/support/fake_init.h"

using namespace sml;
using namespace sml::copies;
using fake::Init;

namespace {

void send_by_another_process(const Copy& copy, int signo) {
  const pid_t other = ::fork();
  if (other == 0) ::_exit(::kill(copy.pid(), signo) == 0 ? 0 : 1);
  int status = 0;
  REQUIRE(::waitpid(other, &status, 0) == other);
  REQUIRE(status == 0);
}

}  // namespace

TEST_CASE("calling hosts: only the same process insists, on a host that has called, too") {
  for (const int first : {SIGTERM, SIGINT}) {
    CAPTURE(first);
    Init init;
    Hosts hosts(2);
    const std::string stubborn = "trap '' INT TERM; echo ready; while :; do sleep .1; done";
    const Copies both =
        hosts.start_all(kNoClock + Words{"--stop-grace", "1h", "--nproc-per-node", "1", "sh", "-c", stubborn});
    for (const char* rank : {"0", "1"}) both[0]->until_prints("[" + std::string(rank) + "] ready");
    send_by_another_process(*both[1], first);
    both[0]->until_says("host-1 has been asked to stop (" + signal_name(first) + ")");
    std::this_thread::sleep_for(os::StopRule::kInsistAfter);  // counted from before that line
    both[1]->send(SIGTERM);
    both[1]->until_says("SIGTERM joins the stop that is under way");
    std::this_thread::sleep_for(os::StopRule::kInsistAfter);
    both[1]->send(SIGTERM);
    both[0]->until_says(signal_name(first) + " again: the workers are killed at once");
    finish(both, 128 + first);
  }
}
