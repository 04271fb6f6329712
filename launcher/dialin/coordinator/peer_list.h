// The coordinator's record of the hosts that have come: decides whom to let in, and why not. Pure. The link has already
// proved that a caller has the job's key; the job's start timeout limits the wait for the others.
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
  // `settings` outlives this.
  explicit PeerList(const Settings& settings);

  // Returns why the caller is refused; nullopt if it may come in, provided that its address is right.
  std::optional<Refused> refuse(const Introduction& introduction) const;
  // By place; the coordinator's own place is taken.
  const std::vector<bool>& taken() const { return here_; }
  std::size_t free_places() const;
  // Takes the place; a second host that claims it is refused from now on. Returns false if it was taken meanwhile, or
  // after close().
  bool come(std::uint32_t index);
  // Sets the number of hosts. No host may have taken a place that is removed; new places are free.
  void resize(std::size_t hosts) { here_.resize(hosts); }
  // Refuses every host from now on.
  void close() { closed_ = true; }
  // The refusal for a caller beyond the `hosts` places of the job.
  Refused refuse_surplus(std::size_t hosts) const;
  Refused refusal(Reason reason, std::string text) const { return {reason, settings_.attempt, std::move(text)}; }

 private:
  std::optional<Refused> refuse_strangers(const Introduction& introduction) const;

  const Settings& settings_;
  std::vector<bool> here_;  // by place
  bool closed_ = false;
};

}  // namespace sml::dialin
