// Which other programs a command line names: those that a wrapper or a shell will start. Pure; a guess by words, which
// costs some look-ups and no more.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "common/plan/host_files.h"

namespace sml::plan {

// Files that its words name, those in the text of `sh -c`, and those in a shell's script, outside of comments;
// absolute, in their order, each once. None where a launcher of MPI is among the words: it serves what it starts. Looks
// at the first 64 words of the first 64 KiB.
std::vector<std::string> named_programs(const CommandLine& line, std::span<const std::string> environment,
                                        const HostFiles& files);

}  // namespace sml::plan
