// What the agent says to its standard error when it cannot go on.
//
// The file also takes the places of the C++ library's own last words (an exception that nobody has caught, an assertion
// of _GLIBCXX_ASSERTIONS): those bring a decoder of C++ names, 50 KB of an agent that travels to every host.
#pragma once
#include <initializer_list>
#include <string_view>

namespace sml::agent {

// One line, without memory of its own; what cannot be written is lost.
void say_last_words(std::initializer_list<std::string_view> words);

}  // namespace sml::agent
