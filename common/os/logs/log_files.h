// Log files to which many streams are appended, byte for byte, with a limited number of them open at a time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/os/fd.h"
#include "common/os/own_file.h"

namespace sml::os {

enum class Overwrite : std::uint8_t { No, Yes };

struct LogRules {
  std::uint64_t max_size = 0;  // bytes of one file; 0: no limit
  Overwrite overwrite = Overwrite::No;
};

// Folders and files are created with modes 0777 and 0666 less the umask; files and links that other users may have put
// there are refused, see own_file.h. A file that would grow beyond the limit is renamed to file.1, an existing file.1
// to file.2, and so on up to kOlder; a line is cut only if it is longer than the limit or was already begun. The number
// of open files is at most a quarter of the limit on descriptors. Writes block for as long as the disk takes. Used by
// one thread at a time.
class LogFiles {
 public:
  using Index = std::size_t;
  static constexpr unsigned kOlder = 4;

  // A file is identified by its index in `paths`; one with an empty path accepts everything and keeps nothing. The
  // constructor opens nothing.
  LogFiles(LogRules rules, std::vector<std::string> paths);

  std::size_t count() const { return files_.size(); }
  // Error (Config) naming a file that already exists, unless files may be overwritten; Error (Io) for a folder in which
  // files cannot be made. Changes nothing.
  Result<void> check() const;
  // Creates all files, empty; with Overwrite::Yes it also deletes file.1 to file.4 of an earlier job. Error (Io) for
  // the first that cannot be created; then all are given up.
  Result<void> create();
  // Creates further files at once; their indices follow. Error (Io) for the first that cannot be created; that file
  // keeps nothing.
  Result<void> add(std::vector<std::string> paths);
  // Error (Io) once per file; the file is then given up: it accepts everything and keeps nothing.
  Result<void> write(Index file, std::string_view bytes);

 private:
  struct File {
    std::string path;
    std::uint64_t size = 0;  // bytes written since it was created or last renamed
    UniqueFd fd;             // empty: closed for now; opened again by the next write
    bool given_up = false;   // accepts everything and keeps nothing
  };
  Result<void> make(Index index);
  Result<void> append(File& file, std::string_view bytes);
  Result<void> open(Index index, IfThere if_there);
  void close_oldest();
  Result<void> rotate(Index index);
  // bytes; 0: the file is full
  std::size_t part_that_fits(const File& file, std::string_view bytes) const;

  LogRules rules_;
  std::vector<File> files_;
  std::deque<Index> open_;  // in the order in which they were opened
  std::size_t max_open_;
};

}  // namespace sml::os
