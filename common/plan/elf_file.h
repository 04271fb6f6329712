// What ELF files of 64 bits, little-endian, say of themselves; of anything else nothing is said. Pure: bytes in, names
// out; the file may hold anything, anywhere. Each question reads a few kilobytes, that for symbols what it is allowed.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sml::plan {

// At most `size` bytes of a file from `offset` on; fewer at its end, none where it cannot be read.
using ReadAt = std::function<std::string(std::uint64_t offset, std::size_t size)>;
// The same of any file, by its path.
using ReadFileAt = std::function<std::string(const std::string& path, std::uint64_t offset, std::size_t size)>;

// The shared libraries that the file needs (DT_NEEDED).
std::vector<std::string> needed_libraries(const ReadAt& read);

// Lists of folders in which it says that these are (DT_RPATH, DT_RUNPATH), as written: "$ORIGIN:/opt/lib".
std::vector<std::string> library_folders(const ReadAt& read);

// All names of its dynamic symbols, those that it imports among them, with zeros between; one may be the end of
// another. Empty: there are none, or more than `most` bytes of them.
std::string symbol_names(const ReadAt& read, std::uint64_t most);

// What its makers have noted in it (PT_NOTE), at most the first 4 KiB of each.
std::string notes(const ReadAt& read);

}  // namespace sml::plan
