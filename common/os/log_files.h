// Files to which many streams are appended, byte for byte, some of them open at a time.
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

// Folders and files are made with modes 0777 and 0666 less the umask; what others can have put there is refused, see
// own_file.h. A file that would grow beyond the limit becomes
// file.1, what was that file.2, and so on up to kOlder; a line is cut only when it is longer than the limit or had been
// begun. At most as many files are open as a quarter of the limit on descriptors. Writing blocks for the time that a
// disk takes.
class LogFiles {
 public:
  using Index = std::size_t;
  static constexpr unsigned kOlder = 4;

  // `paths` are known by their index; an empty one takes everything and keeps nothing.
  LogFiles(LogRules rules, std::vector<std::string> paths);

  std::size_t count() const { return files_.size(); }
  // Error (Config) naming a file that is there already, unless they may be overwritten. Touches nothing.
  Result<void> check() const;
  // Makes all files, empty. Error (Io) for the first that cannot be; all are given up then.
  Result<void> create();
  // Further ones, made at once: their indices follow. Error (Io) for the first that cannot be; it keeps nothing.
  Result<void> add(std::vector<std::string> paths);
  // Error (Io) once per file; it is given up, and takes everything and keeps nothing from then on.
  Result<void> write(Index file, std::string_view bytes);

 private:
  struct File {
    std::string path;
    std::uint64_t size = 0;
    UniqueFd fd;
    bool given_up = false;
  };
  Result<void> make(Index index);
  Result<void> append(File& file, std::string_view bytes);
  Result<void> open(Index index, IfThere if_there);
  void close_oldest();
  Result<void> rotate(Index index);
  std::size_t part_that_fits(const File& file, std::string_view bytes) const;

  LogRules rules_;
  std::vector<File> files_;
  std::deque<Index> open_;  // in the order in which they were opened
  std::size_t max_open_;
};

}  // namespace sml::os
