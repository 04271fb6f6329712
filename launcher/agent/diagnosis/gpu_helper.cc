#include "launcher/agent/diagnosis/gpu_helper.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/os/fd.h"
#include "common/os/nameless_file.h"
#include "common/os/spawn.h"
#include "common/os/trust.h"
#include "launcher/agent/core/waits.h"
#include "launcher/agent/os/gpu_look.h"

extern "C" const char sml_nvml_image_begin[];
extern "C" const char sml_nvml_image_end[];

namespace sml::agent {

namespace {

constexpr Duration kTimeout = std::chrono::seconds(10);
constexpr const char* kLibrary = "libnvidia-ml.so.1";
constexpr const char* kUnknownToLoader = "/usr/local/nvidia/lib64/libnvidia-ml.so.1";  // as Kubernetes' plugins put it

std::string_view image() {
  return {sml_nvml_image_begin, static_cast<std::size_t>(sml_nvml_image_end - sml_nvml_image_begin)};
}

// Prepares the environment and returns the helper's words, with the library that it may load by its path. Adds to
// `warnings` what it is not to load.
std::vector<std::string> words_of_helper(std::vector<std::string>& environment, std::vector<std::string>& warnings) {
  std::erase_if(environment, [](const std::string& entry) {
    return entry.starts_with("LD_PRELOAD=") || entry.starts_with("LD_AUDIT=");
  });
  for (const std::string& why : os::keep_trusted_folders(environment, kLibrary)) {
    warnings.push_back("LD_LIBRARY_PATH: no library is loaded from a folder for NVIDIA's devices, as " + why);
  }
  std::vector<std::string> words{"sml-run-nvml"};
  if (::access(kUnknownToLoader, F_OK) != 0) return words;
  if (const Result<void> trusted = os::check_trust(kUnknownToLoader); trusted) {
    words.emplace_back(kUnknownToLoader);
  } else {
    warnings.push_back(std::string(kUnknownToLoader) + " is not loaded, as " + trusted.error().message());
  }
  return words;
}

// Several objects of this process have helpers, which leave out the same.
std::vector<std::string> only_once(std::vector<std::string> warnings) {
  static bool said = false;
  return std::exchange(said, true) ? std::vector<std::string>() : std::move(warnings);
}

}  // namespace

bool has_nvidia_driver() { return ::access("/dev/nvidiactl", F_OK) == 0; }

Result<std::vector<std::string>> GpuHelper::start() {
  const Result<os::UniqueFd> program = os::nameless_file("sml-run-nvml", image(), os::FileUse::Execute);
  if (!program) return program.error();
  Result<std::array<os::UniqueFd, 2>> ends = os::make_socketpair();
  if (!ends) return ends.error();
  Result<os::UniqueFd> null = os::open_dev_null();
  if (!null) return null.error();
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  std::vector<std::string> warnings;
  Result<pid_t> started = os::spawn_helper({.argv = words_of_helper(environment, warnings),
                                            .program_fd = program->get(),
                                            .stdin_fd = (*ends)[1].get(),
                                            .stdout_fd = null->get(),
                                            .stderr_fd = null->get(),
                                            .environment = environment});
  if (!started) return started.error();
  pid_ = *started;
  os::set_nonblocking((*ends)[0].get());
  socket_.assign((*ends)[0].release());
  await();
  return only_once(std::move(warnings));
}

bool GpuHelper::ask(std::function<void()> done) {
  if (!done_ && Clock::now() < next_) return false;
  return ask_at_once(std::move(done));
}

bool GpuHelper::ask_at_once(std::function<void()> done) {
  const TimePoint now = Clock::now();
  if (done_ && now - asked_at_ > kTimeout) devices_.clear();
  if (done_ || !socket_.is_open()) return false;
  if (::send(socket_.native_handle(), "?", 1, MSG_NOSIGNAL) != 1) return false;
  done_ = std::move(done);
  asked_at_ = now;
  return true;
}

void GpuHelper::await() {
  when_readable(socket_, lifetime_.guard([this] { read(); }));
}

void GpuHelper::read() {
  std::array<char, os::kLongestGpuLine> bytes;
  const ssize_t n = ::read(socket_.native_handle(), bytes.data(), bytes.size());
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return await();
  if (n > 0) text_.append(bytes.data(), static_cast<std::size_t>(n));
  const std::size_t end = text_.find('\n');
  const bool whole = end != std::string::npos;
  if (n <= 0 || (whole ? !take(std::string_view(text_).substr(0, end)) : text_.size() >= os::kLongestGpuLine)) {
    devices_.clear();
    close();
    return answer();
  }
  if (whole) text_.clear();  // the helper sends one line for each question
  await();
  if (whole) answer();
}

bool GpuHelper::take(std::string_view line) {
  std::optional<os::GpuLook> look = os::parse_gpu_line(line);
  if (!look) return false;
  devices_ = std::move(look->devices);
  next_ = asked_at_ + os::gpu_interval(look->cost_us);
  return true;
}

void GpuHelper::answer() {
  if (const std::function<void()> done = std::exchange(done_, nullptr)) done();
}

void GpuHelper::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void GpuHelper::end() {
  close();
  done_ = nullptr;
  if (pid_ > 0) ::kill(-pid_, SIGKILL);  // the leader of its own session, not reaped yet
}

bool GpuHelper::ended(pid_t pid) {
  if (pid_ != pid) return false;
  pid_ = -1;
  return true;
}

}  // namespace sml::agent
