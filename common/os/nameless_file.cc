#include "common/os/nameless_file.h"

#include <cerrno>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sml::os {
namespace {

constexpr unsigned kMayBeExecuted = 0x10;  // MFD_EXEC of Linux 6.3

UniqueFd memory_file(const char* name, std::string_view bytes, FileUse use) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | (use == FileUse::Execute ? kMayBeExecuted : 0U)));
  if (!fd && errno == EINVAL) fd.reset(::memfd_create(name, MFD_CLOEXEC));  // a kernel that does not ask
  if (fd && (!write_all(fd.get(), bytes) || ::lseek(fd.get(), 0, SEEK_SET) != 0)) fd.reset();
  return fd;
}

std::string path_of(const UniqueFd& fd) { return "/proc/self/fd/" + std::to_string(fd.get()); }

// No program can be executed that is open for writing.
UniqueFd file_in(const std::string& folder, std::string_view bytes, FileUse use) {
  std::string path = folder + "/sml-run-XXXXXX";
  const UniqueFd writer(::mkostemp(path.data(), O_CLOEXEC));
  if (!writer) return {};
  ::unlink(path.c_str());
  if (!write_all(writer.get(), bytes) || ::fchmod(writer.get(), S_IRUSR | S_IXUSR) != 0) return {};
  UniqueFd reader(::open(path_of(writer).c_str(), O_RDONLY | O_CLOEXEC));
  if (reader && use == FileUse::Execute && ::access(path_of(reader).c_str(), X_OK) != 0) return {};  // noexec
  return reader;
}

}  // namespace

Result<UniqueFd> nameless_file(const char* name, std::string_view bytes, FileUse use) {
  if (UniqueFd fd = memory_file(name, bytes, use)) return fd;
  const int why = errno;
  for (const char* variable : {"XDG_RUNTIME_DIR", "/dev/shm", "/tmp", "/var/tmp", "HOME"}) {
    const char* folder = *variable == '/' ? variable : std::getenv(variable);
    if (folder == nullptr || *folder != '/') continue;
    if (UniqueFd fd = file_in(folder, bytes, use)) return fd;
  }
  return sys_error(ErrorKind::Spawn, std::string("there is neither memory nor a folder for ") + name, why)
      .with_hint(
          "it needs memfd_create, or a place in /dev/shm, /tmp, /var/tmp or the home from which programs can run");
}

}  // namespace sml::os
