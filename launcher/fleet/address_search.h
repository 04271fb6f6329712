// Finds an address of the first host that every other host reaches: asks the agents to probe candidates and collects
// the results.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launcher/fleet/host.h"

namespace sml::fleet {

class AddressSearch {
 public:
  // `hosts` outlives this. `wanted` is used as it is; empty: any address.
  AddressSearch(std::span<const Host> hosts, std::string wanted);

  // The first host accepts probes at `port`: asks all hosts whose agents run to try.
  void begin(std::uint16_t port);
  bool begun() const { return port_ != 0; }
  // Call when an agent runs: asks it once, as soon as the search has begun.
  void ask(const Host& host);
  // Asks the hosts again that were asked before all addresses were known. Returns true if there are such hosts; their
  // replies are pending.
  [[nodiscard]] bool ask_again();
  void note(const Host& host, const wire::Probed& answer);
  bool has_answered(const Host& host) const { return asked_[host.position].answer.has_value(); }

  enum class Of : std::uint8_t { All, ThoseThatRun };
  // Returns nullopt while replies of these hosts are pending.
  std::optional<ChosenAddress> outcome(Of hosts) const;
  // For a fleet of one host, whose workers rendezvous there.
  std::string address_of_lone_host() const;

 private:
  std::vector<std::string> candidates() const;
  void know(const Host& host);

  struct Asked {
    std::shared_ptr<const std::vector<std::string>> candidates;  // null: not asked
    std::optional<HostProbe> answer;
  };
  std::span<const Host> hosts_;
  std::string wanted_;
  std::uint16_t port_ = 0;
  std::vector<std::string> locals_;  // the launcher's ends of the connections to hosts whose agents run, each once
  std::vector<Asked> asked_;         // by position
  std::shared_ptr<const std::vector<std::string>> last_candidates_;  // that a host was asked about
};

}  // namespace sml::fleet
