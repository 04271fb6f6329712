#include "launcher/options/rows/option_rows.h"

#include "launcher/options/values/value_binders.h"

namespace sml {

using std::string_view;

namespace {

constexpr Choice<Color> kColors[] = {{"auto", Color::Auto}, {"always", Color::Always}, {"never", Color::Never}};
constexpr Choice<Sanitize> kSanitize[] = {
    {"auto", Sanitize::Auto}, {"always", Sanitize::Always}, {"never", Sanitize::Never}};

}  // namespace

OptionGroup options_of_the_output() {
  return {
      "Output of the workers",
      "output",
      {{"--tag", "TEMPLATE", parsed<tag_template, &Options::output, &OutputOptions::tag>,
        "Put this before each line of a worker, with {rank}, {local_rank}, {role}, {host}, {stream} and {time}; "
        "{rank:4} has at least four digits, {rank:0} as many as the largest rank. Default: \"[{rank}] \" for more than "
        "one worker."},
       {"--no-tag", "", emptied<&Options::output, &OutputOptions::tag>, "Put nothing before the lines of workers."},
       {"--color", "auto|always|never", choice<kColors, &Options::output, &OutputOptions::color>,
        "Colour the tags, one colour for each rank; default: auto, on a terminal unless NO_COLOR is set.", "auto"},
       {"--show-ranks", "LIST",
        parsed_up_to<RankSet::parse, plan::kMaxWorldSize, &Options::output, &OutputOptions::shown_ranks>,
        "Print the output of these ranks only, such as 0,8-15."},
       {"--show-local-ranks", "LIST",
        parsed_up_to<RankSet::parse, plan::kMaxSlotsPerHost, &Options::output, &OutputOptions::shown_local_ranks>,
        "On each host print the output of these local ranks only."},
       {"--quiet-workers", "", emptied<&Options::output, &OutputOptions::shown_ranks>, "Print no output of workers."},
       {"--dedup", "", constant<EqualLines::Fold, &Options::output, &OutputOptions::equal_lines>,
        "Print lines that workers have in common once, with all their ranks in the tag. The default for several "
        "workers at a terminal."},
       {"--merge-stderr", "", constant<StderrOfWorkers::WithStdout, &Options::stderr_of_workers>,
        "Give workers one pipe for both streams: what they write to standard error comes with their standard output."},
       {"--pty", "", constant<StdoutOfWorkers::Terminal, &Options::stdout_of_workers>,
        "Give each worker a terminal as its standard output, so that C prints each line at once, as under Open MPI's "
        "mpirun. The default under the name mpirun."},
       rare({"--no-pty", "", constant<StdoutOfWorkers::Pipe, &Options::stdout_of_workers>,
             "Give workers pipes as their standard output, under the name mpirun, too."}),
       {"--collapse-cr", "", constant<ProgressBars::Collapse, &Options::output, &OutputOptions::progress_bars>,
        "Print only the last state of each second of a progress bar. The default for several workers at a terminal."},
       {"--all-lines", "",
        both<constant<ProgressBars::Pass, &Options::output, &OutputOptions::progress_bars>,
             constant<EqualLines::Pass, &Options::output, &OutputOptions::equal_lines>>,
        "Print every line of each worker, at a terminal too: no --dedup, no --collapse-cr."},
       {"--sanitize", "auto|always|never", choice<kSanitize, &Options::output, &OutputOptions::sanitize>,
        "Show control characters of workers, all but colours, as \\xNN instead of passing them on: when the output "
        "goes to a terminal, always, or never. Default: auto.",
        "auto"},
       {"--keep-going-without-output", "",
        constant<OutputOptions::Gone::IsIgnored, &Options::output, &OutputOptions::when_gone>,
        "Go on, and drop the output, when nobody reads it any more. Without this the job ends with status 141."}}};
}

}  // namespace sml
