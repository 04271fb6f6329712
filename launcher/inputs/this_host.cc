#include "launcher/inputs/this_host.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/os/affinity.h"
#include "common/os/connections.h"
#include "common/os/process_settings.h"
#include "common/os/random.h"
#include "common/os/small_file.h"
#include "common/os/spawn.h"
#include "common/os/trust.h"
#include "launcher/inputs/device_listings.h"
#include "launcher/inputs/read_to_end.h"
#include "launcher/os/tool_output.h"
#include "launcher/transport/ssh/local_identity.h"
#include "launcher/transport/starter_launcher.h"

namespace sml {

namespace {

// ---- files

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  int get() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

Error file_error(int sys_errno) { return Error(ErrorKind::Config, errno_text(sys_errno)); }

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  // Not blocking: opening a FIFO without a writer would never return.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return file_error(errno);
  return read_to_end(file.get(), limit);
}

bool all_can_read(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return false;
  return (S_ISREG(info.st_mode) || S_ISFIFO(info.st_mode)) && (info.st_mode & S_IROTH) != 0;
}

bool is_named_by(int fd, const std::string& path) {
  struct stat open {};
  struct stat named {};
  return ::fstat(fd, &open) == 0 && ::stat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino;
}

bool exists(const std::string& path) {
  // A file that exists but cannot be examined is read, and fails with its reason, rather than skipped.
  return ::access(path.c_str(), F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

std::optional<std::string_view> variable(const plan::Environment& environment, std::string_view name) {
  const std::string* entry = plan::find_variable(environment, name);
  return entry == nullptr ? std::nullopt : std::optional(plan::value_of(*entry));
}

// The CPUs that this process may run on; in a container they are fewer than the machine has.
std::uint32_t count_cpus() {
  constexpr std::size_t kMostCpus = 1 << 16;
  for (std::size_t cpus = CPU_SETSIZE; cpus <= kMostCpus; cpus *= 2) {
    std::vector<unsigned char> bits(CPU_ALLOC_SIZE(cpus));
    auto* set = reinterpret_cast<cpu_set_t*>(bits.data());
    if (::sched_getaffinity(0, bits.size(), set) == 0) return static_cast<std::uint32_t>(CPU_COUNT_S(bits.size(), set));
    if (errno != EINVAL) break;  // EINVAL: the kernel has more CPUs than the set has room for
  }
  return 1;
}

// ---- names

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

// Prefers the shell's name if it is correct: behind a link such as /home → /data/home other hosts, too, know the name
// with the link.
std::string working_directory(const plan::Environment& environment) {
  // GNU: allocates as much as needed
  const std::unique_ptr<char, void (*)(void*)> real_path(::getcwd(nullptr, 0), std::free);
  const char* real = real_path.get();
  if (real == nullptr || real[0] != '/') return {};
  const std::string logical(variable(environment, "PWD").value_or(""));
  const bool plain = logical.starts_with('/') && logical.find("/.") == std::string::npos;
  return plain && same_file(logical, real) ? logical : real;
}

std::string new_job_id() {
  const std::string noise = os::random_hex(8);
  return "sml-" + (noise.empty() ? std::to_string(Clock::now().time_since_epoch().count()) : noise);
}

// The folder of the effective user, according to the XDG base directory specification.
std::string config_folder(const plan::Environment& environment) {
  std::string named(variable(environment, "XDG_CONFIG_HOME").value_or(""));
  if (named.starts_with('/')) return named;
  const std::string home = ssh::local_identity().home;
  return home.starts_with('/') ? home + "/.config" : std::string();
}

}  // namespace

std::string variable(const ThisHost& here, std::string_view name) {
  const std::string* entry = plan::find_variable(here.process.environment, name);
  return entry == nullptr ? std::string() : std::string(plan::value_of(*entry));
}

// Judged when it is open: another user can neither exchange it then, nor be late with making it.
Result<OwnText> read_own_text(const ThisHost& here, const std::string& path, std::size_t limit) {
  if (!here.files.check_trust) {
    Result<std::string> text = here.files.read(path, limit);
    return text ? Result<OwnText>(OwnText{std::move(*text)}) : text.error();
  }
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  const int why = file.get() < 0 ? errno : 0;
  if (why == ENOENT || why == ENOTDIR) return file_error(why);
  const Result<void> trusted = here.files.check_trust(path);
  if (trusted && why != 0) return file_error(why);
  if (trusted && is_named_by(file.get(), path)) {
    Result<std::string> text = read_to_end(file.get(), limit);
    return text ? Result<OwnText>(OwnText{std::move(*text), all_can_read(file.get())}) : text.error();
  }
  const std::string reason = trusted ? "it has just been exchanged for another" : trusted.error().message();
  return Error(ErrorKind::Config, "is not obeyed, as " + reason)
      .with_hint("take it from a place of your own, where nobody else can write, or from /dev/stdin");
}

Result<std::string> read_own_file(const ThisHost& here, const std::string& path, std::size_t limit) {
  Result<OwnText> own = read_own_text(here, path, limit);
  return own ? Result<std::string>(std::move(own->text)) : own.error();
}

ThisHost this_host(std::span<const char* const> environment) {
  ThisHost here;
  for (const char* entry : environment) {
    if (entry != nullptr) here.process.environment.emplace_back(entry);
  }
  here.process.settings = os::process_settings();
  const auto shared = std::make_shared<const plan::Environment>(here.process.environment);
  here.job.unix_time = std::time(nullptr);
  here.files.read = read_file;
  here.secrets.read = read_secret_file;
  here.secrets.share = share_secret_file;
  here.files.exists = exists;
  here.files.check_trust = os::check_trust;
  here.programs.listens = [](std::uint16_t port) { return os::listener_on(port).has_value(); };
  const auto passed_over = std::make_shared<std::vector<std::string>>();
  here.programs.passed_over = [passed_over] { return *passed_over; };
  here.programs.passed_over_of = [shared](const std::string& name) {
    return os::find_trusted_program(os::program_candidates(name, *shared)).passed_over;
  };
  here.programs.output_of = [shared, passed_over](const std::vector<std::string>& words) {
    os::ToolOutput output = os::output_of_tool(words, *shared);
    std::ranges::copy_if(output.passed_over, std::back_inserter(*passed_over), [&](const std::string& why) {
      return std::ranges::find(*passed_over, why) == passed_over->end();
    });
    return std::move(output.text);
  };
  here.hardware.count_gpus = [shared, ask = here.programs.output_of] {
    const std::string listing = ask({"nvidia-smi", "-L"});
    return visible_gpus(gpus_in_listing(listing), variable(*shared, "CUDA_VISIBLE_DEVICES"));
  };
  here.hardware.count_neuron_cores = [ask = here.programs.output_of] {
    return neuron_cores_in_listing(ask({"neuron-ls", "--json-output"}));
  };
  here.hardware.count_cpus = count_cpus;
  here.hardware.cpu_topology = [] {
    return plan::usable_part(plan::read_cpu_topology(os::read_small_file), os::allowed_cpus());
  };
  here.programs.has_tool = [shared](const starters::Starter& starter) {
    return !transport::find_tool(starter, *shared).file.empty();
  };
  here.names.whose_host = transport::whose_host;
  here.names.own = host_name();
  here.process.working_directory = working_directory(here.process.environment);
  // Only on demand: looking up the user may query a remote server.
  here.secrets.config_folder = [shared] { return config_folder(*shared); };
  here.job.id = new_job_id();
  here.job.name_space = os::random_hex(16);
  return here;
}

}  // namespace sml
