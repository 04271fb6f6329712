// A machine or container that can run workers, as the user named it.
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

// Value type. `name` is what the user wrote: it is shown, exported (SML_HOST, HOROVOD_HOSTNAME) and handed to ssh,
// where ~/.ssh/config may turn it into something else. It holds [A-Za-z0-9._-] only, or an IPv6 literal without
// brackets, and never begins with '-': every parser enforces this with valid_host_name().
struct Host {
  std::string name;
  std::string user;                     // empty: ssh's choice
  std::optional<std::uint32_t> slots;   // empty: not named by the source; filled in by fill_slots()
  std::optional<std::uint16_t> port{};  // of its SSH server; empty: ssh's choice
  // Which of the host's slots the `slots` are, when they were chosen by number; ascending. Empty: the first ones.
  std::vector<std::uint32_t> slot_numbers{};
  bool operator==(const Host&) const = default;
};

bool valid_host_name(std::string_view name);
bool valid_user_name(std::string_view name);

// What the slots of a list say: how many workers somebody asked for, or only what the machines have, which
// --nproc-per-node overrides.
enum class SlotsAre : std::uint8_t { Asked, Capacity };

// Of hosts on each of which the program is started, and which call the first of the list.
struct CallingHosts {
  std::string own_name;  // this one's, in the list; empty: nothing says it
  std::string head;      // how the others reach the first; empty: by its name in the list
  enum class Names : std::uint8_t { Real, MadeUp } names = Names::Real;  // MadeUp: no resolver knows them
};

// A list of hosts together with the words that tell the user where it came from ("-H", "--hostfile nodes.txt",
// "/opt/ml/input/config/resourceconfig.json", "this machine").
struct HostList {
  std::vector<Host> hosts;
  std::string source;
  SlotsAre slots_are{SlotsAre::Asked};
  std::string remark{};                 // a clause that the user should see
  std::optional<CallingHosts> calls{};  // empty: the program is started once, and reaches the hosts
};

}  // namespace sml::plan
