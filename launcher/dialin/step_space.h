// A client of PMI-1, for a step with one sml-run on each host. Its starter gives the tasks of the step, and no other
// process, a key space: a small key-value store. There the first task publishes the job key and the address where it
// listens, and the others read them.
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

// The key space of this task, from PMI variables; nullopt if its starter gives none. The caller sets `head`. Does not
// connect.
std::optional<StepSpace> find_space(const plan::Environment& environment);

// The value that the coordinator publishes for the others.
struct SpaceWord {
  Key key{};
  std::uint16_t port = 0;              // of the coordinator; 0: an option gives it
  std::vector<std::string> addresses;  // of the coordinator, its name first; empty: an option gives it

  bool operator==(const SpaceWord&) const = default;
};
// SpaceWord as a value of the key space, and back; nullopt: the value is no SpaceWord. Pure.
std::string to_value(const SpaceWord& word);
std::optional<SpaceWord> parse_word(std::string_view value);

// How long to wait for the other tasks, and where to print after 5 s that they are awaited.
struct SpaceWait {
  Duration timeout{};
  std::function<void(const std::string& text)> print;
};

// The coordinator passes `own`, which it publishes; the others pass nullopt. Every task gets the coordinator's
// SpaceWord. Blocks until all tasks have called this, or `wait.timeout` has passed. `tasks`: their number, for the
// error text. Closes the space's descriptor: the space cannot be used again. Error: Timeout, Protocol or Lost, or that
// of a failed connection to the PMI server; it names the space and what was waited for.
Result<SpaceWord> exchange_in_space(const StepSpace& space, std::uint32_t tasks, const std::optional<SpaceWord>& own,
                                    const SpaceWait& wait);

// Completes settings that have a space: exchanges the key and, unless an option names the coordinator, its address and
// port. `host_name`: this host's name, published if it is the coordinator. The coordinator's listener is on a free
// port; it is empty if an option names the coordinator. Errors: as above, and Io.
Result<AgreedSettings> meet_in_space(Settings settings, const std::string& host_name, const SpaceWait& wait);

}  // namespace sml::dialin
