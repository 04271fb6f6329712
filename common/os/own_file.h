// Opens files for writing so that no other user of the machine can choose which file is written.
//
// A user who can write in a folder can put a link there in place of a file, or of a folder on the way to it. So:
// - a link to a folder on the way is followed if others can write neither in its folder nor in any above (trust.h
//   defines who they are); elsewhere only if it belongs to this user or root (as with fs.protected_symlinks, but on
//   every kernel, and below /tmp as well as in it);
// - a link in place of the file is not followed, unless it names an open file, as /dev/stdout does, or the rules treat
//   it like a link on the way;
// - where others can write, an existing file must belong to this user, root or the folder's owner, and have one name
//   only; a FIFO, a terminal or the like to this user or root.
// Folders are walked by descriptors, so that nothing can change between check and use. Names below /proc stand for open
// files, and are followed without checks.
#pragma once
#include <cstdint>
#include <string>

#include <sys/types.h>

#include "common/core/error.h"
#include "common/os/fd.h"

namespace sml::os {

enum class Folders : std::uint8_t { MustExist, AreMade };
// Mode of folders that are created, less the umask. Where everybody can write, only their creator gets access, as with
// mkdtemp(); where a group of others or another owner can, they may look, and not write.
inline constexpr mode_t kFolderMode = 0777;

// A name in an open folder; the file of that name has not been examined.
struct Place {
  UniqueFd folder;  // O_PATH
  std::string name;
  bool others_write_above = false;  // in the folder, or in one above
};

// Returns the folder of `path`, after the checks above, and the last name of the path. Folders::AreMade creates missing
// folders on the way. Error (Io) names the obstacle. The path must not be empty.
Result<Place> find_place(const std::string& path, Folders folders, mode_t folder_mode = kFolderMode);

// If the file exists already. Empty: its content is deleted; Keep: writes are appended to it; Refuse: an error.
enum class IfThere : std::uint8_t { Empty, Keep, Refuse };
// A link in place of the file. IsRefused: followed only if it names an open file; CountsAsOthers: followed on the same
// conditions as a link on the way.
enum class LastLink : std::uint8_t { IsRefused, CountsAsOthers };
enum class Access : std::uint8_t { Write, ReadAndWrite };

struct WriteRules {
  IfThere if_there = IfThere::Empty;
  Folders folders = Folders::MustExist;
  mode_t mode = 0666;  // of a new file, less the umask
  mode_t folder_mode = kFolderMode;
  LastLink last_link = LastLink::IsRefused;
  Access access = Access::Write;
};

// Opens the file for appending, with O_NONBLOCK, and creates it if it does not exist; a FIFO must have a reader. Error
// (Io) names the file.
Result<UniqueFd> open_own_file(const std::string& path, const WriteRules& rules);

}  // namespace sml::os
