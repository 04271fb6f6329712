#include "launcher/agent/mpi/mpi_watch.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "common/core/text.h"
#include "common/os/descendants.h"
#include "common/os/small_file.h"
#include "common/plan/program/mpi_use.h"
#include "launcher/agent/core/host_files.h"

namespace sml::agent {

namespace {

using std::chrono::milliseconds;

// Times after the start. The first are for programs that end soon, the last for those that import much first. A script
// that maps the library and ends between two of them is missed.
constexpr std::array kLooks{milliseconds(30),   milliseconds(100),  milliseconds(200),  milliseconds(300),
                            milliseconds(450),  milliseconds(650),  milliseconds(900),  milliseconds(1300),
                            milliseconds(2000), milliseconds(3000), milliseconds(5000), milliseconds(10000)};
// The workers of one host mostly run the same program, so looking at some of them is enough except at these two
// moments. Many waiting workers thus cost almost nothing.
constexpr std::array kLooksAtAll{milliseconds(2000), milliseconds(10000)};
constexpr std::size_t kSome = 16;
constexpr std::size_t kMostProcesses = 64;  // of one worker

plan::Environment environment_of(const std::string& process) {
  plan::Environment out;
  const std::string text = os::read_small_file(process + "environ");
  for (std::string_view rest = text; !rest.empty();) out.emplace_back(take_until(rest, '\0'));
  return out;
}

struct Sight {
  std::string library;  // empty: none
  bool surely_begun = false;
  bool offer_is_lost = false;  // the process was started without the variables that its library needs
};

// A process that has written its title over its environment (setproctitle) has none of our variables left: it has lost
// nothing. So one is believed only while others of ours are there.
bool has_lost(const plan::Environment& environment, const plan::Environment& offer, plan::MpiDialect dialect) {
  const auto is_ours = [](const std::string& entry) { return entry.starts_with("SML_"); };
  if (std::none_of(environment.begin(), environment.end(), is_ours)) return false;
  plan::Environment left;
  std::copy_if(offer.begin(), offer.end(), std::back_inserter(left), [&environment](const std::string& entry) {
    return std::find(environment.begin(), environment.end(), entry) != environment.end();
  });
  return !plan::may_come(left, dialect);
}

// `offer` are the launcher's own variables; any others count as those of another launcher.
Sight look_at_process(const std::string& process, const plan::Environment& offer) {
  const std::string maps = os::read_small_file(process + "maps");
  if (maps.find("/libmpi") == std::string::npos) return {};
  const plan::Environment whole = environment_of(process);
  plan::Environment environment = whole;
  std::erase_if(environment, [&offer](const std::string& entry) {
    return std::find(offer.begin(), offer.end(), entry) != offer.end();
  });
  const std::vector<std::string> mapped = plan::mapped_files(maps);
  Sight out{.library = plan::mpi_library_in_use(mapped, environment, read_file_at)};
  // Reads the process's own file, even if it has another root folder.
  out.surely_begun = !out.library.empty() && plan::surely_begins_mpi(reader_of(process + "exe"), mapped);
  out.offer_is_lost = !out.library.empty() && has_lost(whole, offer, plan::dialect_of(out.library));
  return out;
}

std::string name_of(const std::string& process) {
  std::string name = os::read_small_file(process + "comm");
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

std::string why_alone(const wire::MpiUse& use, plan::PmiMode pmi_mode) {
  if (use.offer == wire::MpiOffer::Made) {
    return "it has not asked sml-run for the others: does something between the two (env -i, sudo, a container) take "
           "its "
           "variables PMIX_* and PMI_*, or its network?";
  }
  if (plan::is_chosen_by_hosts(pmi_mode)) return "no libpmix can be loaded here: --pmix FILE names one";
  return "its ranks find each other by another PMI than --mpi names";
}

std::string send_end(const wire::MpiUse& use, plan::PmiMode pmi_mode) {
  constexpr std::size_t kLongest = 200;
  const std::string library = use.library.substr(use.library.rfind('/') + 1);
  return "was alone, as rank 0 of 1, and ended with status 0 (" + show(use.program, kLongest) +
         " uses the MPI library " + show(library, kLongest) + "; " + why_alone(use, pmi_mode) +
         "; --mpi none is for ranks that are to be alone)";
}

}  // namespace

std::string linked_mpi_library(const std::string& program, const plan::Environment& environment) {
  if (plan::has_process_manager(environment)) return {};
  return plan::linked_mpi_library(reader_of(program));
}

bool has_torch(pid_t worker) {
  const std::vector<pid_t> family = os::family_of(worker, kMostProcesses);
  return std::any_of(family.begin(), family.end(), [](pid_t pid) {
    return os::read_small_file("/proc/" + std::to_string(pid) + "/maps").find("/libtorch") != std::string::npos;
  });
}

void MpiWatch::begin(TimePoint now) {
  if (!wanted_) return;
  began_ = now;
  looks_ = 0;
  due_ = now + kLooks.front();
}

std::optional<wire::MpiUse> MpiWatch::look(std::span<const Candidate> workers, TimePoint now) {
  bool looks_at_all = false;
  for (; looks_ < kLooks.size() && began_ + kLooks[looks_] <= now; ++looks_) {
    looks_at_all =
        looks_at_all || std::find(kLooksAtAll.begin(), kLooksAtAll.end(), kLooks[looks_]) != kLooksAtAll.end();
  }
  due_.reset();
  const std::size_t step = looks_at_all ? 1 : std::max<std::size_t>(1, workers.size() / kSome);
  for (std::size_t i = 0; i < workers.size(); i += step) {
    if (std::optional<wire::MpiUse> found = look_at(workers[i])) return found;
  }
  if (looks_ < kLooks.size()) due_ = began_ + kLooks[looks_];
  return std::nullopt;
}

std::optional<wire::MpiUse> MpiWatch::look_at(const Candidate& worker) {
  const plan::Environment& offer = offers_[worker.rank];
  for (const pid_t pid : os::family_of(worker.pid, kMostProcesses)) {
    const std::string process = "/proc/" + std::to_string(pid) + "/";
    const Sight sight = look_at_process(process, offer);
    if (sight.library.empty()) continue;
    wire::MpiUse use{worker.rank, pid, name_of(process), sight.library};
    if (plan::may_come(offer, plan::dialect_of(sight.library))) use.offer = wire::MpiOffer::Made;
    if (sight.surely_begun) seen_.try_emplace(worker.rank, use);
    // A program may begin MPI late: how long it has been running is no sign.
    if (sight.offer_is_lost || use.offer == wire::MpiOffer::None) return use;
  }
  return std::nullopt;
}

void MpiWatch::note_program(Rank rank, std::string program, std::string library) {
  if (library.empty() || plan::is_mpi_tool(program)) return;
  wire::MpiUse use{rank, 0, std::move(program), std::move(library)};
  if (plan::may_come(offers_[rank], plan::dialect_of(use.library))) use.offer = wire::MpiOffer::Made;
  seen_.try_emplace(rank, std::move(use));
}

std::optional<std::string> MpiWatch::lone_at_end(Rank rank) const {
  const auto found = seen_.find(rank);
  if (found == seen_.end() || pmi_mode_ == plan::PmiMode::None) return std::nullopt;
  return send_end(found->second, pmi_mode_);
}

}  // namespace sml::agent
