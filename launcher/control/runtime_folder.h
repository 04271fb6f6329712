// The user's folder in which the sockets of running jobs are, on this machine's own file systems. Linux.
//
// The first that can be had: sml-run below XDG_RUNTIME_DIR, below /run/user/UID, else /tmp/sml-run-UID. It is this
// user's, mode 0700, and is opened without following a link in its place; so nobody else can put a socket there.
// Sockets are named ID.BOOT: the job's id, and what tells the kernel on which it was made, as such a folder may be
// shared with others.
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
  std::string path;  // for people
  os::UniqueFd above;
  std::string name;  // in `above`
  os::UniqueFd fd;
};

// Makes it where it is not there. Error (Io): there is none that is safe.
Result<Folder> make_runtime_folder();
// All that are there and safe: a job may have been started where the variable was another.
std::vector<Folder> runtime_folders();

// The same in the root folder of another process, whose mounts may be others; `owner` is its user, as seen from here.
// Links in there stay in there.
std::vector<os::UniqueFd> runtime_folders_in(int root, uid_t owner);

// Names of the sockets in it.
std::vector<std::string> sockets_in(int folder);

// Empty: the id cannot be in such a name.
std::string socket_name(std::string_view job_id);
// Whether it was made on this kernel, since it has started.
bool is_of_this_boot(std::string_view socket_name);

// A name by which the system calls take the socket, however long the folder's path is.
std::string path_through(int folder, std::string_view name);

}  // namespace sml::control
