// This host's files, for pure code that looks into some of them.
#pragma once
#include <cstdint>
#include <string>

#include "common/plan/host_files.h"

namespace sml::agent {

// The same file whatever becomes of its path meanwhile; open for as long as the answer lives.
plan::ReadAt reader_of(const std::string& path);

// Of a regular file or anything that need not be waited for; see plan::ReadFileAt.
std::string read_file_at(const std::string& path, std::uint64_t offset, std::size_t size);

plan::HostFiles host_files();

}  // namespace sml::agent
