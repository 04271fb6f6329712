#include "common/plan/program/mpi_use.h"

#include <map>

#include "tests/support/catch.h"
#include "tests/support/elf.h"

using namespace sml::plan;
using sml::test::elf;
using Words = std::vector<std::string>;

namespace {

ReadAt reader(const std::string& bytes) {
  return [bytes](std::uint64_t offset, std::size_t size) {
    return offset < bytes.size() ? bytes.substr(offset, size) : std::string();
  };
}

struct Files {
  std::map<std::string, std::string> bytes;
  std::string in_use(const Words& mapped, const Words& environment = {}) const {
    return mpi_library_in_use(mapped, environment,
                              [this](const std::string& path, std::uint64_t offset, std::size_t size) {
                                const auto found = bytes.find(path);
                                return found == bytes.end() ? std::string() : reader(found->second)(offset, size);
                              });
  }
};

}  // namespace

TEST_CASE("mpi: what an ELF file needs") {
  const Words needed{"libm.so.6", "libmpi.so.40", "libc.so.6"};
  CHECK(needed_libraries(reader(elf(needed))) == needed);
  CHECK(linked_mpi_library(reader(elf(needed))) == "libmpi.so.40");
  CHECK(linked_mpi_library(reader(elf({"libc.so.6"}))).empty());
  CHECK(needed_libraries(reader("#!/bin/sh\n")).empty());
  CHECK(needed_libraries(reader("")).empty());
  std::string other = elf(needed);
  other[5] = 2;  // big-endian
  CHECK(needed_libraries(reader(other)).empty());
}

TEST_CASE("mpi: a file that is cut off anywhere is read as far as it goes") {
  const std::string whole = elf({"libmpich.so.12"});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Words found = needed_libraries(reader(whole.substr(0, size)));
    CHECK((found.empty() || (found.size() == 1 && std::string("libmpich.so.12").starts_with(found[0]))));
  }
}

TEST_CASE("mpi: a program that can neither use it nor start what does") {
  const Words c{"libc.so.6"};
  const auto chance = [](const Words& needed, const Words& imports, const std::string& note = {}) {
    return mpi_chance(reader(elf(needed, {}, imports, note)));
  };
  CHECK(chance(c, {"__libc_start_main", "puts", "fdopen"}) == MpiChance::No);
  CHECK(chance({"libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6"}, {"puts"}) == MpiChance::No);
  CHECK(chance({"libmpi.so.40", "libc.so.6"}, {"puts"}) == MpiChance::Yes);
  CHECK(chance({"libhdf5.so.103", "libc.so.6"}, {"puts"}) == MpiChance::Yes);  // who knows what that needs
  for (const char* starter : {"execve", "fexecve", "posix_spawnp", "system", "popen", "dlopen", "dlsym", "syscall"}) {
    CHECK(chance(c, {"puts", starter}) == MpiChance::Yes);
  }
  CHECK(chance(c, {"puts"}, std::string("\4\0\0\0Go\0\0", 8)) == MpiChance::Yes);
  CHECK(chance({}, {"puts"}) == MpiChance::Yes);             // static
  CHECK(chance(c, Words(20000, "puts")) == MpiChance::Yes);  // more names than are read
  CHECK(mpi_chance(reader("#!/bin/sh\n")) == MpiChance::Yes);
  CHECK(mpi_chance(reader("")) == MpiChance::Yes);
  const std::string plain = elf(c, {}, {"puts"});
  CHECK(mpi_chance(reader(plain), Words{"PATH=/bin"}) == MpiChance::No);
  CHECK(mpi_chance(reader(plain), Words{"LD_PRELOAD=libx.so"}) == MpiChance::Yes);
  // Cut off anywhere it proves nothing.
  for (std::size_t size = 0; size < plain.size(); ++size) {
    CHECK(mpi_chance(reader(plain.substr(0, size))) == MpiChance::Yes);
  }
}

TEST_CASE("mpi: the names of its libraries") {
  for (const char* name : {"libmpi.so", "/usr/lib/x/libmpi.so.40.30.4", "libmpich.so.12", "libmpi_cray.so.12",
                           "libmpi_usempif08.so.40", "libmpicxx.so.12", "libmpifort.so.12"}) {
    CHECK(is_mpi_library(name));
  }
  for (const char* name : {"libmpir.so.23", "libmpi", "/libmpi.so/libc.so.6", "libimpi.so", "libmpi4py.so", ""}) {
    CHECK_FALSE(is_mpi_library(name));
  }
}

TEST_CASE("mpi: another launcher serves whom it has told where") {
  CHECK(has_process_manager(Words{"A=1", "PMI_FD=7"}));
  CHECK(has_process_manager(Words{"PMI_PORT=h:1"}));
  CHECK(has_process_manager(Words{"PMIX_NAMESPACE=x"}));
  CHECK_FALSE(has_process_manager(Words{"PMI_RANK=0", "PMI_SIZE=2", "PMIX_MCA_gds=hash", "OMPI_COMM_WORLD_SIZE=2"}));
}

TEST_CASE("mpi: the files of a process") {
  CHECK(mapped_files("55d0-55d1 r--p 00000000 08:01 12 /usr/bin/x\n"
                     "7f00-7f01 r--p 0 08:01 13 /lib/b c.so\n"
                     "7f01-7f02 rw-p 0 00:00 0 \n"
                     "55d2-55d3 r--p 00000000 08:01 12 /usr/bin/x\n"
                     "7ffd-7ffe rw-p 00000000 00:00 0 [stack]") == Words{"/lib/b c.so", "/usr/bin/x"});
  CHECK(mapped_files("").empty());
}

TEST_CASE("mpi: it is in use by whoever needs it and has no other way to meet") {
  const std::string library = "/usr/lib/libmpi.so.40.30.4";
  const Files files{{{"/app/hello", elf({"libmpi.so.40"})},
                     {"/usr/lib/mpi4py/MPI.so", elf({"libmpi.so.40"})},
                     {"/usr/lib/libtorch_cpu.so", elf({"libmpi.so.40"})},
                     {"/usr/lib/horovod/torch/mpi_lib_v2.so", elf({"libmpi.so.40"})},
                     {"/usr/lib/openmpi/mca_btl_tcp.so", elf({"libmpi.so.40"})},
                     {library, elf({"libopen-pal.so.40"})},
                     {"/usr/bin/python3", elf({"libc.so.6"})}}};
  CHECK(files.in_use({"/usr/bin/python3"}).empty());
  CHECK(files.in_use({"/app/hello", library}) == library);
  CHECK(files.in_use({"/usr/bin/python3", "/usr/lib/mpi4py/MPI.so", library}) == library);
  CHECK(files.in_use({"/usr/bin/python3", library}) == library);  // loaded by hand
  // Builds of torch and Horovod that can do both meet by Gloo or NCCL here.
  CHECK(files.in_use({"/usr/lib/libtorch_cpu.so", library}).empty());
  const Words horovod{"/usr/lib/horovod/torch/mpi_lib_v2.so", library, "/usr/lib/openmpi/mca_btl_tcp.so"};
  CHECK(files.in_use(horovod, {"HOROVOD_CONTROLLER=gloo"}).empty());
  CHECK(files.in_use(horovod) == library);  // without a word it uses what it was built with
  CHECK(files.in_use({"/usr/lib/libtorch_cpu.so", "/usr/lib/mpi4py/MPI.so", library}) == library);
  CHECK(files.in_use({"/usr/lib/horovod/torch/mpi_lib_v2.so", library}, {"HOROVOD_CONTROLLER=mpi"}) == library);
  CHECK(files.in_use({"/app/hello", library}, {"PMIX_NAMESPACE=job"}).empty());
  CHECK(files.in_use({"/usr/bin/ompi_info", library}).empty());
}

TEST_CASE("mpi: who surely begins it") {
  const ReadAt linked = reader(elf({"libmpi.so.40"})), python = reader(elf({"libc.so.6"}));
  CHECK(surely_begins_mpi(linked, Words{}));
  CHECK(surely_begins_mpi(python, Words{"/venv/mpi4py/MPI.abi3.so", "/usr/lib/libmpi.so.40"}));
  CHECK_FALSE(surely_begins_mpi(python, Words{"/venv/h5py/defs.so", "/usr/lib/libmpi.so.40"}));
  CHECK_FALSE(surely_begins_mpi(python, Words{"/venv/mpi4py/MPI.abi3.so", "/venv/torch/lib/libtorch_cpu.so"}));
}

TEST_CASE("a library's name tells by what its ranks find each other") {
  for (const char* name : {"libmpi.so.40", "/usr/lib/libmpi.so.40.30.4", "libmpi.so.20", "libmpi_mpifh.so.40"}) {
    CHECK(dialect_of(name) == MpiDialect::Pmix);
  }
  for (const char* name : {"libmpich.so.12", "/opt/intel/libmpi.so.12", "libmpicxx.so.12", "libmpi_cray.so.12"}) {
    CHECK(dialect_of(name) == MpiDialect::Pmi);
  }
  CHECK(dialect_of("libmpi_abi.so.0") == MpiDialect::Unknown);
  CHECK(dialect_of("") == MpiDialect::Unknown);
}

TEST_CASE("who is brought together, and who is not") {
  for (const PmiMode pmi_mode : {PmiMode::Auto, PmiMode::Pmi1, PmiMode::Pmi2}) {
    CHECK(brings_together(pmi_mode, MpiDialect::Pmi));
    CHECK(brings_together(pmi_mode, MpiDialect::Unknown));
    CHECK(brings_together(pmi_mode, MpiDialect::Pmix) == (pmi_mode == PmiMode::Auto));
  }
  CHECK(brings_together(PmiMode::Pmix, MpiDialect::Pmix));
  CHECK(brings_together(PmiMode::Pmix, MpiDialect::Unknown));
  CHECK_FALSE(brings_together(PmiMode::Pmix, MpiDialect::Pmi));
  CHECK_FALSE(brings_together(PmiMode::None, MpiDialect::Pmi));
}

TEST_CASE("those of whom nothing is known are offered both, and told which MPICH is to take") {
  CHECK((offers_pmi(PmiMode::Auto, MpiDialect::Unknown) && offers_pmix(PmiMode::Auto, MpiDialect::Unknown)));
  CHECK_FALSE(offers_pmix(PmiMode::Auto, MpiDialect::Pmi));
  CHECK_FALSE(offers_pmi(PmiMode::Auto, MpiDialect::Pmix));
  CHECK(choice_variables(Words{"A=1"}) == Words{"MPIR_CVAR_PMI_VERSION=1"});
  CHECK(choice_variables(Words{"MPIR_CVAR_PMI_VERSION=x"}).empty());
}

TEST_CASE("nobody else is offered both PMI and PMIx, at which MPICH 5 ends") {
  for (const PmiMode pmi_mode : {PmiMode::None, PmiMode::Pmi1, PmiMode::Pmi2, PmiMode::Pmix}) {
    for (const MpiDialect speech : {MpiDialect::Unknown, MpiDialect::Pmi, MpiDialect::Pmix}) {
      CHECK_FALSE((offers_pmi(pmi_mode, speech) && offers_pmix(pmi_mode, speech)));
    }
  }
}

TEST_CASE("by these variables another launcher is known") {
  const std::vector<std::string> environment{"PMI_RANK=1", "PMI_FD=7", "PMIX_NAMESPACE=x", "A=PMI_FD=3"};
  CHECK(process_manager_entries(environment) == std::vector<std::string>{"PMI_FD=7", "PMIX_NAMESPACE=x"});
}

TEST_CASE("who has been offered another way than its library speaks cannot come") {
  const Words pmi{"PMI_FD=7"}, pmix{"PMIX_NAMESPACE=x"}, both{"PMI_FD=7", "PMIX_NAMESPACE=x"};
  for (const MpiDialect speech : {MpiDialect::Unknown, MpiDialect::Pmi, MpiDialect::Pmix}) {
    CHECK_FALSE(may_come({}, speech));
    CHECK(may_come(both, speech));
    CHECK(may_come(pmi, speech) == (speech != MpiDialect::Pmix));
    CHECK(may_come(pmix, speech) == (speech != MpiDialect::Pmi));
  }
}
