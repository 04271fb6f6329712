#include "common/core/transition_table.h"

#include "tests/support/catch.h"

namespace {

enum class State { Off, On };
enum class Event { Press, Break, PressTwice };
enum class Action { None, Light, Dark };
using Row = sml::Transition<State, Event, Action>;

constexpr Row kLamp[] = {
    {State::Off, Event::Press, State::On, Action::Light},
    {State::On, Event::Press, State::Off, Action::Dark},
};
constexpr Row kTwice[] = {
    {State::Off, Event::Press, State::On, Action::Light},
    {State::On, Event::Press, State::Off, Action::Dark},
    {State::Off, Event::Press, State::Off, Action::None},
};
static_assert(sml::no_pair_twice(kLamp));
static_assert(!sml::no_pair_twice(kTwice));

}  // namespace

TEST_CASE("a row is found by its state and event together") {
  const Row* row = sml::find_row(kLamp, State::On, Event::Press);
  REQUIRE(row != nullptr);
  CHECK(row->next == State::Off);
  CHECK(row->action == Action::Dark);
  CHECK(sml::find_row(kLamp, State::Off, Event::Press) == &kLamp[0]);
  CHECK(sml::find_row(kLamp, State::Off, Event::Break) == nullptr);
  CHECK(sml::find_row(kLamp, State::On, Event::Break) == nullptr);
}

TEST_CASE("states and events are named by their enumerators, in words") {
  CHECK(sml::enum_name(State::Off) == "off");
  CHECK(sml::enum_name(Event::PressTwice) == "press twice");
  CHECK(sml::ignored(Event::Break, State::On) == "ignored \"break\" while on");
}
