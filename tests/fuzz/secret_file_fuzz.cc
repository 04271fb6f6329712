// Any bytes in a file of any mode as a job's secret: one that others can write to, or read, is never believed, and what
// is read is the file's beginning without the ends of its last lines. The first two bytes of the input are the mode.
#include "launcher/inputs/secret_file.h"

#include <cstdint>
#include <string>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/os/fd.h"
#include "tests/fuzz/require.h"

using namespace sml;
using sml::fuzz::require;

namespace {

constexpr uid_t kSelf = 1000, kOther = 1001;

void check_modes(mode_t mode) {
  for (const SecretKind kind : {SecretKind::Named, SecretKind::Default}) {
    for (const uid_t owner : {uid_t{0}, kSelf, kOther}) {
      const bool believed = !refuse_secret_file({mode, owner, false}, kind, kSelf);
      require(!believed || ((mode & 0066) == 0 && owner != kOther && !S_ISLNK(mode) && !S_ISDIR(mode)));
      const bool mounted = !refuse_secret_file({mode, owner, true}, kind, kSelf);
      require(!mounted || ((mode & 0022) == 0 && owner != kOther));
    }
  }
}

void check_bytes(mode_t mode, const std::string& bytes) {
  const os::UniqueFd file(::memfd_create("secret", MFD_CLOEXEC));
  if (!file || ::write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) return;
  require(::fchmod(file.get(), mode & 0777) == 0);
  const auto read = read_secret_file("/proc/self/fd/" + std::to_string(file.get()), SecretKind::Named);
  if (!read) {
    require(read.error().kind() == ErrorKind::Config && !read.error().message().empty());
    return;
  }
  require((mode & 0022) == 0 && bytes.starts_with(*read) && read->size() <= kMostSecret);
  require(!read->ends_with('\n') && bytes.find_first_not_of("\r\n", read->size()) == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto mode = static_cast<mode_t>(data[0] << 8 | data[1]);
  check_modes(mode);
  const std::string bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  check_bytes(mode, bytes);
  check_bytes(0600, bytes);
  return 0;
}
