#include "launcher/transport/names/accounts.h"

#include <array>

#include <pwd.h>

#include "launcher/transport/names/getent.h"

namespace sml::names {

std::optional<Account> local_account(uid_t user) {
  std::array<char, 16 * 1024> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return std::nullopt;
  return Account{.name = found->pw_name, .home = found->pw_dir};
}

std::optional<Account> account_of(uid_t user) {
  std::optional<Account> account = local_account(user);
#ifdef SML_STATIC
  if (!account) account = parse_account(ask_getent("passwd", std::to_string(user)));
#endif
  return account;
}

}  // namespace sml::names
