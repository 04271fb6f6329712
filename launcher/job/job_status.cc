// What a Job tells of itself while it runs, and what it does when its ranks stop printing.
#include "launcher/job/job.h"
#include "launcher/report/rank_words.h"
#include "launcher/report/status_text.h"

namespace sml::job {

void Job::begin_progress() {
  if (options_.progress.live == LiveStatus::OnTerminal && options_.verbosity != Verbosity::Quiet) {
    console_.show_status(
        [this](std::size_t columns) { return report::status_line(progress_.so_far(), Clock::now(), columns); });
  }
  const bool wanted = console_.status() != nullptr || options_.progress.status_signal;
  progress_.begin(events_, wanted ? ProgressWatch::Status::Wanted : ProgressWatch::Status::NotWanted);
}

void Job::print_status(int signo) {
  events_.tell(report::SignalCame{signo, report::SignalUse::PrintsStatus});
  for (const std::string& line : report::status_table(progress_.so_far(), Clock::now())) console_.say(line);
}

void Job::say_while_running(const std::string& text) {
  if (machine_.state() == JobState::Running) console_.say(text);
}

void Job::stop_for_no_progress(report::NoProgress what) {
  if (machine_.state() != JobState::Running) return;
  std::string who = report::ranks_in_words(what.ranks, plan_.map);
  facts_.stalled = report::Facts::Stalled{std::move(what), std::move(who), Clock::now()};
  tell(JobEvent::NoProgress);
}

}  // namespace sml::job
