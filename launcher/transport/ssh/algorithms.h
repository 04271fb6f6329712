// Lists of algorithms as ssh_config(5) has them: "+NAMES" adds to the default, "-NAMES" takes away from it, "^NAMES"
// puts in front of it, and a name may be a pattern. Pure. libssh 0.10 knows none of this, and takes a list as it
// stands.
#pragma once
#include <string>
#include <string_view>

#include "common/core/error.h"

namespace sml::ssh {

// Best first, comma separated.
struct Algorithms {
  std::string_view keyword;     // of ssh_config(5)
  std::string_view by_default;  // what we offer where the config names none
  std::string_view known;       // all that libssh has
};

// The names of libssh 0.10.6. That it takes them all is tested.
extern const Algorithms kKeyExchange;
extern const Algorithms kCiphers;
extern const Algorithms kMacs;
extern const Algorithms kHostKeys;
extern const Algorithms kPublicKeys;

// Returns the names of `list`, as the config has it, that libssh has, each once. An empty list is the default. Error
// (Config): no name is left.
Result<std::string> choose_algorithms(std::string_view list, const Algorithms& algorithms);

}  // namespace sml::ssh
