// Settings on which all hosts of a job must agree before one of them calls the coordinator, and this host's own part.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "launcher/plan/host_share.h"

namespace sml::dialin {

inline constexpr std::uint16_t kDefaultPort = 29399;
inline constexpr std::size_t kKeySize = 32;
using Key = std::array<unsigned char, kKeySize>;

// From which addresses a host may call.
enum class Callers : std::uint8_t {
  Anywhere,     // the names of the hosts are made up, and no resolver knows them
  ListedHosts,  // from an address of the host that it claims to be
};

// The meaning of a port of the coordinator that is taken on this host: an error or, as for torch's agents, that another
// process on this machine is the coordinator.
enum class PortTaken : std::uint8_t { IsError, HeadIsHere };

// Whether a peer knows its place among the hosts of the job.
enum class PlaceRule : std::uint8_t { Known, ChosenByHead };

// A setting that must be equal on all hosts, by a name that people know: {"--nnodes", "4"}.
struct Term {
  std::string name;
  std::string value;
  void fields(auto& archive) { archive(name, value); }
  bool operator==(const Term&) const = default;
};
using Terms = std::vector<Term>;

class PeerProof;

// The key space of PMI-1 in which the tasks of a step exchange what they need to find each other (step_space.h).
struct StepSpace {
  int descriptor = -1;   // connected to the server: PMI_FD
  std::string server{};  // else its HOST:PORT and this task's id there: PMI_PORT, PMI_ID
  std::string id{};
  std::uint32_t task = 0;  // this one's number
  // Whether the first task is the head and says in the space where it is; else the head is known.
  enum class Head : std::uint8_t { FirstTask, Known } head = Head::FirstTask;
};

struct Settings {
  // Whether the job begins only when every host is here.
  bool needs_all() const { return least_hosts.value_or(hosts.size()) == hosts.size(); }

  std::vector<std::string> hosts;              // of the job, in their order; the first is the head
  std::optional<std::uint32_t> least_hosts{};  // so many of these do; nothing: all are needed
  Duration last_call{};                        // for the others then
  std::uint32_t own_index = 0;                 // with ChosenByHead any but the head's
  PlaceRule place = PlaceRule::Known;
  std::optional<std::uint32_t> wished;  // with ChosenByHead: the place that this host prefers
  std::string head;                     // name or address of the coordinator
  std::uint16_t port = kDefaultPort;
  Key key{};                                // random and known to the head only, if there is a `space` to learn it from
  std::optional<StepSpace> space{};         // see meet_in_space()
  std::shared_ptr<PeerProof> peer_proof{};  // what each side shows beyond the key; null: the key suffices
  std::string proof;   // for people: by what the hosts know each other, "the key space of srun's step"
  std::string advice;  // about the key, for people; empty: none
  std::string part;    // for people: what made this host the coordinator or a peer; empty: the options
  std::string job;
  std::uint32_t attempt = 0;
  std::string build;  // of sml-run
  Terms terms{};
  std::optional<plan::HostShare> share{};  // of this host; all are known before the job is planned. Nothing: all alike
  Callers callers = Callers::ListedHosts;
  PortTaken port_taken = PortTaken::IsError;
};

}  // namespace sml::dialin
