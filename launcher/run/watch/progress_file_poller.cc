#include "launcher/run/watch/progress_file_poller.h"

#include <array>
#include <charconv>
#include <memory>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "common/core/text.h"
#include "common/os/fd.h"

namespace sml::run {

namespace {

std::optional<std::uint64_t> step_of(const std::string& path) {
  const os::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  std::array<char, 64> bytes{};
  const ssize_t n = file ? ::read(file.get(), bytes.data(), bytes.size()) : -1;
  return n > 0 ? step_in({bytes.data(), static_cast<std::size_t>(n)}) : std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> step_in(std::string_view text) {
  const std::string_view line = trim(text.substr(0, text.find('\n')));
  std::uint64_t step = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), step);
  return error == std::errc() && end == line.data() + line.size() ? std::optional(step) : std::nullopt;
}

ProgressFilePoller::ProgressFilePoller(const boost::asio::any_io_executor& loop, std::string path, Written written)
    : path_(std::move(path)), written_(std::move(written)), timer_(loop), file_(path_), thread_(loop) {}

void ProgressFilePoller::begin() {
  if (path_.empty()) return;
  file_.begin();
  arm();
}

void ProgressFilePoller::arm() {
  timer_.expires_after(kInterval);
  timer_.async_wait([this](boost::system::error_code error) {
    if (!error) look();
  });
}

// The side thread gets a copy, as it may outlive this.
void ProgressFilePoller::look() {
  struct Seen {
    ProgressFile file;
    bool written = false;
    std::optional<std::uint64_t> step{};
  };
  const auto seen = std::make_shared<Seen>(Seen{file_});
  thread_.post(
      [seen, path = path_] {
        seen->written = seen->file.touched().value_or(false);
        if (!seen->written) return;
        seen->file.begin();
        seen->step = step_of(path);
      },
      [this, seen] {
        file_ = seen->file;
        if (seen->written) written_(seen->step);
        arm();
      });
}

}  // namespace sml::run
