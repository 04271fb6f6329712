// Which address of the first host every other one reaches: who is asked to try what, and what came of it.
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
  // `hosts` outlives this. `wanted` is taken as it is; empty: any.
  AddressSearch(std::span<const Host> hosts, std::string wanted);

  // The first host waits for knocks at `port`: those whose agents run are asked to try.
  void begin(std::uint16_t port);
  bool begun() const { return port_ != 0; }
  // An agent runs: it is asked once the search has begun, and once.
  void ask(const Host& host);
  // Those that were asked before all addresses were known. True: there are some, and their answers are to come.
  [[nodiscard]] bool ask_again();
  void note(const Host& host, const wire::Probed& answer);
  bool has_answered(const Host& host) const { return asked_[host.position].answer.has_value(); }

  enum class Of : std::uint8_t { All, ThoseThatRun };
  // Nothing: answers of some of them are to come.
  std::optional<ChosenAddress> outcome(Of hosts) const;
  // Of a fleet of one host, whose workers meet there.
  std::string address_of_lone_host() const;

 private:
  std::vector<std::string> candidates() const;

  struct Asked {
    std::optional<std::vector<std::string>> candidates;
    std::optional<HostProbe> answer;
  };
  std::span<const Host> hosts_;
  std::string wanted_;
  std::uint16_t port_ = 0;
  std::vector<Asked> asked_;  // by position
};

}  // namespace sml::fleet
