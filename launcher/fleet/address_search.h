// Finds an address of the fleet's first host, rank 0's, that every other host can connect to: sends Probe with the
// candidates to the other agents, and collects their results. Opens no connection itself.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launcher/fleet/host.h"

namespace sml::fleet {

class AddressSearch {
 public:
  // `hosts` outlives this; rank 0's is first. `wanted`: the only candidate, as the user gives it; empty: any address.
  AddressSearch(std::span<const Host> hosts, std::string wanted);

  // The first host listens at `port` from now on: asks all other hosts whose agents run to connect to it.
  void begin(std::uint16_t port);
  bool begun() const { return port_ != 0; }
  // Call when an agent runs: asks it, if the search has begun and it has not been asked.
  void ask(const Host& host);
  // Asks those hosts again that were asked before all candidates were known. Returns true if there are such hosts;
  // their replies are then pending.
  [[nodiscard]] bool ask_again();
  // The host's agent has sent its results.
  void note(const Host& host, const wire::Probed& answer);
  bool has_answered(const Host& host) const { return asked_.at(host.id).answer.has_value(); }

  // The hosts to wait for: all, or only those whose agents run now.
  enum class Of : std::uint8_t { All, ThoseThatRun };
  // The address that all hosts reach that have answered, or the faults (choose_address()). Returns nullopt while
  // replies of `hosts` are pending. Empty, without faults, if no host has answered.
  std::optional<ChosenAddress> outcome(Of hosts) const;
  // The address for a fleet of one host: the loopback address, unless the user chose an address or interface.
  std::string address_of_lone_host() const;

 private:
  std::vector<std::string> candidates() const;
  void add_host(const Host& host);
  bool is_first(const Host& host) const { return host.id == hosts_.front().id; }

  struct Asked {
    std::shared_ptr<const std::vector<std::string>> candidates;  // null: not asked
    std::optional<HostProbe> answer;
  };
  std::span<const Host> hosts_;
  std::string wanted_;
  std::uint16_t port_ = 0;
  std::vector<std::string> locals_;  // the launcher's ends of the connections to hosts whose agents run, each once
  std::map<HostId, Asked> asked_;
  std::shared_ptr<const std::vector<std::string>> last_candidates_;  // of the host asked last
};

}  // namespace sml::fleet
