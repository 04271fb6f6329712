#include "launcher/start/refusal.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <unistd.h>

#include "common/os/fd.h"
#include "launcher/dialin/setup.h"
#include "launcher/dialin/step_space.h"
#include "launcher/report/live/own_line.h"
#include "launcher/run/watch/failure_file.h"
#include "launcher/sagemaker/failure_text.h"

namespace sml {

namespace {

// All tasks of a step start at the same time, and most errors are those of all: the head may have ended already.
constexpr Duration kStepIsThere = std::chrono::seconds(10);

}  // namespace

void print(const std::string& text) { os::write_all(STDERR_FILENO, report::own_line(text) + "\n"); }

int refuse(const Error& error) {
  print(error.message());
  if (!error.hint().empty()) print("hint: " + error.hint());
  return exit_code_of(error.kind());
}

int fail(const Options& options, const Error& error) {
  if (!options.failure.path.empty() && !options.dry_run && options.check == Preflight::No) {
    const bool message = options.failure.kind == FailureKind::Message;
    const std::string text =
        sagemaker::failure_text(error, message ? sagemaker::kMessageLimit : sagemaker::kFailureLimit);
    if (Result<void> left = leave_failure(options.failure.path, text); !left) print(left.error().message());
  }
  return refuse(error);
}

Result<transport::AgentImage> agent_image(const Options& options) {
  if (!options.agent_path.empty()) return transport::AgentImage::load(options.agent_path);
  return transport::AgentImage::embedded();
}

std::string build_of(const transport::AgentImage& image) { return SML_VERSION " " + image.id(); }

int fail_for_all(const Options& options, const ThisHost& here, HostFinder& finder, const Error& error) {
  const int status = fail(options, error);
  if (options.dry_run) return status;
  const Result<transport::AgentImage> image = agent_image(options);
  if (!image) return status;
  std::optional<dialin::Settings> head = find_head(options, here, finder, build_of(*image));
  if (!head) return status;
  Options brief = options;
  if (step_of_job(options, here)) brief.start_timeout = std::min(brief.start_timeout, kStepIsThere);
  const Result<dialin::AgreedSettings> met =
      head->space ? dialin::meet_in_space(std::move(*head), here.names.own, {brief.start_timeout, print})
                  : dialin::AgreedSettings{std::move(*head), os::UniqueFd()};
  if (met) tell_head(brief, met->settings, error, *image, print);
  return status;
}

}  // namespace sml
