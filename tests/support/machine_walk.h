// All that a state machine of ours can come to: its states by the ways between them, and what it answers on these ways.
#pragma once
#include <map>
#include <set>
#include <span>
#include <vector>

namespace sml::fake {

template <class State, class Action>
struct Walk {
  std::map<State, std::set<State>> ways;  // from each state that can be come to
  std::set<Action> actions;

  // Those from which some way leads to `end`, itself among them.
  std::set<State> that_end_in(State end) const {
    std::set<State> found{end};
    for (std::size_t before = 0; before != found.size();) {
      before = found.size();
      for (const auto& [state, nexts] : ways) {
        for (const State next : nexts) {
          if (found.contains(next)) found.insert(state);
        }
      }
    }
    return found;
  }
};

// Begins with `first`; `on(machine, event)` tells a machine of the event, and answers its action. Two machines in one
// state are taken for alike.
template <class Machine, class Event, class On>
auto walk(const Machine& first, std::span<const Event> events, On on) {
  using State = decltype(first.state());
  Machine probe = first;
  Walk<State, decltype(on(probe, events.front()))> out;
  std::vector<Machine> open{first};
  while (!open.empty()) {
    const Machine here = open.back();
    open.pop_back();
    if (out.ways.contains(here.state())) continue;
    std::set<State>& nexts = out.ways[here.state()];
    for (const Event event : events) {
      Machine next = here;
      out.actions.insert(on(next, event));
      nexts.insert(next.state());
      open.push_back(next);
    }
  }
  return out;
}

}  // namespace sml::fake
