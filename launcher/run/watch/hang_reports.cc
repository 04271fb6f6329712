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
  return report::hang_table("where the ranks are (" + why + ")", traces, deps_.plan().map);
}

void HangReports::make(control::Form form, std::function<void(Result<std::string>)> done) const {
  if (!deps_.workers_run()) return done(Error(ErrorKind::Usage, "the workers of this job do not run now"));
  deps_.look(TraceTools::All, [this, form, done = std::move(done)](report::Traces found) {
    const report::Traces traces = with_silence(std::move(found));
    const std::string& job = deps_.plan().job.job_id;
    if (form == control::Form::Json) return done(report::hang_json(job, traces));
    std::string text;
    for (const std::string& line : table("job " + job, traces)) text += (text.empty() ? "" : "\n") + line;
    done(text);
  });
}

void HangReports::print(const std::string& why, TraceTools tools, std::function<void()> then) {
  const bool keeps = deps_.folder.keeps() && !folder_failed_;
  const auto report = std::make_shared<Printed>(Printed{.awaited = keeps ? 2 : 1, .then = std::move(then)});
  deps_.look(tools, [this, why, report](report::Traces found) {
    report->traces = with_silence(std::move(found));
    report->table = table(why, report->traces);
    for (const std::string& line : report->table) deps_.print(line);
    answered(*report);
  });
  if (!keeps) return;
  deps_.fetch([this, report](const std::vector<report::Recording>& recordings) {
    report->recordings = recordings;
    answered(*report);
  });
}

void HangReports::answered(Printed& report) {
  if (--report.awaited > 0) return;
  keep(report);
  report.then();
}

// Reports only the first failure: later ones have the same cause.
void HangReports::keep(const Printed& report) {
  if (folder_failed_) return;
  const plan::LaunchPlan& plan = deps_.plan();
  const Result<std::string> kept = deps_.folder.keep({.table = report.table,
                                                      .json = report::hang_json(plan.job.job_id, report.traces),
                                                      .traces = report.traces,
                                                      .recordings = report.recordings,
                                                      .world_size = plan.map.world_size()});
  folder_failed_ = !kept;
  if (!kept) return deps_.print("--hang-report: " + kept.error().message() + "; no further report is kept");
  if (!kept->empty()) deps_.print("all that is known of these ranks is in " + show(*kept));
}

}  // namespace sml::run
