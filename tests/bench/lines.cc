// Writes COUNT lines of WIDTH bytes (newline included) to stdout, in blocks of whole lines of at most 64 KiB.
//
//   lines COUNT [WIDTH [USAGE_FILE]]
//
// To USAGE_FILE it appends its own CPU time in seconds, so that a reader's share can be told from the writers'.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

constexpr std::size_t kBlock = 64 * 1024;

std::string rank() {
  for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    if (const char* value = std::getenv(name)) return value;
  }
  return "0";
}

std::string make_block(std::size_t width) {
  std::string line = "rank " + rank() + " ";
  line.resize(width - 1, '.');
  line += '\n';
  std::string block;
  while (block.size() + width <= kBlock) block += line;
  return block;
}

bool write_all(std::string_view data) {
  while (!data.empty()) {
    const ssize_t n = write(STDOUT_FILENO, data.data(), data.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    data.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

double seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; }

bool append_usage(const char* file) {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.6f\n", seconds(used.ru_utime) + seconds(used.ru_stime));
  const int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  // one write: four writers append to one file
  const bool good = fd >= 0 && write(fd, text.data(), static_cast<std::size_t>(length)) == length;
  if (fd >= 0) close(fd);
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const long count = argc > 1 ? std::strtol(argv[1], nullptr, 10) : -1;
  const long width = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 100;
  if (count < 0 || width < 20 || width > static_cast<long>(kBlock) || argc > 4) {
    std::fputs("usage: lines COUNT [WIDTH [USAGE_FILE]]\n", stderr);
    return 2;
  }
  const auto line = static_cast<std::size_t>(width);
  const std::string block = make_block(line);
  for (auto left = static_cast<std::size_t>(count); left > 0;) {
    const std::size_t now = std::min(left, block.size() / line);
    if (!write_all(std::string_view(block).substr(0, now * line))) {
      std::perror("lines");
      return 1;
    }
    left -= now;
  }
  return argc > 3 && !append_usage(argv[3]) ? 1 : 0;
}
