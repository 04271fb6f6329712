// Files that we write, opened so that no other user of the machine chooses what is written.
//
// Who can write in a folder can put a link there in the place of a file, or of a folder on the way to it. So:
// - a link on the way counts where not everybody can write, in its folder and all above; elsewhere only when it is ours
//   or root's (as fs.protected_symlinks has it, on every kernel, and not only in /tmp itself but below it);
// - a link in the place of the file does not count, unless it names an open file, as /dev/stdout does, or the rules let
//   it count as one on the way does;
// - where everybody can write, what is there already is ours, root's or the folder's owner's, and has one name only.
// Folders are gone through by descriptors, so that nothing changes between the look and the use. What is below /proc
// names open files, and is taken as it is.
#pragma once
#include <cstdint>
#include <string>

#include <sys/types.h>

#include "common/core/error.h"
#include "common/os/fd.h"

namespace sml::os {

enum class Folders : std::uint8_t { MustExist, AreMade };
// Of those that are made, less the umask; where everybody can write they are their maker's alone, as mkdtemp() has it.
inline constexpr mode_t kFolderMode = 0777;

// A name in a folder that is open; what the name stands for has not been looked at.
struct Place {
  UniqueFd folder;  // O_PATH
  std::string name;
  bool others_write_above = false;  // in the folder, or in one above
};

// Error (Io) says what is in the way. The path is not empty.
Result<Place> find_place(const std::string& path, Folders folders, mode_t folder_mode = kFolderMode);

enum class IfThere : std::uint8_t { Empty, Keep, Refuse };
enum class LastLink : std::uint8_t { IsRefused, CountsAsOthers };
enum class Access : std::uint8_t { Write, ReadAndWrite };

struct WriteRules {
  IfThere if_there = IfThere::Empty;
  Folders folders = Folders::MustExist;
  mode_t mode = 0666;  // of a new one, less the umask
  mode_t folder_mode = kFolderMode;
  LastLink last_link = LastLink::IsRefused;
  Access access = Access::Write;
};

// Opens it for writing at its end, not blocking, and makes it when it is not there; a FIFO must have a reader. Error
// (Io) names the file.
Result<UniqueFd> open_own_file(const std::string& path, const WriteRules& rules);

}  // namespace sml::os
