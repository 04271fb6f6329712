#include "launcher/report/hosts/mpi_offer.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "common/core/text.h"

namespace sml::report {

namespace {

using plan::PmiMode;

constexpr std::size_t kLongestLibrary = 200;

const char* name_of(PmiMode pmi_mode) {
  switch (pmi_mode) {
    case PmiMode::Pmi1: return "pmi1";
    case PmiMode::Pmi2: return "pmi2";
    case PmiMode::Pmix: return "pmix";
    case PmiMode::None: return "none";
    case PmiMode::Auto: break;
  }
  return "auto";
}

MpiOffer offer_for(PmiMode pmi_mode) {
  MpiOffer out;
  out.why = std::string("--mpi ") + name_of(pmi_mode);
  if (pmi_mode != PmiMode::None) out.ways = {name_of(pmi_mode)};
  return out;
}

std::string reason(const plan::MpiFinding& found) {
  if (!found.library.empty()) return "linked with " + show(found.library, kLongestLibrary);
  if (!found.seen_in.empty()) return show(found.seen_in, kLongestLibrary) + " uses Open MPI";
  return "which library it uses is seen only when it runs";
}

}  // namespace

MpiOffer mpi_offer(PmiMode pmi_mode, const plan::MpiFinding& found, HasPmix pmix) {
  if (found.owner == plan::MpiOwner::Other) return {{}, "its variables name another launcher"};
  if (!plan::is_chosen_by_hosts(pmi_mode)) return offer_for(pmi_mode);
  if (found.chance == plan::MpiChance::No) return {{}, "it can neither load a library nor start a program"};
  MpiOffer out{{}, reason(found)};
  if (plan::offers_pmi(pmi_mode, found.dialect)) out.ways = {"pmi1", "pmi2"};
  const bool offered = plan::offers_pmix(pmi_mode, found.dialect);
  if (offered && pmix == HasPmix::Yes) out.ways.emplace_back("pmix");
  if (offered && pmix == HasPmix::No && out.ways.empty()) out.why += ", and no libpmix is served here";
  return out;
}

std::string in_words(const MpiOffer& offer) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kNames{
      {{"pmi1", "PMI-1"}, {"pmi2", "PMI-2"}, {"pmix", "PMIx"}}};
  std::string out;
  for (std::size_t i = 0; i < offer.ways.size(); ++i) {
    if (i > 0) out += i + 1 < offer.ways.size() ? ", " : " or ";
    const auto known =
        std::find_if(kNames.begin(), kNames.end(), [&](const auto& n) { return n.first == offer.ways[i]; });
    out += known == kNames.end() ? offer.ways[i] : known->second;
  }
  return (out.empty() ? "none" : out) + " (" + offer.why + ")";
}

}  // namespace sml::report
