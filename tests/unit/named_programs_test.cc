#include "common/plan/program/named_programs.h"

#include "launcher/agent/mpi/pmix_library.h"
#include "tests/support/catch.h"
#include "tests/support/elf.h"
#include "tests/support/host_files.h"

using namespace sml::plan;
using sml::test::elf;
using sml::test::files_of;
using Words = std::vector<std::string>;

namespace {

const Words kPath{"PATH=/usr/bin:relative:/bin"};

Words named(const Words& words, const std::map<std::string, std::string>& files) {
  return named_programs({"/bin/" + words.front(), words, "/srv"}, kPath, files_of(files));
}

}  // namespace

TEST_CASE("a wrapper's words name what it starts", "[pmix]") {
  const std::map<std::string, std::string> files{{"/srv/ring", ""}, {"/usr/bin/osu", ""}, {"/bin/osu", ""}};
  CHECK(named({"numactl", "-N", "0", "./ring", "-v"}, files) == Words{"/srv/ring"});
  CHECK(named({"time", "osu"}, files) == Words{"/usr/bin/osu"});
  CHECK(named({"tool", "--run=/srv/ring", "/srv/ring"}, files) == Words{"/srv/ring"});
  CHECK(named({"tool", "-/srv/ring"}, files).empty());
  CHECK(named({"tool", "nothing", "./no"}, files).empty());
  CHECK(named({"tool"}, files).empty());
}

TEST_CASE("so does the text of a shell", "[pmix]") {
  const std::string script = "#!/bin/sh\n# /srv/old is gone\n cd /tmp\nexec \"/srv/ring\" $@ >log\n";
  const std::map<std::string, std::string> files{
      {"/srv/ring", ""}, {"/srv/old", ""}, {"/srv/run.sh", script}, {"/srv/run.py", "#!/usr/bin/python3\n/srv/ring"}};
  CHECK(named({"sh", "-c", "a=1; '/srv/ring' ring&&echo"}, files) == Words{"/srv/ring"});
  CHECK(named({"bash", "-e", "run.sh", "5"}, files) == Words{"/srv/ring"});
  const auto by_itself = [&](const std::string& program) {
    return named_programs({program, Words{"./it"}, "/srv"}, kPath, files_of(files));
  };
  CHECK(by_itself("/srv/run.sh") == Words{"/srv/ring"});
  CHECK(by_itself("/srv/run.py").empty());
}

TEST_CASE("what another launcher starts is that one's", "[pmix]") {
  const std::map<std::string, std::string> files{{"/srv/ring", ""}};
  for (const char* launcher : {"mpirun", "/opt/bin/mpiexec.hydra", "srun", "sml-run", "mpirun.openmpi"}) {
    CHECK(named({"sh", "-c", std::string(launcher) + " -np 2 /srv/ring"}, files).empty());
  }
  CHECK(named({"sh", "-c", "/srv/ring # mpirunner"}, files) == Words{"/srv/ring"});
}

TEST_CASE("a long script does not hold us up", "[pmix]") {
  std::string many;
  for (int i = 0; i < 100; ++i) many += "/srv/" + std::to_string(i) + " ";
  CHECK(named({"sh", "-c", many + "/srv/ring"}, {{"/srv/ring", ""}}).empty());
  CHECK(named({"sh", "-c", std::string(1 << 17, ' ') + "/srv/ring"}, {{"/srv/ring", ""}}).empty());
}

TEST_CASE("who starts a program of Open MPI uses it, unless MPICH is named, too", "[pmix]") {
  const std::map<std::string, std::string> files{
      {"/srv/open", elf({"libmpi.so.40"})},
      {"/srv/mpich", elf({"libmpich.so.12"})},
      {"/venv/bin/python3", ""},
      {"/venv/lib/python3.11/site-packages/mpi4py/MPI.cpython-311.so", elf({"libmpi.so.40"})}};
  const auto user = [&files](const Words& words) {
    return open_mpi_user({"/bin/" + words.front(), words, "/srv"}, kPath, files_of(files));
  };
  CHECK(user({"sh", "-c", "./open ring; true"}) == "/srv/open");
  CHECK(user({"env", "A=1", "/srv/open"}) == "/srv/open");
  CHECK(user({"sh", "-c", "./open ring; ./mpich"}).empty());
  CHECK(user({"sh", "-c", "./mpich"}).empty());
  CHECK(user({"sh", "-c", "/venv/bin/python3 train.py"}).ends_with("/mpi4py"));
}
