#include "launcher/dialin/munge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/core/clock.h"
#include "common/core/letters.h"
#include "common/core/text.h"
#include "common/os/fd.h"
#include "common/os/nameless_file.h"
#include "common/os/spawn.h"
#include "common/os/trust.h"

namespace sml::dialin {

namespace {

using std::string_view;

constexpr Duration kToolLimit = std::chrono::seconds(4);
constexpr int kLookAgainMs = 5;
constexpr std::size_t kToolOutput = 16 << 10;
constexpr string_view kSuccess = "Success (0)";

Error no_credential(std::string why) { return Error(ErrorKind::Auth, std::move(why)); }

// ---- the output of unmunge: "KEY: value" lines, an empty line, the payload

string_view value_of(string_view head, string_view key) {
  while (!head.empty()) {
    const string_view line = take_until(head, '\n');
    if (line.starts_with(key) && line.substr(key.size()).starts_with(':'))
      return trim(line.substr(key.size() + 1), " \t");
  }
  return {};
}

// "root (0)" → "0", "Success (0)" → "0", "n1 (10.0.0.1)" → "10.0.0.1"; what stands alone is itself.
string_view in_brackets(string_view value) {
  const std::size_t open = value.rfind('(');
  if (open == string_view::npos || !value.ends_with(')')) return value;
  return value.substr(open + 1, value.size() - open - 2);
}

std::string first_label(string_view name) { return lower(name.substr(0, name.find('.'))); }

bool is_of_job(string_view host, const std::vector<std::string>& hosts) {
  const string_view name = host.substr(0, host.find(' '));
  const string_view address = in_brackets(host);
  return hosts.empty() || std::any_of(hosts.begin(), hosts.end(), [&](const std::string& one) {
           return one == address || first_label(one) == first_label(name);
         });
}

// Why unmunge does not even show a credential, by its exit status, the error code of MUNGE.
std::string refusal_of(int status) {
  switch (status) {
    case 15: return "has expired: the clocks of the hosts differ, or it is an old one";
    case 16: return "is of the future: the clocks of the hosts differ";
    case 17: return "has been shown before";
    case 18: return "is not for this user";
    default: return "cannot be decoded here: the service of MUNGE does not run, or has another key";
  }
}

// ---- the programs

struct ToolEnd {
  std::string output;
  int status = -1;  // its exit status; -1: it has none
};

std::string read_all(int fd, TimePoint end) {
  std::string text;
  std::array<char, 4096> buffer{};
  while (text.size() < kToolOutput) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd event{fd, POLLIN, 0};
    const int ready = left > 0 ? ::poll(&event, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return {};
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

bool has_ended_by(pid_t pid, TimePoint end) {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0)
      return true;
    if (Clock::now() >= end) return false;
    ::poll(nullptr, 0, kLookAgainMs);
  }
}

// Runs a program with `input` as its standard input. Without output and status if it does not start, or hangs.
ToolEnd run_tool(std::vector<std::string> argv, string_view input) {
  const Result<os::UniqueFd> in = os::nameless_file("sml-run", input, os::FileUse::Read);
  Result<os::Pipe> out = os::make_pipe();
  const Result<os::UniqueFd> rest = os::open_dev_null();
  if (!in || !out || !rest) return {};
  const Result<pid_t> pid = os::spawn_helper(
      {.argv = std::move(argv), .stdin_fd = in->get(), .stdout_fd = out->write.get(), .stderr_fd = rest->get()});
  out->write.reset();
  if (!pid) return {};
  const TimePoint limit = Clock::now() + kToolLimit;
  ToolEnd end{read_all(out->read.get(), limit)};
  int status = 0;
  if (!has_ended_by(*pid, limit)) end.output.clear();
  ::kill(-*pid, SIGKILL);  // not reaped yet, so the number is still its own
  while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status)) end.status = WEXITSTATUS(status);
  return end;
}

class MungeProof final : public PeerProof {
 public:
  MungeProof(std::string munge, std::string unmunge, Credentialed maker)
      : munge_(std::move(munge)), unmunge_(std::move(unmunge)), maker_(std::move(maker)) {}

  Result<std::string> make(string_view claim) override {
    const ToolEnd end = run_tool({munge_, fmt::format("--restrict-uid={}", maker_.user)}, claim);
    const string_view credential = trim(end.output);
    const bool is_one = end.status == 0 && credential.starts_with("MUNGE:") && credential.size() <= kMaxCredential;
    if (is_one) return std::string(credential);
    return no_credential("munge gives this host no credential");
  }

  Result<void> check(string_view credential, string_view claim) override {
    const ToolEnd end = run_tool({unmunge_}, credential);
    if (end.output.empty()) return no_credential(refusal_of(end.status));
    return check_unmunged(end.output, claim, maker_);
  }

 private:
  std::string munge_;
  std::string unmunge_;
  Credentialed maker_;
};

}  // namespace

Result<void> check_unmunged(string_view output, string_view claim, const Credentialed& maker) {
  const std::size_t end = output.find("\n\n");
  const string_view head = output.substr(0, end);
  const string_view status = value_of(head, "STATUS");
  if (status.empty()) return no_credential("cannot be decoded here: unmunge printed no status");
  if (status != kSuccess) return no_credential("is refused by munge: " + show(status, 100));
  if (value_of(head, "UID").empty() || in_brackets(value_of(head, "UID")) != std::to_string(maker.user))
    return no_credential("is of another user, " + show(value_of(head, "UID"), 100));
  const string_view host = value_of(head, "ENCODE_HOST");
  if (!is_of_job(host, maker.hosts))
    return no_credential("comes from a host that is not of the job, " + show(host, 100));
  if (end == string_view::npos || trim(output.substr(end + 2)) != claim)
    return no_credential("is for another connection");
  return {};
}

std::shared_ptr<PeerProof> find_munge(const plan::Environment& environment, Credentialed maker) {
  std::vector<std::string> found;
  for (const char* name : {"munge", "unmunge"}) {
    found.push_back(os::find_trusted_program(os::program_candidates(name, environment)).file);
    if (found.back().empty()) return nullptr;
  }
  auto proof = std::make_shared<MungeProof>(found[0], found[1], std::move(maker));
  return proof->make("try") ? proof : nullptr;
}

}  // namespace sml::dialin
