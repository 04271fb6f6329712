#include "launcher/dialin/coordinator/peer_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/core/text.h"

namespace sml::dialin {

namespace {

std::string value_in(const JobSettings& settings, const std::string& name) {
  constexpr std::size_t kLongest = 200;
  const auto found =
      std::find_if(settings.begin(), settings.end(), [&name](const JobSetting& one) { return one.name == name; });
  return found == settings.end() ? "none" : "\"" + show(found->value, kLongest) + "\"";
}

// A clause that follows "it"; empty if they are equal.
std::string first_difference(const JobSettings& theirs, const JobSettings& own) {
  if (theirs == own) return {};
  for (const JobSetting& setting : own) {
    const std::string there = value_in(theirs, setting.name), here = value_in(own, setting.name);
    if (there != here) return fmt::format("it has {} for {}, and the head {}", there, setting.name, here);
  }
  return "it has more settings of the job than the head";
}

}  // namespace

PeerList::PeerList(const Settings& settings)
    : settings_(settings), names_(settings.hosts), here_(settings.hosts.size()) {
  here_[settings.own_index] = true;
}

void PeerList::keep_first(std::size_t hosts) {
  names_.resize(hosts);
  here_.resize(hosts);
}

void PeerList::add(const std::string& name) {
  names_.push_back(name);
  here_.push_back(false);
}

std::optional<Refused> PeerList::refuse(const Introduction& introduction) const {
  if (std::optional<Refused> refused = refuse_strangers(introduction)) return refused;
  const bool placed = introduction.index != kAnyPlace;
  if (!placed && settings_.callers == Callers::ListedHosts) {
    return refusal(Reason::UnknownHost, "it sends no number of its own, and this job has a list of its hosts");
  }
  if (placed && (introduction.index >= names_.size() || names_[introduction.index] != introduction.host)) {
    return refusal(Reason::UnknownHost, fmt::format("the job has no host \"{}\" at place {}; its hosts are {}",
                                                    show(introduction.host), introduction.index, fold_names(names_)));
  }
  if (introduction.calls == Calls::WithPlan) {
    const std::string difference = first_difference(introduction.job_settings, settings_.job_settings);
    if (!difference.empty()) return refusal(Reason::Plan, difference);
  }
  if (closed_) return refusal(Reason::Ending, "the job is ending");
  if (!placed) return std::nullopt;
  if (here_[introduction.index])
    return refusal(Reason::Twice, fmt::format("host \"{}\" is here already", show(introduction.host)));
  return std::nullopt;
}

// Refuses hosts of another job, attempt or program.
std::optional<Refused> PeerList::refuse_strangers(const Introduction& introduction) const {
  if (introduction.version != kProtocolVersion || introduction.build != settings_.build) {
    return refusal(
        introduction.version != kProtocolVersion ? Reason::Version : Reason::Build,
        fmt::format("it runs another sml-run ({}) than the head ({})", show(introduction.build), settings_.build));
  }
  if (introduction.job != settings_.job) {
    return refusal(Reason::Job, fmt::format("it belongs to job \"{}\", and this is job \"{}\"", show(introduction.job),
                                            show(settings_.job)));
  }
  if (introduction.attempt != settings_.attempt) {
    return refusal(Reason::Attempt, fmt::format("it belongs to attempt {} of the job, and this is attempt {}",
                                                introduction.attempt, settings_.attempt));
  }
  return std::nullopt;
}

Refused PeerList::refuse_surplus(std::size_t hosts) const {
  return refusal(Reason::Full, fmt::format("the job has {}, and all of them are here", pluralize(hosts, "host")));
}

std::size_t PeerList::free_places() const {
  return static_cast<std::size_t>(std::count(here_.begin(), here_.end(), false));
}

bool PeerList::come(std::uint32_t index) {
  if (closed_ || here_[index]) return false;
  here_[index] = true;
  return true;
}

}  // namespace sml::dialin
