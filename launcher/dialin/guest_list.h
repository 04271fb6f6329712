// The head's book of the hosts that have come: whom to let in, and why not. Pure. That a caller has the job's key has
// been proved before; how long the head waits for the others is the job's start timeout.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "launcher/dialin/messages.h"
#include "launcher/dialin/settings.h"

namespace sml::dialin {

class GuestList {
 public:
  // `settings` outlives this.
  explicit GuestList(const Settings& settings);

  // What is wrong with a caller; nothing: it may come in, once its address is found to be right.
  std::optional<Refused> refuse(const Introduction& introduction) const;
  // By place; the head's own is taken.
  const std::vector<bool>& taken() const { return here_; }
  std::size_t free_places() const;
  // The place is taken from now on; a second host that says to be the same is refused. False: it was taken meanwhile.
  bool come(std::uint32_t index);
  // The job has so many hosts; nobody has come to a place beyond these, or to one that is new.
  void resize(std::size_t hosts) { here_.resize(hosts); }
  // Nobody is let in any more.
  void close() { closed_ = true; }
  // One more than the job has places for, which are so many.
  Refused refuse_surplus(std::size_t hosts) const;
  Refused refusal(Reason reason, std::string text) const { return {reason, settings_.attempt, std::move(text)}; }

 private:
  std::optional<Refused> refuse_strangers(const Introduction& introduction) const;

  const Settings& settings_;
  std::vector<bool> here_;  // by place
  bool closed_ = false;
};

}  // namespace sml::dialin
