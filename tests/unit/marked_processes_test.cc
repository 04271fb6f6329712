#include "launcher/agent/os/marked_processes.h"

#include <algorithm>

#include "tests/support/catch.h"

using namespace sml;
using os::SeenProcess;

namespace {

enum class Mark { No, Yes };

SeenProcess process(pid_t pid, pid_t parent, Mark mark = Mark::No) {
  return {.pid = pid, .parent = parent, .started = 1, .marked = mark == Mark::Yes};
}

std::vector<pid_t> chosen(const std::vector<SeenProcess>& all, pid_t self) {
  std::vector<pid_t> out;
  for (const SeenProcess& one : os::abandoned(all, self)) out.push_back(one.pid);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("abandoned: what has the mark and came to those to whom orphans come") {
  const std::vector<SeenProcess> all = {process(1, 0),
                                        process(10, 1),
                                        process(11, 10),
                                        process(12, 11),
                                        process(50, 1, Mark::Yes),   // a daemon, with init
                                        process(51, 10, Mark::Yes),  // another, with a subreaper above us
                                        process(60, 1),
                                        process(61, 1)};
  CHECK(chosen(all, 12) == std::vector<pid_t>{50, 51});
}

TEST_CASE("abandoned: what descends from it, with the mark or without, in any order") {
  const std::vector<SeenProcess> all = {process(1, 0),
                                        process(7, 52),
                                        process(12, 1),
                                        process(52, 50),
                                        process(50, 1, Mark::Yes),
                                        process(53, 50, Mark::Yes)};
  CHECK(chosen(all, 12) == std::vector<pid_t>{7, 50, 52, 53});
}

TEST_CASE("abandoned: what somebody else looks after is left alone") {
  const std::vector<SeenProcess> all = {process(1, 0), process(12, 1), process(30, 1),  // a batch system's daemon
                                        process(31, 30, Mark::Yes), process(32, 31, Mark::Yes)};
  CHECK(chosen(all, 12).empty());
}

TEST_CASE("abandoned: neither we nor those above us, whatever they carry") {
  const std::vector<SeenProcess> all = {process(1, 0), process(10, 1, Mark::Yes), process(11, 10, Mark::Yes),
                                        process(12, 11, Mark::Yes), process(13, 10, Mark::Yes)};
  CHECK(chosen(all, 12) == std::vector<pid_t>{13});
}

TEST_CASE("abandoned: a table that was read while it changed") {
  const std::vector<SeenProcess> circle = {process(20, 21, Mark::Yes), process(21, 20, Mark::Yes), process(12, 13),
                                           process(13, 12)};
  CHECK(chosen(circle, 12).empty());
  CHECK(chosen({}, 12).empty());
}
