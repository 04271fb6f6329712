// A machine or container that can run workers, lists of such hosts, and the checks of their names. Pure.
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

// Value type. `name` comes from the user, a batch system or a platform, or sml-run makes it up ("host-3"). Messages
// show it, workers get it as SML_HOST and HOROVOD_HOSTNAME, and ssh gets it, where ~/.ssh/config may map it to another.
// The name holds [A-Za-z0-9._-] only and begins with neither '-' nor '.', or it is an IPv6 literal without brackets,
// perhaps with a zone: each parser checks outside text with valid_host_name().
struct Host {
  std::string name;
  std::string user;                     // empty: ssh's choice
  std::optional<std::uint32_t> slots;   // empty: the source gives no number; make_plan() fills it in
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

// A source returns this if sml-run is started on every host of the list. The first host is the coordinator, and all
// others call it.
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
  std::string remark{};  // a warning for the user, as a part of a sentence; empty: none
  // Empty: the source starts sml-run once, which then starts agents on the hosts. Hosts call all the same if
  // --node-rank or `sml-run train` demands it; see choose_dial_in().
  std::optional<CallingHosts> calls{};
};

}  // namespace sml::plan
