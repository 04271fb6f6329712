#include "launcher/report/hosts/mpi_offer.h"

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::report;
using plan::MpiDialect;
using plan::MpiFinding;
using plan::PmiMode;

namespace {

const MpiFinding kMpich{.library = "libmpich.so.12", .dialect = MpiDialect::Pmi};
const MpiFinding kOpenMpi{.library = "libmpi.so.40", .dialect = MpiDialect::Pmix};
const MpiFinding kScript{};

std::string offer(PmiMode pmi_mode, const MpiFinding& found, HasPmix pmix = HasPmix::Yes) {
  return in_words(mpi_offer(pmi_mode, found, pmix));
}

}  // namespace

TEST_CASE("what a host offers follows from the program's library") {
  CHECK(offer(PmiMode::Auto, kMpich) == "PMI-1 or PMI-2 (linked with libmpich.so.12)");
  CHECK(offer(PmiMode::Auto, kOpenMpi) == "PMIx (linked with libmpi.so.40)");
  const MpiFinding python{.seen_in = "/venv/mpi4py", .dialect = MpiDialect::Pmix};
  CHECK(offer(PmiMode::Auto, python) == "PMIx (/venv/mpi4py uses Open MPI)");
  const std::string unseen = " (which library it uses is seen only when it runs)";
  CHECK(offer(PmiMode::Auto, kScript) == "PMI-1, PMI-2 or PMIx" + unseen);
  CHECK(offer(PmiMode::Auto, kScript, HasPmix::No) == "PMI-1 or PMI-2" + unseen);
  CHECK(offer(PmiMode::Auto, kOpenMpi, HasPmix::No) ==
        "none (linked with libmpi.so.40, and no libpmix is served here)");
}

TEST_CASE("what is named is offered, whatever the program is") {
  CHECK(offer(PmiMode::Pmi2, kOpenMpi) == "PMI-2 (--mpi pmi2)");
  CHECK(offer(PmiMode::Pmix, kScript) == "PMIx (--mpi pmix)");
  CHECK(offer(PmiMode::None, kMpich) == "none (--mpi none)");
}

TEST_CASE("nothing is offered to whom another launcher serves, and to a program without MPI") {
  const MpiFinding theirs{.owner = plan::MpiOwner::Other};
  CHECK(offer(PmiMode::Pmi1, theirs) == "none (its variables name another launcher)");
  const MpiFinding plain{.chance = plan::MpiChance::No};
  CHECK(offer(PmiMode::Auto, plain) == "none (it can neither load a library nor start a program)");
  CHECK(offer(PmiMode::Pmi1, plain) == "PMI-1 (--mpi pmi1)");
}

TEST_CASE("what hosts say of libraries steers no terminal") {
  const MpiFinding odd{.library = "libmpi\x1b[2J.so", .dialect = MpiDialect::Unknown};
  CHECK(offer(PmiMode::Auto, odd).find('\x1b') == std::string::npos);
}
