#include "launcher/report/outcome/causes.h"

#include <algorithm>
#include <iterator>

#include "common/core/letters.h"

namespace sml::report {

namespace {

struct Sentence {
  std::string_view part;  // of a line, case-sensitive
  CauseKind kind;
  std::string_view words;
};

constexpr auto kRoot = CauseKind::Root;
constexpr auto kCascade = CauseKind::Cascade;

constexpr std::string_view kDeviceMemory = "an accelerator has no memory left";
constexpr std::string_view kDeviceLost = "an accelerator is off the bus";
constexpr std::string_view kDeviceFault = "an accelerator is faulty";
constexpr std::string_view kNoMemory = "the host has no memory left for it";
constexpr std::string_view kSharedMemory = "/dev/shm is too small";
constexpr std::string_view kDisk = "a disk is full";
constexpr std::string_view kPort = "a port that it needs is taken";
constexpr std::string_view kFiles = "it may not open more files";
constexpr std::string_view kNoInputWords = "it asked for input, and found none";
constexpr std::string_view kDebuggerWords = "its debugger found no input, or was asked to quit";
constexpr std::string_view kPreempted = "the batch system took the hosts away";
constexpr std::string_view kTimeLimit = "the batch system's time limit has passed";
constexpr std::string_view kPeerGone = "a rank that it worked with has gone";
constexpr std::string_view kPeerLate = "it waited in vain for other ranks";

// The first entry found in a line counts, so specific entries precede general ones.
constexpr Sentence kSentences[] = {
    // NVIDIA's driver, CUDA, HIP, XLA; torch since 1.x
    {"fallen off the bus", kRoot, kDeviceLost},
    {"GPU is lost", kRoot, kDeviceLost},
    {"NVRM: Xid", kRoot, kDeviceFault},
    {"uncorrectable ECC error", kRoot, kDeviceFault},
    {"CUDA error: an illegal memory access", kRoot, "a kernel on an accelerator used memory that is not its own"},
    {"CUDA error: device-side assert", kRoot, "an assertion in a kernel on an accelerator failed"},
    {"CUDA out of memory", kRoot, kDeviceMemory},
    {"CUDA error: out of memory", kRoot, kDeviceMemory},
    {"HIP out of memory", kRoot, kDeviceMemory},
    {"torch.OutOfMemoryError", kRoot, kDeviceMemory},
    {"RESOURCE_EXHAUSTED: Out of memory", kRoot, kDeviceMemory},
    // memory, disks, files, ports of the host
    {"out of shared memory", kRoot, kSharedMemory},
    {"can't allocate memory", kRoot, kNoMemory},
    {"Cannot allocate memory", kRoot, kNoMemory},
    {"std::bad_alloc", kRoot, kNoMemory},
    {"MemoryError", kRoot, kNoMemory},
    {"No space left on device", kRoot, kDisk},
    {"Disk quota exceeded", kRoot, "a disk quota is used up"},
    {"Too many open files", kRoot, kFiles},
    {"ddress already in use", kRoot, kPort},
    // input() and pdb of Python at the end of standard input
    {"EOFError: EOF when reading a line", kRoot, kNoInputWords},
    {"bdb.BdbQuit", kRoot, kDebuggerWords},
    // torch as packaged by Debian 13
    {"was build without libuv", kRoot, "this torch is built without libuv, which -x USE_LIBUV=0 lets it do without"},
    // jax.distributed.initialize() without arguments
    {"coordinator_address should be defined", kRoot,
     "JAX does not know the address of rank 0, which --preset jax lets it find"},
    // slurmstepd
    {"DUE TO PREEMPTION", kRoot, kPreempted},
    {"DUE TO TIME LIMIT", kRoot, kTimeLimit},
    // Gloo, NCCL, torch's store, Horovod, MPICH, Open MPI 4 and 5, JAX
    {"peer process has unexpectedly disconnected", kCascade, kPeerGone},
    {"onnection closed by peer", kCascade, kPeerGone},
    {"onnection closed by remote peer", kCascade, kPeerGone},
    {"onnection reset by peer", kCascade, kPeerGone},
    {"onnection was likely closed", kCascade, kPeerGone},
    {"An error occurred in Socket closed", kCascade, kPeerGone},
    {"failed to recv, got 0 bytes", kCascade, kPeerGone},
    {"remote process exit", kCascade, kPeerGone},
    {"ncclRemoteError", kCascade, kPeerGone},
    {"NCCL communicator was aborted", kCascade, kPeerGone},
    {"Horovod has been shut down", kCascade, kPeerGone},
    {"HorovodInternalError", kCascade, kPeerGone},
    {"Communication error with rank", kCascade, kPeerGone},
    {"JAX distributed service detected fatal errors", kCascade, kPeerGone},
    {"Application timeout caused pair closure", kCascade, kPeerLate},
    {"Timed out waiting", kCascade, kPeerLate},
    {"caught collective operation timeout", kCascade, kPeerLate},
    {"NCCL operations have failed or timed out", kCascade, kPeerLate},
    {"Socket Timeout", kCascade, kPeerLate},
};

std::optional<Cause> cause_in(std::string_view line) {
  for (const Sentence& sentence : kSentences) {
    if (line.find(sentence.part) != std::string_view::npos)
      return Cause{sentence.kind, sentence.words, std::string(line)};
  }
  return std::nullopt;
}

// "ValueError", "torch.distributed.DistBackendError"
bool names_an_exception(std::string_view word) {
  const auto allowed = [](char c) { return is_letter_or_digit(c) || c == '_' || c == '.'; };
  if (word.empty() || !std::all_of(word.begin(), word.end(), allowed)) return false;
  return word.ends_with("Error") || word.ends_with("Exception");
}

}  // namespace

std::optional<Cause> known_cause(std::string_view account, const std::vector<std::string>& last_lines) {
  std::optional<Cause> found = cause_in(account.substr(0, account.find('\n')));
  for (auto line = last_lines.rbegin(); line != last_lines.rend(); ++line) {
    if (found && found->kind == kRoot) return found;
    std::optional<Cause> next = cause_in(*line);
    if (next && (!found || next->kind == kRoot)) found = std::move(next);
  }
  return found;
}

bool asked_for_input(const Cause& cause) { return cause.words == kNoInputWords || cause.words == kDebuggerWords; }

std::string_view own_exception(const std::vector<std::string>& last_lines) {
  const auto is_own = [](const std::string& line) {
    const std::string_view text = line;
    const std::optional<Cause> cause = cause_in(text);
    return names_an_exception(text.substr(0, text.find(':'))) && (!cause || cause->kind == kRoot);
  };
  const auto line = std::find_if(last_lines.rbegin(), last_lines.rend(), is_own);
  return line == last_lines.rend() ? std::string_view{} : std::string_view(*line);
}

}  // namespace sml::report
