#include "launcher/agent/diagnosis/tool_run.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include <unistd.h>

#include "common/os/fd.h"
#include "common/os/spawn.h"
#include "launcher/agent/core/waits.h"

namespace sml::agent {

Result<void> ToolRun::start(const std::vector<std::string>& argv, std::size_t most, std::function<void()> done,
                            const Environment& environment) {
  Result<os::Pipe> pipe = os::make_pipe();
  if (!pipe) return pipe.error();
  Result<os::UniqueFd> null = os::open_dev_null();
  if (!null) return null.error();
  const int end = pipe->write.get();
  Result<pid_t> started = os::spawn_helper({.argv = argv,
                                            .stdin_fd = null->get(),
                                            .stdout_fd = end,
                                            .stderr_fd = end,
                                            .environment = environment.entries,
                                            .environment_as_it_is = environment.lists == Lists::Trimmed});
  if (!started) return started.error();
  pid_ = *started;
  most_ = most;
  done_ = std::move(done);
  os::set_nonblocking(pipe->read.get());
  output_.assign(pipe->read.release());
  await();
  return {};
}

void ToolRun::await() {
  when_readable(output_, lifetime_.guard([this] { read(); }));
}

void ToolRun::read() {
  std::array<char, 8192> bytes;
  const ssize_t n = ::read(output_.native_handle(), bytes.data(), bytes.size());
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return await();
  if (n > 0) text_.append(bytes.data(), std::min(static_cast<std::size_t>(n), most_ - text_.size()));
  if (n <= 0 || text_.size() == most_) return finish();
  await();
}

void ToolRun::finish() {
  kill();
  if (const std::function<void()> done = std::exchange(done_, nullptr)) done();
}

void ToolRun::kill() {
  boost::system::error_code ignored;
  output_.close(ignored);
  if (pid_ > 0) ::kill(-pid_, SIGKILL);  // the leader of its own session, not reaped yet
}

bool ToolRun::ended(pid_t pid) {
  if (pid_ != pid) return false;
  pid_ = -1;
  return true;
}

}  // namespace sml::agent
