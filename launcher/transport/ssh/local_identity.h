// The local inputs of the log-in: the user, and the small files that ssh reads.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "common/core/error.h"
#include "launcher/transport/ssh/ssh_config.h"

namespace sml::ssh {

struct LocalIdentity {
  uid_t uid = 0;     // the effective user
  std::string user;  // login name; without an account for the uid: LOGNAME, USER, or the number itself
  std::string home;  // as for ssh: from the passwd file; without an entry there: $HOME, else from getent
  std::string host_name;
  std::function<std::string(const std::string& name)> environment;  // "" if unset
};

LocalIdentity local_identity();

// Reads files from the file system, at most 4 MiB each; checks owner and mode on the descriptor that it reads. Leaves
// ConfigFiles::run empty.
ConfigFiles local_files();

// Whether the open file is a regular one, or /dev/null. To read any other file may block, or never end.
bool is_file_or_null(int fd);

// Whether the file belongs to the user `uid`, and its mode gives its group or others any access. ssh refuses such a
// private key, and so does the launcher. False if the file belongs to another user, or does not exist.
bool others_can_read(const std::string& path, uid_t uid);

}  // namespace sml::ssh
