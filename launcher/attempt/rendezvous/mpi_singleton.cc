#include "launcher/attempt/rendezvous/mpi_singleton.h"

#include <cstdint>

#include "common/core/text.h"
#include "common/plan/program/mpi_use.h"

namespace sml::attempt {

namespace {

constexpr std::size_t kLongest = 200;

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

enum class Cause : std::uint8_t { Unwanted, OtherDialect, Unserved, Silent };

Cause cause_of(const wire::MpiUse& use, plan::PmiMode pmi_mode) {
  if (pmi_mode == plan::PmiMode::None) return Cause::Unwanted;
  const plan::MpiDialect dialect = plan::dialect_of(use.library);
  if (!plan::brings_together(pmi_mode, dialect)) return Cause::OtherDialect;
  const bool unserved = dialect == plan::MpiDialect::Pmix && use.offer == wire::MpiOffer::None;
  return unserved ? Cause::Unserved : Cause::Silent;
}

std::string_view words_of(Cause cause) {
  switch (cause) {
    case Cause::Unwanted: return ", whose ranks sml-run is not to bring together (--mpi none)";
    case Cause::OtherDialect: return ", whose ranks find each other by another PMI than --mpi names";
    case Cause::Unserved: return ", whose ranks find each other by PMIx, and no libpmix can be loaded there";
    case Cause::Silent: return ", and lacks the variables by which sml-run would bring its ranks together";
  }
  return {};
}

const char* hint_of(Cause cause) {
  switch (cause) {
    case Cause::Unwanted: return "leave --mpi none out";
    case Cause::OtherDialect:
      return "--mpi auto chooses by the library: PMIx for Open MPI, PMI-1 or PMI-2 for the others";
    case Cause::Unserved: return "--pmix FILE names that host's libpmix.so.2; --mpi none runs each rank alone";
    case Cause::Silent:
      return "what takes PMI_FD or PMIX_* out of its environment? With --mpi none each of them is started alone";
  }
  return "";
}

// Returns "rank 3 on algo-1 runs alone, as rank 0 of 1: hello (pid 4711) uses ..."
std::string sentence(std::string_view does, const wire::MpiUse& use, const std::string& host, Cause cause) {
  const std::string where = host.empty() ? std::string() : " on " + host;
  const std::string pid = use.pid == 0 ? std::string() : " (pid " + std::to_string(use.pid) + ")";
  return "rank " + std::to_string(use.rank.value()) + where + std::string(does) +
         " alone, as rank 0 of 1: " + show(use.program, kLongest) + pid + " uses the MPI library " +
         show(file_name(use.library), kLongest) + std::string(words_of(cause));
}

}  // namespace

std::string mpi_singleton_warning(const wire::MpiUse& use, const std::string& host, plan::PmiMode pmi_mode) {
  return sentence(" runs", use, host, cause_of(use, pmi_mode));
}

Error mpi_singleton_refusal(const wire::MpiUse& use, const std::string& host, plan::PmiMode pmi_mode) {
  const Cause cause = cause_of(use, pmi_mode);
  return Error(ErrorKind::Spawn, sentence(use.pid == 0 ? " would run" : " runs", use, host, cause))
      .with_hint(hint_of(cause));
}

}  // namespace sml::attempt
