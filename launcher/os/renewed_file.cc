#include "launcher/os/renewed_file.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/core/text.h"
#include "common/os/random.h"

namespace sml::os {

namespace {

constexpr int kNew = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
constexpr mode_t kMode = 0666;
constexpr int kTries = 5;

}  // namespace

Result<RenewedFile> RenewedFile::open(const std::string& path) {
  Result<Place> place = find_place(path, Folders::MustExist);
  if (!place) return place.error();
  RenewedFile out(path, std::move(*place));
  const UniqueFd held(::openat(out.place_.folder.get(), out.place_.name.c_str(), kNew, kMode));
  if (Result<void> good = out.check_name(); !good) return good.error();
  const Result<NewFile> trial = out.make_beside();
  if (!trial) return trial.error();
  ::unlinkat(out.place_.folder.get(), trial->name.c_str(), 0);
  return out;
}

Result<void> RenewedFile::check_name() const {
  struct stat there {};
  if (::fstatat(place_.folder.get(), place_.name.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0) return {};
  if (!S_ISREG(there.st_mode)) {
    return Error(ErrorKind::Io, show(path_) + " is no regular file, and is not replaced; give another name");
  }
  if (place_.others_write_above && there.st_uid != ::geteuid() && there.st_uid != 0) {
    return Error(ErrorKind::Io, show(path_) + " belongs to another user, and is not replaced; give another name");
  }
  return {};
}

// A new name each time: in a folder like /tmp another user could take one that is known, and keep it. The beginning is
// hidden, and the end is not the one by which a collector finds its files.
Result<RenewedFile::NewFile> RenewedFile::make_beside() const {
  constexpr std::size_t kLongest = 200;
  for (int i = 0; i < kTries; ++i) {
    std::string name = "." + place_.name.substr(0, kLongest) + "." + random_hex(8) + ".tmp";
    UniqueFd file(::openat(place_.folder.get(), name.c_str(), kNew, kMode));
    if (file) return NewFile{std::move(name), std::move(file)};
    if (errno != EEXIST) break;
  }
  return sys_error(ErrorKind::Io, "cannot write beside " + show(path_), errno);
}

Result<void> RenewedFile::renew(std::string_view text) const {
  const Result<NewFile> file = make_beside();
  if (!file) return file.error();
  const int folder = place_.folder.get();
  const char* const name = file->name.c_str();
  if (write_all(file->fd.get(), text) && ::renameat(folder, name, folder, place_.name.c_str()) == 0) return {};
  const int why = errno;
  ::unlinkat(folder, name, 0);
  return sys_error(ErrorKind::Io, "cannot write " + show(path_), why);
}

}  // namespace sml::os
