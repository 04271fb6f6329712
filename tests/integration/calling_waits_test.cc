// Hosts that call and wait for each other, in a few copies of sml-run over loopback: for how long, and whether a host
// of a list that is turned away ends the wait of all.
#include "tests/support/copies.h"
#include "tests/support/fake_init.h"

using namespace sml;
using namespace sml::copies;
using fake::Init;

TEST_CASE("calling hosts: one of a list that is turned away ends all at once") {
  Init init;
  Hosts hosts(3);  // the second never comes
  const Words listed = kNoClock + Words{"-H", "algo-1:1,127.0.0.2:1,127.0.0.1:1"};
  Copies both;
  both.push_back(hosts.start(0, listed + Words{"true"}));
  both.push_back(hosts.start(2, listed + Words{"--role", "reader", "true"}));
  const auto done = finish(both, 125);
  const std::string said = R"(it has "reader" for --role, and the head ")";
  check_says(done[1], said);
  check_says(done[0], "127.0.0.1: it has called from 127.0.0.1 and cannot take part: " + said);
}

TEST_CASE("calling hosts: a stranger that claims the name of a listed host ends nothing") {
  Init init;
  Hosts hosts(3);
  const Words listed = kNoClock + Words{"-H", "algo-1:1,127.0.0.2:1,127.0.0.1:1"};
  Copies both;
  both.push_back(hosts.start(0, listed + Words{"true"}));
  check_says(finish(*hosts.start(1, listed + Words{"--role", "stranger", "true"}), 125), R"(it has "stranger")");
  both.push_back(hosts.start(2, listed + Words{"--role", "reader", "true"}));
  const Ended head = finish(both, 125)[0];
  check_says(head, "127.0.0.1: it has called from 127.0.0.1 and cannot take part: it has \"reader\"");
  check_does_not_say(head, "127.0.0.2: it has called");
}

TEST_CASE("calling hosts: who waits says for how long at most") {
  Init init;
  Hosts none(2);
  const auto alone = none.start(1, kNoClock + Words{"true"});
  const Torchrun job("3");  // the third never comes
  const Words hour{"--rdzv-conf=join_timeout=3600"};
  Copies both;
  both.push_back(job.start_head(hour, {"true"}));
  both.push_back(job.start(hour, {"true"}));
  alone->until_says("waiting for the head, 127.0.0.1 port " + std::to_string(none.port()) + " (");
  alone->until_says(" s of 60 min\n");
  both[1]->until_says("waiting for the other hosts of the job at localhost port " + std::to_string(job.port()) + ", ");
  both[1]->until_says(" s of 60 min\n");
  alone->send(SIGKILL);
  both[0]->send(SIGTERM);
  finish(*alone, 137);
  finish(both, 143);
}
