// The coordinator's record of which places are taken: decides which caller is let in, and gives the reason if it is
// not. Pure. Callers have already proved the job's key on the link. It has no timeout: the job's start timeout limits
// the wait for hosts.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "launcher/dialin/messages.h"
#include "launcher/dialin/settings.h"

namespace sml::dialin {

class PeerList {
 public:
  // Has the hosts of `settings`, which outlives this.
  explicit PeerList(const Settings& settings);

  // Returns why the caller is refused; nullopt if it may come in, provided that it calls from an address of its host,
  // which is not checked here.
  std::optional<Refused> refuse(const Introduction& introduction) const;
  // The names of the job's hosts, by place.
  const std::vector<std::string>& names() const { return names_; }
  // By place; the coordinator's own place is taken.
  const std::vector<bool>& taken() const { return here_; }
  std::size_t free_places() const;
  // Marks the place as taken; a second host that claims it is refused from now on. Returns false, and does nothing, if
  // the place is already taken, or after close().
  bool come(std::uint32_t index);
  // Removes the places from `hosts` on. No host may have taken one of them.
  void keep_first(std::size_t hosts);
  // Adds a free place.
  void add(const std::string& name);
  // Refuses every host from now on.
  void close() { closed_ = true; }
  // The refusal for a caller beyond the `hosts` places of the job.
  Refused refuse_surplus(std::size_t hosts) const;
  // A refusal with this coordinator's attempt. `text`: as Refused::text.
  Refused refusal(Reason reason, std::string text) const { return {reason, settings_.attempt, std::move(text)}; }

 private:
  std::optional<Refused> refuse_strangers(const Introduction& introduction) const;

  const Settings& settings_;
  std::vector<std::string> names_;  // by place
  std::vector<bool> here_;          // by place
  bool closed_ = false;
};

}  // namespace sml::dialin
