#include "launcher/options/rows/option_rows.h"

#include <chrono>
#include <csignal>
#include <utility>

#include "launcher/options/values/value_binders.h"

namespace sml {

namespace {

using namespace std::chrono_literals;

constexpr int kStatusSignals[] = {SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGURG, SIGPWR};
constexpr Choice<OnSilent> kOnSilent[] = {
    {"report", OnSilent::Report}, {"restart", OnSilent::Restart}, {"stop", OnSilent::Stop}};

std::vector<OptionRow> options_of_the_rank_monitor() {
  return {
      rare({"--rank-monitor", "",
            constant<plan::RankMonitorOffer::Yes, &Options::rank_monitor, &RankMonitorOptions::offer>,
            "Serve the rank monitor of NVRx: a rank that comes to it, at FT_RANK_MONITOR_IPC_SOCKET, and is then "
            "silent for longer than the limits below has failed, with status 123."}),
      needing("--rank-monitor",
              rare({"--initial-rank-heartbeat-timeout --ft-initial-rank-heartbeat-timeout "
                    "--ft-initial_rank_heartbeat_timeout",
                    "D|none", parsed<heartbeat_limit, &Options::rank_monitor, &RankMonitorOptions::first_ms>,
                    "Limit for the first heartbeat of a rank; default: 60m, or none with limits of sections."})),
      needing("--rank-monitor",
              rare({"--rank-heartbeat-timeout --ft-rank-heartbeat-timeout --ft-rank_heartbeat_timeout", "D|none",
                    parsed<heartbeat_limit, &Options::rank_monitor, &RankMonitorOptions::heartbeat_ms>,
                    "Limit for each further heartbeat of a rank; default: 45m, or none with limits of sections."})),
      needing("--rank-monitor",
              rare({"--rank-section-timeouts --ft-rank-section-timeouts --ft-rank_section_timeouts", "NAME:D,...",
                    parsed<section_limits, &Options::rank_monitor, &RankMonitorOptions::sections>,
                    "Limits for these sections to end."})),
      needing("--rank-monitor",
              rare({"--rank-out-of-section-timeout --ft-rank-out-of-section-timeout --ft-rank_out_of_section_timeout",
                    "D|none", parsed<heartbeat_limit, &Options::rank_monitor, &RankMonitorOptions::outside_ms>,
                    "Limit for a section to begin where none is open; default: none."}))};
}

}  // namespace

// Options about the progress of the job while it runs.
OptionGroup options_of_the_progress() {
  OptionGroup group{
      "Progress of the job",
      "progress",
      {{"--no-status", "", constant<LiveStatus::Never, &Options::progress, &ProgressOptions::live>,
        "Draw no line with hosts, ranks and time below the output, which is there when standard output and standard "
        "error are one terminal."},
       {"--no-usage", "", constant<UsageLook::No, &Options::usage>,
        "Do not look once a second how much of each host is in use, for sml-run status, --report and --timeline."},
       {"--status-signal", "SIG", signal_among<kStatusSignals, &Options::progress, &ProgressOptions::status_signal>,
        "Print a table of all hosts and ranks when this signal comes, such as USR1 or QUIT, instead of passing it on."},
       {"--hang-report", "DIR", valid_text<kFolderName, &Options::progress, &ProgressOptions::hang_folder>,
        "Whenever sml-run prints where the workers are, keep all that is known of each, with whole stacks, below DIR."},
       {"--warn-silent", "D",
        time_span<report::WatchRule::kLeast / 1ms, &Options::progress, &ProgressOptions::warn_silent>,
        "Name the workers that have printed nothing for D while others have, and report when none has."},
       needing("--warn-silent", {"--on-silent", "report|restart|stop",
                                 choice<kOnSilent, &Options::progress, &ProgressOptions::on_silent>,
                                 "When --warn-silent names workers, or reports that none prints, also print where all "
                                 "workers are (report), start them again as "
                                 "--max-restarts allows (restart), or end the job (stop). Status 123 where it ends."}),
       {"--watch", "'REGEX;first=D;every=D'",
        parsed_up_to<report::WatchRule::parse, plan::kMaxWorldSize, &Options::progress, &ProgressOptions::watch>,
        "Stop the job, with status 123, when a worker prints no line that matches within the first D, or for D after "
        "the last one; with ;ranks=LIST only these are watched. With --max-restarts a line that matches is progress, "
        "and there need be no time."},
       {"--metrics", "ADDR", set_metrics,
        "Serve metrics of the job in the formats of Prometheus at http://ADDR/metrics, with a numeric address; auto: "
        "at a free port of 127.0.0.1, which is printed; or at unix:PATH.",
        "", Repeat::LastCounts, "", HoldsFor::Job, "auto"},
       {"--metrics-file", "FILE", text<&Options::observers, &ObserverOptions::metrics_file>,
        "Write these metrics to FILE each 30 s, for the textfile collector of node_exporter."},
       {"--notify", "CMD|URL", add_notify,
        "Report the start, restarts, failures and the end of the job to a command, which gets each as JSON at its "
        "input, or to a URL, to which it is posted. The job does not wait for it. Repeatable.",
        "", Repeat::AddsUp},
       needing("--notify",
               {"--notify-on", "EVENTS", parsed<notify_events, &Options::observers, &ObserverOptions::notify_on>,
                "Report only these of start,restart,failure,end; default: all.", "start,restart,failure,end"}),
       rare({"--no-progress-push", "", constant<ProgressPush::No, &Options::observers, &ObserverOptions::progress_push>,
             "Report progress neither to Kubeflow's status server nor in lines for SageMaker's algorithm metrics."})}};
  return with(std::move(group), options_of_the_rank_monitor());
}

}  // namespace sml
