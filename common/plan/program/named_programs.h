// Finds the programs that a command line names, which a wrapper or a shell will start. Pure. A heuristic on words: a
// wrong guess costs only some look-ups.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "common/plan/program/host_files.h"

namespace sml::plan {

// Returns the files that are named by the words of the command line, by the text of `sh -c`, and by a shell script
// outside of its comment lines: absolute, in order of appearance. Empty if an MPI launcher is among the words, as it
// serves the programs that it starts. Examines the first 64 different words, without options, of the first 64 KiB.
std::vector<std::string> named_programs(const CommandLine& line, std::span<const std::string> environment,
                                        const HostFiles& files);

}  // namespace sml::plan
