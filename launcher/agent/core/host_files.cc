#include "launcher/agent/core/host_files.h"

#include <memory>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/os/fd.h"

namespace sml::agent {

namespace {

bool is_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> out;
  DIR* open = ::opendir(folder.c_str());
  if (open == nullptr) return out;
  while (const dirent* entry = ::readdir(open)) out.emplace_back(entry->d_name);
  ::closedir(open);
  return out;
}

os::UniqueFd open_to_read(const std::string& path) {
  return os::UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

std::string read_at(const os::UniqueFd& fd, std::uint64_t offset, std::size_t size) {
  std::string bytes(size, '\0');
  const ssize_t got = fd ? ::pread(fd.get(), bytes.data(), size, static_cast<off_t>(offset)) : -1;
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

}  // namespace

plan::ReadAt reader_of(const std::string& path) {
  const auto fd = std::make_shared<os::UniqueFd>(open_to_read(path));
  return [fd](std::uint64_t offset, std::size_t size) { return read_at(*fd, offset, size); };
}

std::string read_file_at(const std::string& path, std::uint64_t offset, std::size_t size) {
  return read_at(open_to_read(path), offset, size);
}

plan::HostFiles host_files() { return {read_file_at, is_file, names_in}; }

}  // namespace sml::agent
