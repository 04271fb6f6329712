#include "launcher/run/conclusion.h"

#include <utility>
#include <vector>

#include "launcher/report/outcome/job_report.h"
#include "launcher/report/outcome/report_json.h"
#include "launcher/run/watch/failure_file.h"
#include "launcher/sagemaker/failure_text.h"

namespace sml::run {

namespace {

// The last output of the first workers that failed by themselves; of at most kMost.
std::vector<report::RankLastLines> last_lines_of_failed(const report::AttemptFacts& facts) {
  constexpr std::size_t kMost = 64;
  std::vector<report::RankLastLines> out;
  for (const report::AttemptFacts::WorkerEnd& end : facts.ends) {
    if (end.by_itself && out.size() < kMost) out.push_back({end.rank, end.last_lines});
  }
  return out;
}

}  // namespace

Conclusion::Conclusion(Deps job, attempt::AttemptOutcome outcome)
    : deps_(std::move(job)), outcome_(std::move(outcome)) {}

void Conclusion::print_outcome() const {
  for (const std::string& line : report::job_report(outcome_.facts, verdict())) deps_.printer.print(line);
  const bool ran = outcome_.facts.first_start != TimePoint();
  if (const std::string& why = deps_.restarts.why_none(); ran && !why.empty())
    deps_.printer.print("no restart: " + why);
  if (deps_.options.verbosity == Verbosity::Quiet && verdict().exit_code == 0) return;
  for (const std::string& line :
       report::attempts_report(deps_.restarts.earlier(), attempt_number(), verdict().exit_code)) {
    deps_.printer.print(line);
  }
}

std::string Conclusion::report(std::vector<report::AttemptFacts::WorkerEnd> ranks) const {
  std::vector<report::AttemptRecord> attempts = deps_.restarts.all(outcome_);
  std::vector<report::HostRecord> hosts;
  for (const report::JobProgress::Host& host : deps_.progress.hosts()) hosts.push_back({host.name, host.peaks});
  const double started_unix = attempts.front().started_unix;
  const report::JobRecord record{.job_id = deps_.plan.job.job_id,
                                 .started_unix = started_unix,
                                 .now = Clock::now(),
                                 .ranks = std::move(ranks),
                                 .attempts = std::move(attempts),
                                 .hosts = std::move(hosts),
                                 .goodput = goodput(),
                                 .no_restart = deps_.restarts.why_none()};
  return report::report_json(record, outcome_.facts, verdict());
}

// As it will be when the end of the job is known to all.
std::optional<report::GoodputSums> Conclusion::goodput() const {
  if (deps_.goodput == nullptr) return std::nullopt;
  report::Goodput at_end = *deps_.goodput;
  at_end.on_event({Clock::now(), event()});
  return at_end.sums(Clock::now());
}

void Conclusion::leave_error_file() const {
  const std::string& path = deps_.options.failure.json_path;
  const report::AttemptFacts::WorkerEnd* root_cause = verdict().root_cause;
  if (path.empty() || root_cause == nullptr) return;
  const std::string text = report::error_file_for_parent(root_cause->error, root_cause->status);
  if (!text.empty()) deps_.files.write("--error-file", [path, text] { return write_failure(path, text); });
}

// The failure text is for every host: the platform shows the file of whichever it looks at first.
transport::RunEnd Conclusion::leave_failure_file() const {
  const bool message = deps_.options.failure.kind == FailureKind::Message;
  std::string failure =
      sagemaker::failure_text(outcome_.facts, verdict(), message ? sagemaker::kMessageLimit : sagemaker::kFailureLimit);
  if (const std::string& path = deps_.options.failure.path; !path.empty() && verdict().exit_code != 0) {
    deps_.files.write("--failure-file", [path, failure] { return leave_failure(path, failure); });
  }
  return {static_cast<std::uint8_t>(verdict().exit_code), report::in_words(verdict()), std::move(failure)};
}

report::JobEnds Conclusion::event() const {
  return {verdict().exit_code, report::in_words(verdict()), root_cause(), last_lines_of_failed(outcome_.facts),
          attempt_number(),    deps_.restarts.why_none()};
}

std::optional<Rank> Conclusion::root_cause() const {
  return verdict().root_cause != nullptr ? std::optional(verdict().root_cause->rank) : std::nullopt;
}

}  // namespace sml::run
