// Access to this host's files, for pure code that reads some of them.
#pragma once
#include <cstdint>
#include <string>

#include "common/plan/program/host_files.h"

namespace sml::agent {

// Reads the same file even if its path changes meaning; the file stays open for as long as the returned function lives.
plan::ReadAt reader_of(const std::string& path);

// Reads a regular file, or any other that can be read without a wait; see plan::ReadFileAt.
std::string read_file_at(const std::string& path, std::uint64_t offset, std::size_t size);

plan::HostFiles host_files();

}  // namespace sml::agent
