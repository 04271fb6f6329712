// The user's folder for the sockets of running jobs, on this machine's own file systems. Linux.
//
// It is the first of these that is usable: $XDG_RUNTIME_DIR/sml-run, /run/user/UID/sml-run, /tmp/sml-run-UID. It
// belongs to this user, has mode 0700, and is opened without following a link in its place; so nobody else can put a
// socket there. Sockets are named ID.BOOT: the job's id, and an identifier of the kernel's boot, as such a folder may
// be shared with other machines.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "common/core/error.h"
#include "common/os/fd.h"

namespace sml::control {

struct Folder {
  std::string path;    // for display
  os::UniqueFd above;  // the folder that contains it, open
  std::string name;    // in `above`
  os::UniqueFd fd;     // the folder itself, open
};

// Creates the folder if it does not exist. Error: none of them is safe; the reason is that of the first.
Result<Folder> make_runtime_folder();
// All existing safe folders: a job may have been started with another value of the variable.
std::vector<Folder> runtime_folders();

// The same in /run/user and /tmp of another process, whose mounts may differ. `root` is a descriptor of its root
// folder; `owner` is the user of the other process, as a number of this process's user namespace. Links are resolved
// below `root`.
std::vector<os::UniqueFd> runtime_folders_in(int root, uid_t owner);

// Names of the sockets in the folder.
std::vector<std::string> sockets_in(int folder);

// The name ID.BOOT of the job's socket. Empty: the id cannot be part of such a name.
std::string socket_name(std::string_view job_id);
// Whether the socket was made on this kernel since it booted.
bool is_of_this_boot(std::string_view socket_name);

// A short path of the socket for system calls, however long the folder's path is.
std::string path_through(int folder, std::string_view name);

}  // namespace sml::control
