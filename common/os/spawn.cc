#include "common/os/spawn.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <dirent.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/core/text.h"
#include "common/os/fd.h"
#include "common/os/trust.h"

// Code that runs in the child shares the parent's memory until exec, so it would leave its frames in the thread
// sanitizer's records of the parent thread. Nor may the sanitizer's clone() be called, which takes the child for a copy
// of the process.
#define SML_IN_CHILD __attribute__((no_sanitize("thread")))
#ifdef __SANITIZE_THREAD__
extern "C" int __clone(int (*)(void*), void*, int, void*, ...);
#define SML_CLONE __clone
#else
#define SML_CLONE ::clone
#endif

// The C library's posix_spawn() and pthread_create() try clone3 first and clone only where the kernel reports that it
// has no clone3 (ENOSYS). Docker from 20.10.0 to 20.10.9, and whoever has an old libseccomp, forbids it with EPERM.
// Neither needs it, and the archive of the C library takes ours in the place of its own.
// NOLINTNEXTLINE(readability-identifier-naming): the C library's name
extern "C" __attribute__((visibility("hidden"))) int __clone3(void*, std::size_t, int (*)(void*), void*) {
  errno = ENOSYS;
  return -1;
}

namespace sml::os {

namespace {

std::vector<char*> pointers(std::span<const std::string> strings) {
  std::vector<char*> out;
  out.reserve(strings.size() + 1);
  for (const std::string& s : strings) out.push_back(const_cast<char*>(s.c_str()));
  out.push_back(nullptr);
  return out;
}

constexpr std::size_t kChildStack = std::size_t{32} << 10;

// Everything that the child needs, prepared beforehand: between clone and exec it may only make system calls.
struct ChildPlan {
  const std::vector<char*>& candidates;
  char* const* argv;
  char* const* environment;
  const char* working_directory;     // null: inherit
  std::span<const int> descriptors;  // become 0, 1, 2, ...
  std::span<int> placed;             // room for as many
  unsigned long descriptor_limit;
  std::span<const int> ignored_signals;
  pid_t parent;
  std::span<const KernelCall> settings;
  // Output: the child shares the parent's memory until exec, so the parent reads the error here.
  volatile SpawnStep failed_step = SpawnStep::Exec;
  volatile int failed_errno = 0;
};

// The kernel's own form: the C library's sigaction() refuses the two signals that it uses itself, and its posix_spawn()
// leaves these ignored in the process that it starts.
struct KernelSigaction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  std::uint64_t mask;
};

SML_IN_CHILD bool kernel_sigaction(int signo, const KernelSigaction* set, KernelSigaction* get) {
  return ::syscall(SYS_rt_sigaction, signo, set, get, sizeof(std::uint64_t)) == 0;
}

SML_IN_CHILD void reset_signals(std::span<const int> ignored) {
  const KernelSigaction action{.handler = SIG_DFL, .flags = 0, .restorer = nullptr, .mask = 0};
  for (const int signo : ignored) kernel_sigaction(signo, &action, nullptr);
  const std::uint64_t none = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, sizeof none);
}

// Places the plan's descriptors at 0, 1, 2, ...; all others are close-on-exec already, except those that a library may
// have left open.
SML_IN_CHILD bool place_descriptors(const ChildPlan& plan) {
  const auto count = static_cast<int>(plan.descriptors.size());
  for (int i = 0; i < count; ++i) {  // move them out of the way first: a source may have one of these numbers itself
    const auto at = static_cast<std::size_t>(i);
    plan.placed[at] = ::fcntl(plan.descriptors[at], F_DUPFD_CLOEXEC, count);
    if (plan.placed[at] < 0) return false;
  }
  for (int i = 0; i < count; ++i) {
    if (::dup2(plan.placed[static_cast<std::size_t>(i)], i) < 0) return false;
  }
  ::syscall(SYS_close_range, static_cast<unsigned>(count), ~0U,
            CLOSE_RANGE_CLOEXEC);  // old kernels: own descriptors are close-on-exec anyway
  return true;
}

SML_IN_CHILD bool set_descriptor_limit(unsigned long soft) {
  rlimit limit{};
  if (soft == 0 || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return true;
  limit.rlim_cur = soft;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

SML_IN_CHILD long passed(const KernelCall::Argument& argument) {
  return argument.mask.empty() ? argument.number : reinterpret_cast<long>(argument.mask.data());
}

SML_IN_CHILD bool make_call(const KernelCall& call) {
  const auto& [first, second, third] = call.arguments;
  return ::syscall(call.number, passed(first), passed(second), passed(third)) == 0;
}

[[noreturn]] SML_IN_CHILD void fail(ChildPlan& plan, SpawnStep step, int sys_errno) {
  plan.failed_step = step;
  plan.failed_errno = sys_errno;
  ::_exit(127);
}

SML_IN_CHILD int run_child(void* argument) {
  ChildPlan& plan = *static_cast<ChildPlan*>(argument);
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.parent) ::_exit(127);  // the agent died before prctl
  if (!place_descriptors(plan)) fail(plan, SpawnStep::Pipe, errno);
  if (!set_descriptor_limit(plan.descriptor_limit)) fail(plan, SpawnStep::Limits, errno);
  if (plan.working_directory != nullptr && ::chdir(plan.working_directory) != 0)
    fail(plan, SpawnStep::Directory, errno);
  for (const KernelCall& call : plan.settings) {
    if (!make_call(call)) fail(plan, SpawnStep::Binding, errno);
  }
  reset_signals(plan.ignored_signals);
  int worst = ENOENT;
  for (char* file : plan.candidates) {
    if (file == nullptr) break;
    ::execve(file, plan.argv, plan.environment);
    if (errno != ENOENT && errno != ENOTDIR) worst = errno;
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) break;
  }
  fail(plan, SpawnStep::Exec, worst);
}

std::string search_path(std::span<const std::string> environment) {
  constexpr std::string_view kPath = "PATH=";
  for (const std::string& entry : environment) {
    if (entry.starts_with(kPath)) return entry.substr(kPath.size());
  }
  return "/usr/local/bin:/usr/bin:/bin";
}

// Relative names are relative to the worker's directory.
std::string below(const std::string& directory, const std::string& path) {
  return path.starts_with('/') || directory.empty() ? path : directory + "/" + path;
}

Error cannot_enter(const std::string& directory, int sys_errno) {
  return Error(ErrorKind::Spawn, "the working directory " + directory + " cannot be entered: " + errno_text(sys_errno))
      .with_hint("make it there, or name another with --wdir");
}

// Returns a program in one of the folders with a similar name; empty if there is none.
std::string similar_program(const std::string& program, std::span<const std::string> environment) {
  constexpr std::size_t kMostNames = 20'000;
  std::vector<std::string> names;
  for (const std::string& candidate : program_candidates(program, environment)) {
    const std::string folder = candidate.substr(0, candidate.rfind('/'));
    DIR* open = folder.starts_with('/') ? ::opendir(folder.c_str()) : nullptr;
    if (open == nullptr) continue;
    while (const dirent* entry = names.size() < kMostNames ? ::readdir(open) : nullptr) {
      const std::string_view name = entry->d_name;
      if (name.size() + 2 >= program.size() && name.size() <= program.size() + 2) names.emplace_back(name);
    }
    ::closedir(open);
  }
  std::sort(names.begin(), names.end());
  const std::vector<std::string_view> views(names.begin(), names.end());
  return std::string(nearest(program, views));
}

Error not_found(const std::string& program, std::span<const std::string> environment) {
  const Error error(ErrorKind::NotFound, "there is no program " + program);
  if (program.find('/') != std::string::npos) return Error(error).with_hint("the path must exist on every host");
  const std::string similar = similar_program(program, environment);
  return Error(error).with_hint((similar.empty() ? "is it" : "did you mean " + similar + "? Or is it not") +
                                " installed there, and in the PATH that -x PATH or --export gives the workers?");
}

// The line behind "#!" of a script; empty for anything else.
std::string interpreter_line(const std::string& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char head[256];
  const ssize_t n = fd ? ::read(fd.get(), head, sizeof head) : -1;
  std::string_view text(head, n > 0 ? static_cast<std::size_t>(n) : 0);
  if (!text.starts_with("#!")) return {};
  text = text.substr(2, text.find('\n') - 2);
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return std::string(text);
}

// Without this check execve would report ENOENT for the script itself, which exists.
Result<void> check_interpreter(const std::string& script, const std::string& directory) {
  const std::string line = interpreter_line(below(directory, script));
  if (line.ends_with('\r')) {
    return Error(ErrorKind::NotExecutable,
                 "the first line of " + script + " ends with a carriage return: " + show(line))
        .with_hint("the script has Windows line ends; remove the carriage returns, as in: sed -i 's/\\r$//' " + script);
  }
  const std::string interpreter = line.substr(0, line.find_first_of(" \t"));
  if (interpreter.empty() || ::access(below(directory, interpreter).c_str(), F_OK) == 0) return {};
  return Error(ErrorKind::NotExecutable,
               "the first line of " + script + " names an interpreter that is not there: " + show(interpreter))
      .with_hint("install it there, or start the script by its interpreter");
}

}  // namespace

std::vector<std::string> program_candidates(const std::string& program, std::span<const std::string> environment) {
  if (program.find('/') != std::string::npos) return {program};
  std::vector<std::string> out;
  const std::string path = search_path(environment);
  for (const std::string_view folder : split(path, ':')) {
    out.push_back((folder.empty() ? "." : std::string(folder)) + "/" + program);
  }
  return out;
}

bool has_program(const std::string& program, std::span<const std::string> environment) {
  const std::vector<std::string> files = program_candidates(program, environment);
  return std::any_of(files.begin(), files.end(), [](const std::string& file) {
    struct stat info {};
    return ::stat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode) && ::access(file.c_str(), X_OK) == 0;
  });
}

Result<void> check_directory(const std::string& working_directory) {
  if (working_directory.empty()) return {};
  struct stat info {};
  if (::stat(working_directory.c_str(), &info) != 0) return cannot_enter(working_directory, errno);
  if (!S_ISDIR(info.st_mode)) return cannot_enter(working_directory, ENOTDIR);
  if (::access(working_directory.c_str(), X_OK) != 0) return cannot_enter(working_directory, errno);
  return {};
}

Result<std::string> find_program(std::span<const std::string> argv, std::span<const std::string> environment,
                                 const std::string& working_directory) {
  if (Result<void> there = check_directory(working_directory); !there) return there.error();
  std::string refused;
  const char* hint = "";
  for (const std::string& candidate : program_candidates(argv[0], environment)) {
    const std::string file = below(working_directory, candidate);
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0) continue;
    if (S_ISREG(info.st_mode) && ::access(file.c_str(), X_OK) == 0) {
      if (Result<void> usable = check_interpreter(candidate, working_directory); !usable) return usable.error();
      return candidate;
    }
    if (!refused.empty()) continue;
    const bool folder = S_ISDIR(info.st_mode);
    refused = candidate + (folder ? " is a directory" : " may not be executed");
    hint = folder ? "name a program in it" : "chmod +x it, or name its interpreter (python3 FILE)";
  }
  if (refused.empty()) return not_found(argv[0], environment);
  return Error(ErrorKind::NotExecutable, refused).with_hint(hint);
}

std::vector<int> ignored_signals() {
  std::vector<int> out;
  for (int signo = 1; signo < NSIG; ++signo) {
    KernelSigaction action{};
    if (kernel_sigaction(signo, nullptr, &action) && action.handler == SIG_IGN) out.push_back(signo);
  }
  return out;
}

std::variant<pid_t, SpawnFailed> spawn_worker(const WorkerProcess& worker) {
  const std::vector<std::string> files = worker.program.empty() ? program_candidates(worker.argv[0], worker.environment)
                                                                : std::vector<std::string>{worker.program};
  const std::vector<char*> candidates = pointers(files);
  const std::vector<char*> argv = pointers(worker.argv);
  const std::vector<char*> environment = pointers(worker.environment);
  std::vector<int> descriptors{worker.stdin_fd, worker.stdout_fd, worker.stderr_fd};
  descriptors.insert(descriptors.end(), worker.more_descriptors.begin(), worker.more_descriptors.end());
  std::vector<int> placed(descriptors.size());
  ChildPlan plan{.candidates = candidates,
                 .argv = argv.data(),
                 .environment = environment.data(),
                 .working_directory = worker.working_directory.empty() ? nullptr : worker.working_directory.c_str(),
                 .descriptors = descriptors,
                 .placed = placed,
                 .descriptor_limit = worker.descriptor_limit,
                 .ignored_signals = worker.ignored_signals,
                 .parent = ::getpid(),
                 .settings = worker.settings};
  // No signal handler may run in the child, which shares the parent's memory.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  // Like vfork: no page tables are copied, and the parent waits until exec. The child has its own stack, because a
  // sanitizer's runtime turns vfork into a plain fork, and then the parent does not see what the child writes.
  alignas(16) char stack[kChildStack];
  const pid_t pid = SML_CLONE(run_child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &plan);
  const int fork_errno = errno;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return SpawnFailed{SpawnStep::Fork, fork_errno};
  if (plan.failed_errno == 0) return pid;
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return SpawnFailed{plan.failed_step, plan.failed_errno};
}

std::vector<std::string> own_search_path() {
  const char* path = std::getenv("PATH");
  return path == nullptr ? std::vector<std::string>() : std::vector<std::string>{std::string("PATH=") + path};
}

std::vector<std::string> own_environment() {
  std::vector<std::string> out;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) out.emplace_back(*entry);
  return out;
}

Result<pid_t> spawn_helper(const HelperProcess& helper) {
  std::string file = helper.argv[0];
  if (helper.program_fd < 0 && file.find('/') == std::string::npos) {
    TrustedProgram found = find_trusted_program(program_candidates(file, own_search_path()));
    if (found.file.empty()) {
      // Not left to the C library, which would look again, and run what another user has put there meanwhile.
      return found.passed_over.empty()
                 ? sys_error(ErrorKind::Spawn, "cannot start " + file, ENOENT)
                 : Error(ErrorKind::Spawn, "cannot start " + file + ": " + found.passed_over.front());
    }
    file = std::move(found.file);
  }
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_init(&actions);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const int sources[3] = {helper.stdin_fd, helper.stdout_fd, helper.stderr_fd};
  for (int i = 0; i < 3; ++i) ::posix_spawn_file_actions_adddup2(&actions, sources[i], i);
  const std::vector<char*> argv = pointers(helper.argv);
  std::vector<std::string> variables(helper.environment.begin(), helper.environment.end());
  if (variables.empty()) variables = own_environment();
  if (!helper.environment_as_it_is) keep_trusted_lists(variables);
  const std::vector<char*> environment = pointers(variables);
  pid_t pid = -1;
  if (helper.program_fd >= 0) file = "/proc/self/fd/" + std::to_string(helper.program_fd);
  const int error = ::posix_spawn(&pid, file.c_str(), &actions, &attributes, argv.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error == ENOENT && helper.program_fd >= 0 && ::access("/proc/self/fd", F_OK) != 0) {
    return Error(ErrorKind::Spawn, "cannot start " + helper.argv[0] + ": /proc is not mounted here")
        .with_hint("programs are started and watched through it: mount -t proc proc /proc");
  }
  if (error != 0) return sys_error(ErrorKind::Spawn, "cannot start " + helper.argv[0], error);
  return pid;
}

}  // namespace sml::os
