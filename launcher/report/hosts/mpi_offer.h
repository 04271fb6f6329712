// For --check: which of PMI-1, PMI-2 and PMIx the ranks of a program on a host would get if they use MPI, and why.
// Pure.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/plan/program/mpi_use.h"
#include "common/plan/ranks/job_shape.h"

namespace sml::report {

struct MpiOffer {
  std::vector<std::string> ways{};  // of "pmi1", "pmi2" and "pmix"; empty: each rank would run as a singleton
  std::string why{};                // the reason, as a part of a sentence
  bool operator==(const MpiOffer&) const = default;
};

// Whether libpmix has been loaded on the host.
enum class HasPmix : std::uint8_t { No, Yes };

// `pmi_mode` is that of the options; `found` is what the host has found out about the program.
MpiOffer mpi_offer(plan::PmiMode pmi_mode, const plan::MpiFinding& found, HasPmix pmix);

// "PMI-1 or PMI-2 (linked with libmpich.so.12)", "none (--mpi none)".
std::string in_words(const MpiOffer& offer);

}  // namespace sml::report
