// A file whose content is replaced as a whole, so that a reader finds the old one or the new one, never a part. Linux.
#pragma once
#include <string>
#include <string_view>

#include "common/core/error.h"
#include "common/os/own_file.h"

namespace sml::os {

class RenewedFile {
 public:
  // Finds the file's folder, and makes sure that a file can be put there; the name itself is not touched. Where others
  // may write, a file of that name must belong to this user or root; it must be a regular one or missing. Error (Io)
  // names the file.
  static Result<RenewedFile> open(const std::string& path);

  // Writes `text` to a new file beside it, with the mode that the umask leaves, which takes its place. Blocks as long
  // as the file system does; any thread, one at a time. Error (Io) names the file.
  Result<void> renew(std::string_view text) const;
  const std::string& path() const { return path_; }

 private:
  RenewedFile(std::string path, Place place) : path_(std::move(path)), place_(std::move(place)) {}
  Result<UniqueFd> make_beside() const;
  std::string name_beside() const;
  Result<void> check_name() const;

  std::string path_;
  Place place_;
};

}  // namespace sml::os
