// Looks up users of this machine by their number: in the passwd file, or by the host's own program getent(1), which
// asks the whole name service.
#pragma once
#include <optional>
#include <string>

#include <sys/types.h>

namespace sml::names {

struct Account {
  std::string name;
  std::string home;
};

// Looks in /etc/passwd (in a program that is not static: in all sources of the name service). nullopt: no such user.
std::optional<Account> local_account(uid_t user);

// The same; if there is no such user, a static program asks getent, and blocks until getent has answered.
std::optional<Account> account_of(uid_t user);

}  // namespace sml::names
