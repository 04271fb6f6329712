// A folder of the job on one host: for the files by which workers tell why they failed, for FIFOs, and for links to
// their data.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "common/core/strong.h"

namespace sml::agent {

// Gone, with all that is in it, when the object goes. Where there is no folder, nobody is told of any file.
class ScratchFolder {
 public:
  ScratchFolder() = default;  // there is none
  // Below $TMPDIR or /tmp with mode 0700; none where it cannot be made.
  static ScratchFolder make() { return ScratchFolder(make_folder()); }
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  // Removes all that is in it: the next attempt finds nothing of this one.
  void clear() const;
  // Empty when there is no folder.
  const std::string& path() const { return path_; }
  // The file of a rank, whether it exists or not; empty when there is no folder.
  std::string error_file(Rank rank) const;
  // Its first `limit` bytes, and it is removed; empty when there is none. Follows no link.
  std::string take_error_file(Rank rank, std::size_t limit) const;

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  static std::string make_folder();

  std::string path_;
};

// The one of an agent that is dead, by ScratchFolder::path(). Does nothing to other folders: it must have such a name
// and be ours.
void remove_scratch_folder(const std::string& path);

}  // namespace sml::agent
