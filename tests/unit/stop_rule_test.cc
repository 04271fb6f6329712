#include "launcher/os/stop_rule.h"

#include <csignal>
#include <vector>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::os;
using namespace std::chrono_literals;

namespace {

const TimePoint kNow = TimePoint(1000h);

struct Sent {
  std::string_view sender;
  int signo;
  Duration at;
  StopEffect meaning;
};

struct Story {
  std::string_view what;
  std::vector<Sent> sent;
};

const Story kStories[] = {
    {"one signal", {{"", SIGTERM, 0ms, StopEffect::Begins}}},
    {"timeout(1): to its child and to its group",
     {{"", SIGTERM, 0ms, StopEffect::Begins}, {"", SIGTERM, 1ms, StopEffect::Echoes}}},
    {"a closed terminal: the kernel and the shell",
     {{"", SIGHUP, 0ms, StopEffect::Begins},
      {"", SIGHUP, 20ms, StopEffect::Echoes},
      {"", SIGTERM, 30ms, StopEffect::Echoes}}},
    {"a person at a terminal", {{"", SIGINT, 0ms, StopEffect::Begins}, {"", SIGINT, 500ms, StopEffect::Insists}}},
    {"an impatient one",
     {{"", SIGINT, 0ms, StopEffect::Begins},
      {"", SIGINT, 300ms, StopEffect::Echoes},
      {"", SIGINT, 600ms, StopEffect::Insists}}},
    {"insisting once more",
     {{"", SIGINT, 0ms, StopEffect::Begins},
      {"", SIGINT, 1s, StopEffect::Insists},
      {"", SIGINT, 1001ms, StopEffect::Insists}}},
    {"another signal later, and that one twice",
     {{"", SIGINT, 0ms, StopEffect::Begins},
      {"", SIGTERM, 5s, StopEffect::Joins},
      {"", SIGTERM, 6s, StopEffect::Insists}}},
    {"all hosts of a platform that stops them one after the other",
     {{"", SIGTERM, 0ms, StopEffect::Begins},
      {"host-1", SIGTERM, 10ms, StopEffect::Echoes},
      {"host-2", SIGTERM, 1s, StopEffect::Joins},
      {"host-3", SIGTERM, 9s, StopEffect::Joins}}},
    {"one of them insists",
     {{"host-1", SIGTERM, 0ms, StopEffect::Begins},
      {"host-2", SIGTERM, 900ms, StopEffect::Joins},
      {"host-1", SIGTERM, 1s, StopEffect::Insists}}},
    {"a script that passes on the batch system's warning as a signal, and the batch system a minute later",
     {{"process 7", SIGTERM, 0ms, StopEffect::Begins},
      {"process 8", SIGTERM, 60s, StopEffect::Joins},
      {"process 8", SIGTERM, 61s, StopEffect::Insists}}},
    {"a command beside a signal",
     {{"", SIGINT, 0ms, StopEffect::Begins}, {"sml-run stop", SIGTERM, 2s, StopEffect::Joins}}},
};

}  // namespace

TEST_CASE("a stop: only the same sender's same signal, half a second after his first, cuts the grace short") {
  for (const Story& story : kStories) {
    StopRule rule;
    for (const Sent& one : story.sent) {
      CAPTURE(story.what, one.sender, one.signo, one.at.count());
      CHECK(rule.heed(one.sender, one.signo, kNow + one.at) == one.meaning);
    }
  }
}
