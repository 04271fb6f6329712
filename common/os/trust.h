// Checks whether this user may run or load the file of a path, or rely on its content: no other user has been able to
// change it, nor can one before it is used.
//
// Trusted are root, the user of this process, and the owner of "/", who can replace everything (root again, except in a
// user namespace that does not know root). Every file and folder on the path, links resolved, must belong to one of
// them and be closed to all others: not writable for everybody, nor for a group, except root's and the user's own (with
// the same number). A folder with the sticky bit, such as /tmp, counts as closed for its entries that belong to trusted
// users, but not as a folder in which names are looked up: any user may be the first to create a name there. On a
// read-only mount no one can write.
#pragma once
#include <span>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "common/core/error.h"

namespace sml::os {

// Whether that user is one of the trusted ones.
bool is_trusted_owner(uid_t owner);

// Whether others can write to the file or in the folder: everybody, a group (or, by an ACL, some other user) as above,
// or its owner, who can always do so, if that user is not trusted. The folders above are not looked at. `info` is the
// file's; `fd` may be an O_PATH descriptor, but not of a link.
bool others_can_write(const std::string& path, const struct stat& info);
bool others_can_write(int fd, const struct stat& info);

// Checks a file, or a folder in which names are to be looked up. An open descriptor (/dev/stdin) always passes. Error
// (Config) names the obstacle: "/tmp/open can be written by every user of this machine".
Result<void> check_trust(const std::string& path);

// The first of the files that is a program and may be run.
struct TrustedProgram {
  std::string file;  // empty: there is none
  // why existing programs before it were skipped: "/tmp/gdb is not run, as it belongs to user 7700"
  std::vector<std::string> passed_over;
};
TrustedProgram find_trusted_program(std::span<const std::string> candidates);

// For programs that load libraries by name: keeps only folders of LD_LIBRARY_PATH in which names may be looked up, and
// where `library`, if it is there, passes as well. Returns why folders that have it were left out, as messages of
// check_trust().
std::vector<std::string> keep_trusted_folders(std::vector<std::string>& environment, const std::string& library = ".");

// The same for programs that look up programs by name, with PATH. Relative folders are left out without a word; where
// none stays, PATH is the system's.
std::vector<std::string> keep_trusted_path(std::vector<std::string>& environment, const std::string& program = ".");

// For every program that is none of the workers': of PATH, LD_LIBRARY_PATH and PYTHONPATH only those folders stay that
// check_trust() passes, of LD_PRELOAD and LD_AUDIT only those files, and names without a folder, which the loader looks
// up in what is left of LD_LIBRARY_PATH. A list of which nothing is left goes; PATH is the system's then.
void keep_trusted_lists(std::vector<std::string>& environment);

// A line for /bin/sh that may be run.
struct TrustedCommand {
  std::string line;  // where it begins with a program, by the quoted name of the file that was checked
  // for the shell's status 127, "not found": "; PATH is used without a folder, as REASON", or empty
  std::string left_out;
};
// Checks the program with which the line begins, relative to that folder. Only a plain word is checked: no word of the
// shell itself, no assignment, and none that the shell would change, by quotes, '$', a wildcard or '~'. Error (Config):
// as check_trust(), also where a word with a '/' names no program, as another user might still put one there. Other
// programs that the line names are looked for in the PATH that keep_trusted_lists() leaves.
Result<TrustedCommand> check_trust_of_command(const std::string& command, std::span<const std::string> environment,
                                              const std::string& directory);

}  // namespace sml::os
