#include "launcher/agent/diagnosis/health_check.h"

#include <algorithm>
#include <csignal>
#include <string_view>
#include <utility>

#include "common/core/text.h"
#include "common/os/trust.h"
#include "launcher/agent/core/waits.h"
#include "launcher/agent/diagnosis/host_health.h"
#include "launcher/agent/os/host_use.h"

namespace sml::agent {

namespace {

constexpr Duration kTick = std::chrono::milliseconds(100);
constexpr Duration kLastOutput = std::chrono::milliseconds(500);  // wait for a command's last output after its limit
constexpr std::size_t kMostOwnText = std::size_t{1} << 20;
constexpr int kLines = 5;
constexpr int kNotFound = 127;                              // of a shell
constexpr Duration kGpuTimeout = std::chrono::seconds(11);  // for the first answer: nvidia-smi has 10 s

std::vector<AcceleratorUse> use_of_all(const std::vector<std::string>& folders) {
  std::vector<AcceleratorUse> out;
  for (const std::string& folder : folders) out.push_back(os::use_of(folder));
  return out;
}

}  // namespace

std::vector<std::string> HealthCheck::remember(wire::AcceleratorLook nvidia) {
  if (std::exchange(remembers_, true)) return {};
  folders_ = os::accelerators_in("/sys/class/drm");
  before_ = use_of_all(folders_);
  if (nvidia == wire::AcceleratorLook::No) return {};
  std::vector<std::string> warnings = gpus_.find();
  if (ask_gpus()) gpus_state_ = Gpus::Unknown;
  return warnings;
}

bool HealthCheck::ask_gpus() {
  return gpus_.ask_at_once([this, begun = begun_] {
    if (!gpus_remembered_) before_.insert(before_.end(), gpus_.devices().begin(), gpus_.devices().end());
    gpus_remembered_ = gpus_remembered_ || !gpus_.devices().empty();
    if (begun == begun_) gpus_state_ = Gpus::Known;  // else it was asked before the check began
  });
}

std::vector<std::string> HealthCheck::held() const {
  std::vector<AcceleratorUse> now = use_of_all(folders_);
  now.insert(now.end(), gpus_.devices().begin(), gpus_.devices().end());
  return plan::accelerators_in_use(before_, now);
}

void HealthCheck::begin(const wire::AskHealth& asked, std::vector<std::string> problems,
                        const plan::Environment& environment, const std::string& directory) {
  end();
  asked_ = asked;
  begun_ = Clock::now();
  waited_for_ = true;
  if (!problems.empty()) return answer(std::move(problems.front()));
  if (gpus_state_ == Gpus::Known) gpus_state_ = Gpus::Unknown;
  if (!asked.command.empty()) run(environment, directory);
  look();
}

void HealthCheck::end() {
  waited_for_ = false;
  tick_.cancel();
  command_.reset();
  status_.reset();
  said_all_ = false;
}

// The outer shell keeps the pipe open for as long as the command runs, whatever the command does with its own output.
void HealthCheck::run(const plan::Environment& environment, const std::string& directory) {
  Result<os::TrustedCommand> trusted = os::check_trust_of_command(asked_.command, environment, directory);
  if (!trusted) return answer("--health-check is not run, as " + trusted.error().message());
  left_out_ = std::move(trusted->left_out);
  const std::vector<std::string> argv{
      "/bin/sh", "-c",      "(if [ -n \"$1\" ]; then cd \"$1\" || exit; fi; eval \"$2\"); exit $?",
      "sh",      directory, trusted->line};
  command_ = std::make_unique<ToolRun>(loop_);
  const auto said_all = [this] {
    said_all_ = true;
    look();
  };
  const Result<void> started = command_->start(argv, kMostOwnText, said_all, {environment});
  if (!started) return answer("--health-check: " + started.error().message());
  group_ = command_->pid();
  pids_.push_back(group_);
}

bool HealthCheck::is(pid_t pid) const {
  const bool is_command = std::find(pids_.begin(), pids_.end(), pid) != pids_.end();
  return gpus_.is(pid) || is_command || (group_ > 0 && ::getpgid(pid) == group_);
}

void HealthCheck::ended(pid_t pid, const ExitStatus& status) {
  if (gpus_.ended(pid)) return;
  if (std::erase(pids_, pid) == 0 || !command_ || !command_->ended(pid)) return;
  ::kill(-pid, SIGKILL);  // ends processes that it left behind, which may hold the pipe open
  if (succeeded(status)) {
    command_.reset();
  } else {
    status_ = status;
  }
  look();
}

void HealthCheck::look() {
  if (!waited_for_) return;
  const Duration passed = Clock::now() - begun_;
  const Duration limit = std::chrono::milliseconds(asked_.limit_ms);
  const bool late = command_ && passed >= limit;
  if (status_ && (said_all_ || passed >= limit + kLastOutput)) {
    const bool not_found = exit_code_of(*status_) == kNotFound;
    return answer("--health-check " + describe(*status_) + last_output() + (not_found ? left_out_ : std::string()));
  }
  if (late && !status_) return answer("--health-check has not ended within " + format_duration(limit) + last_output());
  const Duration timeout = std::chrono::milliseconds(asked_.accelerators_ms);
  const bool waits = timeout > Duration::zero();
  const bool unknown = waits && gpus_state_ == Gpus::Unknown && passed < kGpuTimeout;
  const std::vector<std::string> held = waits ? this->held() : std::vector<std::string>();
  if (!command_ && held.empty() && !unknown) return answer({});
  if (!held.empty() && passed >= timeout) {
    return answer(held.front() + " is not free again after " + format_duration(timeout));
  }
  if (waits) (void)ask_gpus();
  tick_.expires_after(kTick);
  when_due(tick_, lifetime_.guard([this] { look(); }));
}

std::string HealthCheck::last_output() const {
  std::string_view rest = trim(command_->text());
  std::string out;
  for (int line = 0; line < kLines && !rest.empty(); ++line) {
    const std::size_t begin = rest.rfind('\n') + 1;
    const std::string own(trim(rest.substr(begin)));
    out = out.empty() ? own : own + "; " + out;
    rest = trim(rest.substr(0, begin));
  }
  return out.empty() ? out : ", and printed: " + show(out, 600);
}

void HealthCheck::answer(std::string fault) {
  wire::Health out{asked_.id, {}};
  if (!fault.empty()) out.problems.push_back(std::move(fault));
  end();
  tell_(std::move(out));
}

}  // namespace sml::agent
