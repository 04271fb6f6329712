// Reads names from 64-bit little-endian ELF files; for any other file the results are empty. Pure: takes bytes, returns
// names. The content of the file is not trusted. Each function reads a few kilobytes, symbol_names() up to its limit.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sml::plan {

// Returns at most `size` bytes of a file from `offset` on; fewer at its end, none if it cannot be read.
using ReadAt = std::function<std::string(std::uint64_t offset, std::size_t size)>;
// The same for any file, by its path.
using ReadFileAt = std::function<std::string(const std::string& path, std::uint64_t offset, std::size_t size)>;

// The shared libraries that the file needs (DT_NEEDED).
std::vector<std::string> needed_libraries(const ReadAt& read);

// The lists of folders in which the file's libraries are to be searched (DT_RPATH, DT_RUNPATH), as written:
// "$ORIGIN:/opt/lib".
std::vector<std::string> library_folders(const ReadAt& read);

// All names of the file's dynamic symbols, imported ones included, and of the libraries that it needs, separated by
// zero bytes; a name may be the tail of another. Empty if there are none, or if they take more than `most` bytes.
std::string symbol_names(const ReadAt& read, std::uint64_t most);

// The notes in the file (PT_NOTE), at most the first 4 KiB of each, and about 64 KiB of all.
std::string notes(const ReadAt& read);

}  // namespace sml::plan
