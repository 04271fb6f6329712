// A machine or container that can run workers, as named by the user.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/strong.h"

namespace sml::plan {

inline constexpr std::uint32_t kMaxSlotsPerHost = 65536;
inline constexpr std::size_t kMaxHosts = 100'000;

// Value type. `name` is what the user wrote: it is shown, exported (SML_HOST, HOROVOD_HOSTNAME) and passed to ssh,
// where ~/.ssh/config may map it to another name. It holds [A-Za-z0-9._-] only, or an IPv6 literal without brackets,
// and never begins with '-': every parser enforces this with valid_host_name().
struct Host {
  std::string name;
  std::string user;                     // empty: ssh's choice
  std::optional<std::uint32_t> slots;   // empty: not given by the source; filled in by fill_slots()
  std::optional<std::uint16_t> port{};  // of its SSH server; empty: ssh's choice
  // The numbers of the slots, ascending, if they were chosen by number. Empty: the first `slots` ones.
  std::vector<std::uint32_t> slot_numbers{};
  bool operator==(const Host&) const = default;
};

bool valid_host_name(std::string_view name);
bool valid_user_name(std::string_view name);  // as ssh takes it, at most 64 bytes

// The meaning of a list's slots. Asked: the number of workers that the user or the batch job requests; Capacity: only
// the capacity of the machines, which --nproc-per-node overrides.
enum class SlotsAre : std::uint8_t { Asked, Capacity };

// For jobs for which sml-run is started on every host, and all other hosts call the first of the list, the coordinator.
struct CallingHosts {
  std::string own_name;  // the name of this host in the list; empty: unknown
  std::string head;      // the address at which the others reach the first host; empty: its name in the list
  enum class Names : std::uint8_t { Real, MadeUp } names = Names::Real;  // MadeUp: no resolver knows the names
};

// A list of hosts together with its source as shown to the user ("-H", "--hostfile nodes.txt",
// "/opt/ml/input/config/resourceconfig.json", "this machine").
struct HostList {
  std::vector<Host> hosts;
  std::string source;
  SlotsAre slots_are{SlotsAre::Asked};
  std::string remark{};                 // for the user, as a part of a sentence; empty: none
  std::optional<CallingHosts> calls{};  // empty: sml-run is started once, and starts agents on the hosts
};

}  // namespace sml::plan
