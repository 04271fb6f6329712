// What the log-in takes from this machine: who we are and the small files that ssh reads.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "common/core/error.h"
#include "launcher/ssh/ssh_config.h"

namespace sml::ssh {

struct LocalIdentity {
  uid_t uid = 0;
  std::string user;  // login name; the number when the passwd file has none
  std::string home;  // as ssh has it: of the passwd file; $HOME only where that has no entry
  std::string host_name;
  std::function<std::string(const std::string& name)> environment;  // "" when unset
};

LocalIdentity local_identity();

// Files through the file system: at most 4 MiB each, regular files only; anything else counts as missing.
ConfigFiles local_files();
std::optional<std::string> read_small_file(const std::string& path);

// May this file of the user be believed? As ssh asks: ours or root's, and nobody else can write to it. True when
// missing.
bool only_owner_can_write(const std::string& path, uid_t uid);
// A private key that others can read is refused by ssh, and by us.
bool others_can_read(const std::string& path, uid_t uid);

}  // namespace sml::ssh
