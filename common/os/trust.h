// Whether what a path names may be run, loaded or believed as this user: nobody else has had a say in it, nor can have
// one before it is used.
//
// Trusted are root, the user whom we run as, and whoever owns "/", who may exchange everything (root again, but in a
// user namespace that does not know root). Everything on the way, links resolved, belongs to one of them and is closed
// to all others: not writable for everybody, nor for a group, but root's and the user's own (of the same number). A
// folder with the sticky bit, such as /tmp, counts as closed for what is in it and is theirs, and not as a place to
// look for names: whoever is first may have them. On a mount that is read-only nobody writes.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"

namespace sml::os {

// Checks a file, or a folder in which names are to be looked for. An open descriptor (/dev/stdin) always passes. Error
// (Config): a clause that names the obstacle: "/tmp/open can be written by every user of this machine".
Result<void> check_trust(const std::string& path);

// The first of the files that is a program and may be run; and why others before it, which are there, were passed over:
// clauses "/tmp/gdb is not run, as it belongs to user 7700".
struct TrustedProgram {
  std::string file;  // empty: there is none
  std::vector<std::string> passed_over;
};
TrustedProgram find_trusted_program(std::span<const std::string> candidates);

// For who loads libraries by name: leaves only those folders of LD_LIBRARY_PATH in which names may be looked for.
void keep_trusted_folders(std::vector<std::string>& environment);

// That of the program with which a line for /bin/sh begins, in that folder; what begins with anything but a plain word
// cannot be told beforehand. Error (Config): as check_trust().
Result<void> check_trust_of_command(const std::string& command, std::span<const std::string> environment,
                                    const std::string& directory);

}  // namespace sml::os
