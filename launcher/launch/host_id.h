// A host for as long as sml-run runs: its position in the list of the hosts of the run. Plans number the hosts that
// they use themselves (HostIndex), and another plan may number them otherwise.
#pragma once
#include "common/core/strong.h"

namespace sml {

using HostId = Strong<struct HostIdTag>;

}  // namespace sml
