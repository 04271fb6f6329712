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
  std::string user;  // login name; where no account has the number: LOGNAME, USER, or the number itself
  std::string home;  // as ssh has it: of the passwd file; where that has no entry, $HOME, else what getent says
  std::string host_name;
  std::function<std::string(const std::string& name)> environment;  // "" when unset
};

LocalIdentity local_identity();

// Files through the file system, at most 4 MiB each. What is asked of a file is asked of the descriptor that is read.
ConfigFiles local_files();

// Is the open file a regular one, or /dev/null? Others may have no end, or none that comes.
bool is_file_or_null(int fd);

// A private key that others can read is refused by ssh, and by us.
bool others_can_read(const std::string& path, uid_t uid);

}  // namespace sml::ssh
