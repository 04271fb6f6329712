// Settings by which this host calls the coordinator of a job, or is the coordinator that the other hosts call. Each
// host makes its own (choose_dial_in()); the coordinator refuses a peer whose build, job, attempt or job_settings
// differ from its own. Data only; AgreedSettings also owns a socket.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/os/fd.h"
#include "launcher/plan/host_share.h"

namespace sml::dialin {

inline constexpr std::uint16_t kDefaultPort = 29399;
inline constexpr std::size_t kKeySize = 32;
using Key = std::array<unsigned char, kKeySize>;

// From which addresses a host may call.
enum class Callers : std::uint8_t {
  Anywhere,     // from any address: the names of the hosts are made up, or hosts of a step have several networks
  ListedHosts,  // from an address of the host that it claims to be
};

// The meaning of a coordinator's port that is already taken on this host: an error or, as for torch's agents, that
// another process on this machine is the coordinator.
enum class PortTaken : std::uint8_t { IsError, HeadIsHere };

// Whether a peer knows its place among the hosts of the job, or the coordinator ("head") assigns it.
enum class PlaceRule : std::uint8_t { Known, ChosenByHead };

// A setting that must be equal on all hosts, by a name that people know: {"--nnodes", "4"}.
struct JobSetting {
  std::string name;
  std::string value;
  void fields(auto& archive) { archive(name, value); }
  bool operator==(const JobSetting&) const = default;
};
using JobSettings = std::vector<JobSetting>;

class PeerProof;

// The key space of PMI-1 in which the tasks of a step exchange what they need to find each other (step_space.h).
struct StepSpace {
  int descriptor = -1;   // a socket to the PMI server, from PMI_FD; exchange_in_space() closes it. -1: use `server`
  std::string server{};  // its HOST:PORT, from PMI_PORT
  std::string id{};      // of this task at that server, from PMI_ID
  // Published: the coordinator publishes its address in the space. Known: an option names the coordinator; the space
  // only carries the key.
  enum class Head : std::uint8_t { Published, Known } head = Head::Published;
};

struct Settings {
  // Whether the job needs all of `hosts` to begin.
  bool needs_all() const { return least_hosts.value_or(hosts.size()) == hosts.size(); }

  std::vector<std::string> hosts;  // names of all hosts that the job may have, by place; the first is the coordinator
  // The number of hosts with which the job may begin; it is planned when so many have called (coordinator/quorum.h).
  // nullopt: the job needs all of `hosts`, and is planned before they call.
  std::optional<std::uint32_t> least_hosts{};
  Duration last_call{};         // how long the job waits for further hosts once `least_hosts` are here
  std::uint32_t own_index = 0;  // this host's place; with ChosenByHead any but 0, which is the coordinator's
  PlaceRule place = PlaceRule::Known;
  std::optional<std::uint32_t> preferred;  // with ChosenByHead: the place that this host prefers; nullopt: none
  // Name or address of the coordinator, and its port. With StepSpace::Head::Published they are final only after
  // meet_in_space().
  std::string head;
  std::uint16_t port = kDefaultPort;
  Key key{};                         // the job key; with a `space`, only the coordinator has it before meet_in_space()
  std::optional<StepSpace> space{};  // where meet_in_space() exchanges the key; nullopt: there is none
  std::shared_ptr<PeerProof> peer_proof{};  // what each side shows beyond the key; null: the key suffices
  std::string proof;                        // for people: where the key comes from, "the cookie of this job of PBS"
  std::string advice;                       // about the key, for people; empty: none
  std::string part;  // for people: how this host found out that it is the coordinator or a peer; empty: no message
  std::string job;   // name of the job; empty: it has none
  std::uint32_t attempt = 0;   // attempt of the job, counted by the platform or given by the user
  std::string build;           // of sml-run
  JobSettings job_settings{};  // what the coordinator compares with its own
  // This host's share, which it chose itself; the coordinator plans the job with the shares of all. nullopt: the hosts
  // do not choose, and all are alike.
  std::optional<plan::HostShare> share{};
  Callers callers = Callers::ListedHosts;
  PortTaken port_taken = PortTaken::IsError;
};

// The settings once this host knows the coordinator and the key: complete, so no code changes them any more.
struct AgreedSettings {
  Settings settings;
  // The coordinator's listening socket, if this host opened it to get a free port, or to find out that it is the
  // coordinator. Empty: the coordinator opens it later, or this host is a peer.
  os::UniqueFd listener;
};

}  // namespace sml::dialin
