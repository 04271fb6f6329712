#include "common/plan/program/horovod_use.h"

#include "tests/support/catch.h"
#include "tests/support/elf.h"
#include "tests/support/host_files.h"

using namespace sml::plan;
using sml::test::elf;
using sml::test::files_of;
using Words = std::vector<std::string>;

namespace {

const std::string kPackages = "/venv/lib/python3.11/site-packages/";
const std::string kTorchs = kPackages + "horovod/torch/mpi_lib_v2.cpython-311-x86_64-linux-gnu.so";
// What builds of 0.28.1 export.
const Words kWithGloo{"_ZN7horovod6common11GlooContext10InitializeE", "horovod_mpi_built"};
const Words kWithoutGloo{"_ZN7horovod6common10MPIContext10InitializeE", "horovod_gloo_built"};

std::string found(const std::map<std::string, std::string>& files, const Words& environment = {},
                  const std::string& program = "/venv/bin/python3") {
  return horovod_over_mpi({program}, environment, files_of(files));
}

}  // namespace

TEST_CASE("horovod: one that was built with MPI alone meets by it") {
  CHECK(found({{kTorchs, elf({"libmpi.so.40"}, {}, kWithoutGloo)}}) == kTorchs);
  CHECK(found({{kTorchs, elf({"libmpich.so.12"}, {}, kWithoutGloo)}}) == kTorchs);
  const std::string tensorflows = kPackages + "horovod/tensorflow/mpi_lib.cpython-311-x86_64-linux-gnu.so";
  CHECK(found({{tensorflows, elf({"libmpi.so.40"}, {}, kWithoutGloo)}}) == tensorflows);
}

TEST_CASE("horovod: one that knows Gloo meets at our store, unless its variables say MPI") {
  const std::map<std::string, std::string> both{{kTorchs, elf({"libmpi.so.40"}, {}, kWithGloo)}};
  CHECK(found(both).empty());
  CHECK(found(both, {"HOROVOD_CONTROLLER=gloo"}).empty());
  CHECK(found(both, {"HOROVOD_CONTROLLER=mpi"}) == kTorchs);
  CHECK(found({{kTorchs, elf({"libc.so.6"}, {}, kWithGloo)}}, {"HOROVOD_CONTROLLER=mpi"}).empty());
}

TEST_CASE("horovod: what cannot be read is taken to know Gloo") {
  const std::string more_names_than_are_read(std::size_t{9} << 20, 'x');
  CHECK(found({{kTorchs, elf({"libmpi.so.40"}, {}, {more_names_than_are_read})}}).empty());
  CHECK(found({{kTorchs, "no ELF file"}}).empty());
  CHECK(found({}).empty());
}

TEST_CASE("horovod: the interpreter is found where a script names it") {
  const std::map<std::string, std::string> files{{kTorchs, elf({"libmpi.so.40"}, {}, kWithoutGloo)},
                                                 {"/venv/bin/python3", elf({"libc.so.6"})},
                                                 {"/a/run", "#!/bin/sh\nexec /venv/bin/python3 train.py\n"}};
  CHECK(found(files, {}, "/a/run") == kTorchs);
  CHECK(found(files, {}, "/usr/bin/python3").empty());  // has packages of its own
  CHECK(found(files, {"VIRTUAL_ENV=/venv"}, "/usr/bin/python3") == kTorchs);
}

TEST_CASE("horovod: one that was built without what the user says is a misfit") {
  const auto misfit = [](const Words& names, const Words& variables) {
    const std::map<std::string, std::string> files{{kTorchs, elf({"libc.so.6"}, {}, names)}};
    return horovod_misfit({"/venv/bin/python3"}, {}, variables, files_of(files));
  };
  const Words both{kWithGloo[0], kWithoutGloo[0]};
  for (const char* variables : {"HOROVOD_CONTROLLER=mpi", "HOROVOD_CONTROLLER=gloo"}) CHECK(!misfit(both, {variables}));
  const auto without_mpi = misfit(kWithGloo, {"HOROVOD_CONTROLLER=MPI"});
  REQUIRE(without_mpi);
  CHECK(without_mpi->file == kTorchs);
  CHECK(without_mpi->variable == "HOROVOD_CONTROLLER=mpi");
  const auto without_gloo = misfit(kWithoutGloo, {"HOROVOD_CONTROLLER=gloo"});
  REQUIRE(without_gloo);
  CHECK(without_gloo->variable == "HOROVOD_CONTROLLER=gloo");
  CHECK(!misfit(kWithGloo, {}));
  CHECK(!misfit(kWithGloo, {"HOROVOD_CONTROLLER=gloo"}));
  const std::map<std::string, std::string> two{
      {kTorchs, elf({"libc.so.6"}, {}, kWithGloo)},
      {"/b/lib/python3.11/site-packages/horovod/torch/mpi_lib_v2.so", elf({"libmpi.so.40"}, {}, kWithoutGloo)},
      {"/venv/bin/python3", elf({"libc.so.6"})},
      {"/b/bin/python3", elf({"libc.so.6"})},
      {"/a/run", "#!/bin/sh\n/venv/bin/python3 prepare.py\nexec /b/bin/python3 train.py\n"}};
  CHECK(!horovod_misfit({"/a/run"}, {}, Words{"HOROVOD_CONTROLLER=mpi"}, files_of(two)));
  const Words more_than_are_read{std::string(std::size_t{9} << 20, 'x')};
  CHECK(!misfit(more_than_are_read, {"HOROVOD_CONTROLLER=mpi"}));
  CHECK(!horovod_misfit({"/venv/bin/python3"}, {}, Words{"HOROVOD_CONTROLLER=mpi"}, files_of({})));
}
