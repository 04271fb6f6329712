// Lists of algorithms in the form of ssh_config(5): "+NAMES" adds to the default, "-NAMES" removes from it, "^NAMES"
// puts in front of it, and a name may be a pattern. Pure. libssh 0.10 supports none of these forms, only plain lists.
#pragma once
#include <string>
#include <string_view>

#include "common/core/error.h"

namespace sml::ssh {

// The lists for one keyword; best first, comma separated.
struct Algorithms {
  std::string_view keyword;     // of ssh_config(5)
  std::string_view by_default;  // offered where the config names none
  std::string_view known;       // all that libssh has
};

// The names of libssh 0.10.6; a test checks that libssh accepts them all.
extern const Algorithms kKeyExchange;
extern const Algorithms kCiphers;
extern const Algorithms kMacs;
extern const Algorithms kHostKeys;
extern const Algorithms kPublicKeys;

// Returns the plain list for libssh: the names that `list`, from the config, stands for and that libssh has, each once.
// For an empty list returns `by_default`. Error (Config): no name is left.
Result<std::string> choose_algorithms(std::string_view list, const Algorithms& algorithms);

}  // namespace sml::ssh
