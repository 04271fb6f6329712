// State machines as tables: {state, event, next state, action}.
//
// For a pair without a row find_row() returns nullptr. The machine then stays in its state and returns its own action
// Unexpected; the code that drives it reports that with ignored(), for debugging. An event that may arrive late is not
// unexpected: it has a row, or the machine is already in its final state. A machine whose events come from a remote
// side instead returns the action Refuse, which ends the session.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

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

// An enumerator in words: "all reaped" for AllReaped.
struct EnumWords {
  std::array<char, 24> text{};
  std::size_t size = 0;
};

// From the compiler's "sml::HostEvent::AllReaped" in __PRETTY_FUNCTION__ of GCC and Clang.
template <auto kValue>
constexpr EnumWords enum_words() {
  std::string_view name = __PRETTY_FUNCTION__;
  name.remove_prefix(name.find("kValue = ") + 9);
  name = name.substr(0, name.find_first_of("];"));
  name.remove_prefix(name.rfind(':') + 1);
  EnumWords out;
  for (const char c : name) {
    const bool begins = c >= 'A' && c <= 'Z';
    if (begins && out.size > 0) out.text[out.size++] = ' ';
    out.text[out.size++] = begins ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

template <class Enum>
inline constexpr auto kEnumWords = []<std::size_t... kValue>(std::index_sequence<kValue...>) {
  return std::array{enum_words<static_cast<Enum>(kValue)>()...};
}
(std::make_index_sequence<32>());

// A state or event in words, for messages. Its enum has no value above 31.
template <class Enum>
constexpr std::string_view enum_name(Enum value) {
  const EnumWords& words = kEnumWords<Enum>[static_cast<std::size_t>(value)];
  return {words.text.data(), words.size};
}

// The message about an event that was Unexpected; `before` is the machine's state when it came.
template <class Event, class State>
std::string ignored(Event event, State before) {
  return "ignored \"" + std::string(enum_name(event)) + "\" while " + std::string(enum_name(before));
}

}  // namespace sml
