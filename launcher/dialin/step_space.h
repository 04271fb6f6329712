// A client of PMI-1, for a step with one sml-run on each host: in the key space that its starter gives to all tasks of
// the step and nobody else, the first task tells the others the job's key and where it listens.
//
// Source: MPICH, maint/pmi-1.1.txt; Flux RFC 13. Slurm's mpi/pmi2 and Flux serve PMI-1 to a client that asks for it.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/os/fd.h"
#include "common/plan/environment/worker_env.h"
#include "launcher/dialin/settings.h"

namespace sml::dialin {

// The space of this task; nullopt if its starter gives none.
std::optional<StepSpace> find_space(const plan::Environment& environment);

// The word of the first task to the others.
struct SpaceWord {
  Key key{};
  std::uint16_t port = 0;              // 0: as the hosts know it
  std::vector<std::string> addresses;  // of the head, a name first; empty: as the hosts know it

  bool operator==(const SpaceWord&) const = default;
};
// A value of the space. Pure.
std::string to_value(const SpaceWord& word);
std::optional<SpaceWord> parse_word(std::string_view value);

// How long to wait for the other tasks, and where to say so after 5 s.
struct SpaceWait {
  Duration patience{};
  std::function<void(const std::string& text)> print;
};

// Exchanges the word: of the first of `tasks` tasks `own`, which the others get. Blocks until all have come. The space
// cannot be used again. Error (Timeout, Protocol or Lost): it names the space and what was waited for.
Result<SpaceWord> exchange_in_space(const StepSpace& space, std::uint32_t tasks, const std::optional<SpaceWord>& own,
                                    const SpaceWait& wait);

// Completes the settings of a job that has a space: the key, and unless the head is known, where it is. Returns the
// head's listener, on a free port; empty for others, or if the head's port is known. Errors: as above, and Io.
Result<os::UniqueFd> meet_in_space(Settings& settings, const std::string& host_name, const SpaceWait& wait);

}  // namespace sml::dialin
