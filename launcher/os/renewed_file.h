// A file whose content is replaced as a whole, so that a reader finds the old one or the new one, never a part. Linux.
#pragma once
#include <string>
#include <string_view>

#include "common/core/error.h"
#include "common/os/own_file.h"

namespace sml::os {

class RenewedFile {
 public:
  // Finds the file's folder, and checks that a file can be made there. Does not change a file that exists, which must
  // be a regular one, and in a folder that others can write belong to this user or root. Else makes an empty one, so
  // that in a folder like /tmp nobody else takes the name. Error (Io) names the file.
  static Result<RenewedFile> open(const std::string& path);

  // Writes `text` to a new file in the same folder, with the mode that the umask leaves and a name that nobody can
  // guess and take before, and renames it over the old one. Blocks as long as the file system does. Any thread may call
  // it, but only one at a time. Error (Io) names the file; the old content stays.
  Result<void> renew(std::string_view text) const;
  const std::string& path() const { return path_; }

 private:
  RenewedFile(std::string path, Place place) : path_(std::move(path)), place_(std::move(place)) {}
  struct NewFile {
    std::string name;  // before it is renamed
    UniqueFd fd;
  };
  Result<NewFile> make_beside() const;
  Result<void> check_name() const;

  std::string path_;
  Place place_;
};

}  // namespace sml::os
