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

#include "common/core/error.h"

namespace sml::os {

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

// For programs that load libraries by name: keeps only folders of LD_LIBRARY_PATH in which names may be looked up.
// Returns why folders that have `library` were left out, as messages of check_trust().
std::vector<std::string> keep_trusted_folders(std::vector<std::string>& environment, const std::string& library = ".");

// Checks the program with which a line for /bin/sh begins, relative to that folder; a line that begins with anything
// but a plain word cannot be checked in advance and passes. Error (Config): as check_trust().
Result<void> check_trust_of_command(const std::string& command, std::span<const std::string> environment,
                                    const std::string& directory);

}  // namespace sml::os
