// Functions that read this host's files, to be passed to pure code of common/plan.
#pragma once
#include <cstdint>
#include <string>

#include "common/plan/program/host_files.h"

namespace sml::agent {

// Opens the file and returns a function that reads it. The function keeps the file open while it or a copy of it lives,
// so it reads the same file even if another is moved to `path`. It reads nothing if the file cannot be opened.
plan::ReadAt reader_of(const std::string& path);

// Reads a regular file, or any other that can be read without a wait. Returns at most `size` bytes from `offset` on;
// none if the file cannot be read.
std::string read_file_at(const std::string& path, std::uint64_t offset, std::size_t size);

// The functions by which pure code reads the files of this host.
plan::HostFiles host_files();

}  // namespace sml::agent
