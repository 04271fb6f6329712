#include "launcher/run/restarts/host_discovery.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "common/core/text.h"
#include "common/os/fd.h"
#include "common/os/spawn.h"
#include "common/os/trust.h"
#include "launcher/hosts/hostfile.h"

namespace sml::run {

namespace {

constexpr std::string_view kScript = "--host-discovery-script";
constexpr int kNotFound = 127;  // of a shell

// Blocks while the file system does, but not for a writer of a pipe.
Result<std::string> text_of(const std::string& path) {
  const os::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  std::array<char, 65536> bytes{};
  std::string text;
  while (text.size() < hosts::kMaxHostfileBytes) {
    const ssize_t n = file ? ::read(file.get(), bytes.data(), bytes.size()) : -1;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return sys_error(ErrorKind::Io, "cannot be read", errno);
    if (n == 0) break;
    text.append(bytes.data(), static_cast<std::size_t>(n));
  }
  return text;
}

std::string last_line(std::string_view text) {
  constexpr std::size_t kLongest = 300;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return show(text.substr(text.rfind('\n') + 1), kLongest);
}

}  // namespace

HostDiscovery::HostDiscovery(boost::asio::io_context& loop, const DiscoveryOptions& options,
                             std::weak_ptr<dialin::Coordinator> head, Listed listed)
    : loop_(loop), options_(options), head_(std::move(head)), listed_(std::move(listed)), timer_(loop) {}

void HostDiscovery::begin(Duration after) {
  if (options_.is_on()) arm(after);
}

void HostDiscovery::end() {
  timer_.cancel();
  boost::system::error_code ignored;
  answer_.pipe.close(ignored);
  complaints_.pipe.close(ignored);
  if (child_) ::kill(-child_->pid(), SIGKILL);  // it needs no time to clean up
  child_.reset();
  leash_.reset();
  reader_.reset();
}

void HostDiscovery::arm(Duration after) {
  timer_.expires_after(after);
  timer_.async_wait([this, alive = std::weak_ptr<bool>(alive_)](boost::system::error_code error) {
    if (!error && !alive.expired()) ask();
  });
}

void HostDiscovery::ask() {
  if (options_.callers == DiscoveryOptions::Callers::AnyTime) {
    arm(options_.interval);
    std::vector<plan::Host> callers;
    if (const std::shared_ptr<dialin::Coordinator> head = head_.lock()) {
      for (const std::string& name : head->present()) callers.push_back({.name = name, .user = {}, .slots = {}});
    }
    return listed_(callers);
  }
  if (child_) {  // its time is over
    end();
    return take(Error(ErrorKind::Timeout, "has not ended within " + format_duration(kLimit)));
  }
  if (reader_) {  // which nothing can end
    arm(kLimit);
    return listed_(
        Error(ErrorKind::Timeout, "its file system has not answered within " + format_duration(kLimit)).in(source()));
  }
  if (options_.script.empty()) return read_file();
  if (Result<void> runs = run_script(); !runs) return take(runs.error());
  arm(kLimit);
}

void HostDiscovery::read_file() {
  reader_.emplace(loop_.get_executor());
  const auto text = std::make_shared<Result<std::string>>();
  reader_->post([text, path = options_.hostfile] { *text = text_of(path); },
                [this, text] {
                  reader_.reset();
                  take(std::move(*text));
                });
  arm(kLimit);
}

Result<void> HostDiscovery::run_script() {
  Result<os::TrustedCommand> trusted = os::check_trust_of_command(options_.script, os::own_search_path(), {});
  if (!trusted) return Error(trusted.error()).in("is not run");
  left_out_ = std::move(trusted->left_out);
  Result<os::Pipe> answer = os::make_pipe();
  if (!answer) return answer.error();
  Result<os::Pipe> complaints = os::make_pipe();
  if (!complaints) return complaints.error();
  Result<os::Leash> leash = os::Leash::make();
  if (!leash) return leash.error();
  Result<pid_t> started = os::spawn_helper({.argv = {"/bin/sh", "-c", trusted->line},
                                            .stdin_fd = leash->input(),
                                            .stdout_fd = answer->write.get(),
                                            .stderr_fd = complaints->write.get()});
  if (!started) return started.error();
  leash_.emplace(std::move(*leash));
  leash_->tie(*started);
  child_ = std::make_unique<os::Child>(loop_.get_executor(), *started,
                                       [this](const ExitStatus& status) { script_ended(status); });
  const auto follow = [this](Output& output, os::Pipe& pipe) {
    output.text.clear();
    os::set_nonblocking(pipe.read.get());
    boost::system::error_code ignored;
    output.pipe.close(ignored);
    output.pipe.assign(pipe.read.release());
    read(output);
  };
  follow(answer_, *answer);
  follow(complaints_, *complaints);
  return {};
}

// Reads all available bytes.
void HostDiscovery::read(Output& output) {
  std::array<char, 4096> bytes{};
  for (;;) {
    const ssize_t n = ::read(output.pipe.native_handle(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n <= 0) return;
    if (output.text.size() < kMost) output.text.append(bytes.data(), static_cast<std::size_t>(n));
  }
  output.pipe.async_wait(boost::asio::posix::descriptor_base::wait_read,
                         [this, &output, alive = std::weak_ptr<bool>(alive_)](boost::system::error_code error) {
                           if (!error && !alive.expired() && output.pipe.is_open()) read(output);
                         });
}

// Closes the pipes: processes that the script started, and that go on, may hold the other ends open.
void HostDiscovery::script_ended(const ExitStatus& status) {
  for (Output* output : {&answer_, &complaints_}) {
    read(*output);
    boost::system::error_code ignored;
    output->pipe.close(ignored);
  }
  leash_->untie();
  leash_.reset();
  child_.reset();
  if (succeeded(status)) return take(std::move(answer_.text));
  const std::string complaint = last_line(complaints_.text);
  const bool not_found = exit_code_of(status) == kNotFound;
  take(Error(ErrorKind::Config,
             describe(status) + (complaint.empty() ? "" : ": " + complaint) + (not_found ? left_out_ : std::string())));
}

std::string HostDiscovery::source() const {
  return options_.script.empty() ? "--hostfile " + show(options_.hostfile) : std::string(kScript);
}

void HostDiscovery::take(Result<std::string> text) {
  arm(options_.interval);
  if (!text) return listed_(Error(text.error()).in(source()));
  if (text->find_first_not_of(" \t\r\n") == std::string::npos) return listed_(std::vector<plan::Host>());
  listed_(hosts::parse_hostfile(*text, source()));
}

}  // namespace sml::run
