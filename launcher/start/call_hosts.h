// Hosts that call, before the job starts: finds out which host is the coordinator, and opens its port.
#pragma once
#include <optional>

#include "common/core/error.h"
#include "launcher/dialin/coordinator/coordinator.h"
#include "launcher/dialin/settings.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"

namespace sml {

// Completes `settings`: exchanges the key and the coordinator's address in the key space of the step, if there is one,
// and settles whether this host is the coordinator (Settings::own_index is 0). May block for the start timeout. Error:
// as dialin::meet_in_space(), or Io.
Result<dialin::AgreedSettings> meet_others(dialin::Settings settings, const Options& options, const ThisHost& here);

// For PortTaken::HeadIsHere, where several of the hosts may be processes of this machine: if the port is free, opens
// it, and this host is the coordinator; if it is taken, this host is a peer. Otherwise changes and opens nothing. Error
// (Io).
Result<dialin::AgreedSettings> be_head_or_call(dialin::Settings settings);

// Opens the port of the coordinator, unless it is open already or no host calls. Error (Io).
Result<void> open_port(std::optional<dialin::CoordinatorPlan>& head);

}  // namespace sml
