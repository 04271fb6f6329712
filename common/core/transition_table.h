// State machines as tables: {state, event, next state, action}.
//
// For a pair without a row find_row() returns nullptr. The machine then stays in its state and returns its own action
// Unexpected; the code that drives it reports that with ignored(), for debugging. An event that may arrive late is not
// unexpected: it has a row, or the machine is already in its final state. A machine whose events come from a remote
// side instead returns the action Refuse, which ends the session.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace sml {

template <class State, class Event, class Action>
struct Transition {
  State state;
  Event event;
  State next;
  Action action;
};

// The row for (state, event), or nullptr: the pair is unexpected.
template <class Row, std::size_t N, class State, class Event>
constexpr const Row* find_row(const Row (&table)[N], State state, Event event) {
  for (const Row& row : table) {
    if (row.state == state && row.event == event) return &row;
  }
  return nullptr;
}

// For static_assert: true if no (state, event) pair occurs twice.
template <class Row, std::size_t N>
constexpr bool no_pair_twice(const Row (&table)[N]) {
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t j = i + 1; j < N; ++j) {
      if (table[i].state == table[j].state && table[i].event == table[j].event) return false;
    }
  }
  return true;
}

// The message about an event that was Unexpected. Both arguments are names; `before` is that of the machine's state.
inline std::string ignored(std::string_view event, std::string_view before) {
  return "ignored \"" + std::string(event) + "\" while " + std::string(before);
}

}  // namespace sml
