// Users of this machine by their number: those of the passwd file, and those that only the host's own getent knows.
#pragma once
#include <optional>
#include <string>

#include <sys/types.h>

namespace sml::names {

struct Account {
  std::string name;
  std::string home;
};

// Of /etc/passwd (in a program that is not static: of all that the name service knows).
std::optional<Account> local_account(uid_t user);

// The same, then what getent says.
std::optional<Account> account_of(uid_t user);

}  // namespace sml::names
