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

report::StepNumbers step_of(const std::string& path) {
  const os::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  std::array<char, 64> bytes{};
  const ssize_t n = file ? ::read(file.get(), bytes.data(), bytes.size()) : -1;
  return n > 0 ? step_in({bytes.data(), static_cast<std::size_t>(n)}) : report::StepNumbers();
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  text = trim(text);
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

}  // namespace

report::StepNumbers step_in(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const std::size_t slash = line.find('/');
  if (slash == std::string_view::npos) return {number_in(line), {}};
  const report::StepNumbers out{number_in(line.substr(0, slash)), number_in(line.substr(slash + 1))};
  return out.step && out.total ? out : report::StepNumbers();
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
    report::StepNumbers step{};
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
