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

// Looks in /etc/passwd (in a program that is not static: in all sources of the name service).
std::optional<Account> local_account(uid_t user);

// The same; if there is none, asks getent.
std::optional<Account> account_of(uid_t user);

}  // namespace sml::names
