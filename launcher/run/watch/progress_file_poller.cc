#include "launcher/run/watch/progress_file_poller.h"

#include <array>
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

std::optional<std::uint64_t> number_in(std::string_view text) { return parse_number<std::uint64_t>(trim(text)); }

}  // namespace

report::StepNumbers step_in(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const std::size_t slash = line.find('/');
  if (slash == std::string_view::npos) return {number_in(line), {}};
  const report::StepNumbers out{number_in(line.substr(0, slash)), number_in(line.substr(slash + 1))};
  return out.step && out.total ? out : report::StepNumbers();
}

ProgressFilePoller::ProgressFilePoller(const boost::asio::any_io_executor& loop, std::string path, Written written)
    : path_(std::move(path)),
      written_(std::move(written)),
      timer_(loop),
      file_(std::make_shared<ProgressFile>(path_)),
      timeout_(loop),
      thread_(loop) {}

void ProgressFilePoller::begin() {
  if (path_.empty()) return;
  file_->begin();
  arm();
}

void ProgressFilePoller::arm() {
  timer_.expires_after(kInterval);
  timer_.async_wait([this](boost::system::error_code error) {
    if (!error) look([this] { arm(); });
  });
}

void ProgressFilePoller::look(std::function<void()> then) {
  struct Seen {
    bool written = false;
    report::StepNumbers step{};
  };
  const auto seen = std::make_shared<Seen>();
  thread_.post(
      [seen, file = file_, path = path_] {
        seen->written = file->has_changed();
        if (seen->written) seen->step = step_of(path);
      },
      [this, seen, then = std::move(then)] {
        if (seen->written) {
          was_written_ = true;
          written_(seen->step);
        }
        then();
      });
}

void ProgressFilePoller::ask(Answer answer) {
  if (path_.empty()) return answer(std::nullopt);
  answer_ = std::move(answer);
  timeout_.expires_after(kTimeout);
  timeout_.async_wait([this](boost::system::error_code error) {
    if (!error) reply(std::nullopt);
  });
  look([this, question = ++questions_] {
    if (answer_ && question == questions_) reply(std::exchange(was_written_, false));
  });
}

void ProgressFilePoller::reply(std::optional<bool> was_written) {
  timeout_.cancel();
  if (answer_) std::exchange(answer_, nullptr)(was_written);
}

}  // namespace sml::run
