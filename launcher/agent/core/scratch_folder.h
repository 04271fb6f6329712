// A temporary folder of the job on one host: for the files in which workers report why they failed (error files), for
// FIFOs, and for links to the workers' data.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "common/core/strong.h"
#include "common/os/fd.h"

namespace sml::agent {

// The destructor removes the folder with its contents. If there is no folder, all paths are empty. If the guardian and
// the agent are killed at once, the folder stays until the next make() on that machine, which finds its lock (flock(2))
// free and removes it. A folder on which keep() was called stays for good: nothing here removes it.
class ScratchFolder {
 public:
  ScratchFolder() = default;  // there is no folder
  // Makes a folder below $TMPDIR or /tmp with mode 0700, where no other user can exchange it (common/os/trust.h);
  // path() is empty if that fails. Also removes scratch folders of this user that no process uses any more, but none
  // where another user can have given a folder that name, nor of another machine or boot, whose locks cannot be seen
  // here.
  static ScratchFolder make();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  // Removes all contents, so that the next attempt finds nothing of this one.
  void clear() const;
  // Marks the folder as kept, for all processes of this machine, by its sticky bit.
  void keep() const;
  // Empty if there is no folder.
  const std::string& path() const { return path_; }
  // The path of the rank's error file, whether it exists or not; empty if there is no folder.
  std::string error_file(Rank rank) const;
  // Returns the first `limit` bytes of the error file and removes the file; empty if there is none, or it is another
  // user's. Does not follow a symbolic link.
  std::string take_error_file(Rank rank, std::size_t limit) const;

 private:
  ScratchFolder(std::string path, os::UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  os::UniqueFd lock_;  // shared with forked processes, until the last of them has ended
};

// Removes the scratch folder of a dead agent, given its ScratchFolder::path(). Does nothing to other folders: the name
// must be that of a scratch folder, the owner the current user, and the folder not kept.
void remove_scratch_folder(const std::string& path);

}  // namespace sml::agent
