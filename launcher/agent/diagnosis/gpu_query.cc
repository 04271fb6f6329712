#include "launcher/agent/diagnosis/gpu_query.h"

#include <algorithm>
#include <utility>

#include <unistd.h>

#include "common/os/spawn.h"
#include "common/os/trust.h"
#include "launcher/agent/core/waits.h"
#include "launcher/agent/os/gpu_look.h"

namespace sml::agent {

namespace {

constexpr Duration kTimeout = std::chrono::seconds(10);
// Kubernetes' plugins put them where neither PATH nor the loader may look.
constexpr const char* kOfKubernetes = "/usr/local/nvidia/bin/nvidia-smi";
constexpr const char* kItsLibraries = "/usr/local/nvidia/lib64";

std::vector<std::string> environment_of(const std::string& file) {
  constexpr const char* kFolders = "LD_LIBRARY_PATH=";
  std::vector<std::string> out = os::own_environment();
  if (file != kOfKubernetes) return out;
  const auto has_folders = [](const std::string& entry) { return entry.starts_with(kFolders); };
  auto folders = std::find_if(out.begin(), out.end(), has_folders);
  if (folders == out.end()) folders = out.insert(out.end(), kFolders);
  folders->append(":").append(kItsLibraries);
  return out;
}

// Several objects of this process look for the same program.
std::vector<std::string> only_once(std::vector<std::string> warnings) {
  static bool said = false;
  return std::exchange(said, true) ? std::vector<std::string>() : std::move(warnings);
}

}  // namespace

std::vector<std::string> GpuQuery::find() {
  if (::access("/dev/nvidiactl", F_OK) != 0) return {};
  std::vector<std::string> files = os::program_candidates("nvidia-smi", os::own_search_path());
  files.emplace_back(kOfKubernetes);
  os::TrustedProgram found = os::find_trusted_program(files);
  file_ = std::move(found.file);
  environment_ = environment_of(file_);
  os::keep_trusted_lists(environment_);
  environment_.emplace_back("LC_ALL=C");
  return only_once(std::move(found.passed_over));
}

bool GpuQuery::ask(std::function<void()> done) { return Clock::now() >= next_ && ask_at_once(std::move(done)); }

bool GpuQuery::ask_at_once(std::function<void()> done) {
  if (file_.empty() || done_ || (run_ && run_->pid() > 0)) return false;
  run_ = std::make_unique<ToolRun>(loop_);
  const auto ended = [this] { take(run_->text()); };
  const ToolRun::Environment own{environment_, ToolRun::Lists::Trimmed};
  if (!run_->start(os::gpu_question(file_), os::kLongestGpuListing, ended, own)) return false;
  done_ = std::move(done);
  asked_at_ = Clock::now();
  limit_.expires_after(kTimeout);
  when_due(limit_, lifetime_.guard([this] { take({}); }));
  return true;
}

void GpuQuery::take(std::string_view listing) {
  if (!done_) return;  // the limit came together with the end
  limit_.cancel();
  run_->kill();
  devices_ = os::parse_gpu_listing(listing);
  next_ = asked_at_ + os::gpu_interval(Clock::now() - asked_at_);
  std::exchange(done_, nullptr)();
}

void GpuQuery::end() {
  file_.clear();
  done_ = nullptr;
  limit_.cancel();
  if (run_) run_->kill();
}

}  // namespace sml::agent
