// State machines as tables that can be read aloud: {state, event, next state, action}.
//
// A pair that no row names is answered with the action Unexpected: nothing is done, nothing has changed, and whoever
// drives the machine tells it to those who debug, by ignored(). Late news is none of these, but has a row, or comes to
// a machine that is over. Where events come from a far side, Refuse ends the conversation instead.
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

// The row for (state, event), or null: the pair is not expected.
template <class Row, std::size_t N, class State, class Event>
constexpr const Row* find_row(const Row (&table)[N], State state, Event event) {
  for (const Row& row : table) {
    if (row.state == state && row.event == event) return &row;
  }
  return nullptr;
}

// For static_assert: no (state, event) pair stands twice.
template <class Row, std::size_t N>
constexpr bool no_pair_twice(const Row (&table)[N]) {
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t j = i + 1; j < N; ++j) {
      if (table[i].state == table[j].state && table[i].event == table[j].event) return false;
    }
  }
  return true;
}

// The words for an event that was Unexpected; both by name.
std::string ignored(std::string_view event, std::string_view before);

}  // namespace sml
