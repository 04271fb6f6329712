#include "launcher/run/watch/hang_reports.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "common/core/clock.h"
#include "common/core/text.h"

namespace sml::run {

// Omits ranks that have ended meanwhile.
report::Traces HangReports::with_silence(report::Traces traces) const {
  const std::vector<report::JobProgress::RankLine>& lines = deps_.progress.ranks();
  const TimePoint now = Clock::now();
  std::erase_if(traces.ranks, [&](const report::RankTrace& one) { return one.rank.value() >= lines.size(); });
  for (report::RankTrace& one : traces.ranks) {
    one.quiet = std::max(Duration::zero(), now - lines[one.rank.value()].last_output);
  }
  return traces;
}

std::vector<std::string> HangReports::table(const std::string& why, const report::Traces& traces) const {
  return report::hang_table("where the ranks are (" + why + ")", traces, deps_.job.plan().map);
}

void HangReports::make(control::Form form, std::function<void(Result<std::string>)> done) const {
  if (!deps_.job.workers_run()) return done(Error(ErrorKind::Usage, "the workers of this job do not run now"));
  deps_.job.look_for_workers(TraceTools::All, [this, form, done = std::move(done)](report::Traces found) {
    const report::Traces traces = with_silence(std::move(found));
    const std::string& job = deps_.job.plan().job.job_id;
    if (form == control::Form::Json) return done(report::hang_json(job, traces));
    std::string text;
    for (const std::string& line : table("job " + job, traces)) text += (text.empty() ? "" : "\n") + line;
    done(text);
  });
}

void HangReports::print(const std::string& why, TraceTools tools, std::function<void()> then) {
  const bool is_kept = keeps();
  const auto report = std::make_shared<Printed>(Printed{.awaited = is_kept ? 2 : 1, .then = std::move(then)});
  deps_.job.look_for_workers(tools, [this, why, report](report::Traces found) {
    report->traces = with_silence(std::move(found));
    report->table = table(why, report->traces);
    for (const std::string& line : report->table) deps_.printer.print(line);
    answered(report);
  });
  if (!is_kept) return;
  deps_.job.fetch_records([this, report](const std::vector<report::Recording>& recordings) {
    report->recordings = recordings;
    answered(report);
  });
}

void HangReports::answered(const std::shared_ptr<Printed>& report) {
  if (--report->awaited > 0) return;
  if (keeps()) keep(report);
  report->then();
}

// One at a time, so that a file system that stalls does not gather reports.
void HangReports::keep(const std::shared_ptr<const Printed>& report) {
  if (std::exchange(is_keeping_, true)) {
    return deps_.printer.print("--hang-report: the file system has not taken the report before; this one is not kept");
  }
  const plan::LaunchPlan& plan = deps_.job.plan();
  const auto path = std::make_shared<Result<std::string>>();
  deps_.files.begin(
      "--hang-report",
      [path, report, folder = deps_.folder, job = plan.job.job_id, world_size = plan.map.world_size()] {
        *path = folder->keep({.table = report->table,
                              .json = report::hang_json(job, report->traces),
                              .traces = report->traces,
                              .recordings = report->recordings,
                              .world_size = world_size});
      },
      [this, path] { kept(*path); });
}

// Reports only the first failure: later ones have the same cause.
void HangReports::kept(const Result<std::string>& path) {
  is_keeping_ = false;
  folder_failed_ = !path;
  if (!path) return deps_.printer.print("--hang-report: " + path.error().message() + "; no further report is kept");
  deps_.printer.print("all that is known of these ranks is in " + show(*path));
}

}  // namespace sml::run
