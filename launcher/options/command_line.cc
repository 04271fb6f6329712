#include "launcher/options/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "common/core/text.h"
#include "common/plan/environment/worker_env.h"
#include "launcher/dialects/dialect.h"
#include "launcher/options/needs.h"
#include "launcher/options/option_layers.h"
#include "launcher/options/option_table.h"
#include "launcher/options/parser.h"
#include "launcher/options/scan.h"
#include "launcher/options/text/completion.h"
#include "launcher/options/text/explained.h"
#include "launcher/options/text/help.h"
#include "launcher/options/text/linked_versions.h"
#include "launcher/options/text/missing_program.h"
#include "launcher/options/text/program_words.h"
#include "launcher/report/explain.h"

namespace sml {

namespace {

using dialects::Dialect;
using std::string_view;

Error no_program(std::size_t number) {
  return Error(ErrorKind::Usage, fmt::format("program {} is missing; \":\" stands between two programs, as in sml-run "
                                             "-np 1 A : -np 4 B, and after -- it is the program's own",
                                             number));
}

Result<void> check_command(const std::vector<std::string>& command) {
  if (!command.empty() && !command.front().empty()) return check_program_word(command.front());
  if (!command.empty()) return Error(ErrorKind::Usage, "the program's name is empty; give one after the options");
  return Error(ErrorKind::Usage,
               "no program to start; give one after the options, as in sml-run -np 2 python3 train.py");
}

// Adds the programs after the first ":".
Result<void> add_programs(Dialect dialect, std::span<const std::string> words, const OptionSources& sources,
                          Options& options) {
  for (bool more = true; more;) {
    const std::size_t number = options.more_programs.size() + 2;
    const auto refused = [number](const Error& error) { return Error(error).in(fmt::format("program {}", number)); };
    Result<Scan> scanned = scan_further(dialect, words);
    if (!scanned) return refused(scanned.error());
    if (scanned->program.empty()) return no_program(number);
    std::vector<std::string> command = take_command(dialect, *scanned, sources);
    Result<Options> parsed = parse_options(scanned->options);
    if (!parsed) return refused(parsed.error());
    parsed->command = std::move(command);
    if (Result<void> checked = check_command(parsed->command); !checked) return refused(checked.error());
    options.more_programs.push_back(static_cast<const ProgramOptions&>(*parsed));
    std::move(scanned->notes.begin(), scanned->notes.end(), std::back_inserter(options.without_effect));
    more = scanned->another_follows;
  }
  return {};
}

}  // namespace

Result<ProgramOptions> parse_program(std::span<const std::string> words) {
  const Result<Scan> scanned = scan_further(Dialect::Own, words);
  if (!scanned) return scanned.error();
  if (scanned->another_follows) return Error(ErrorKind::Usage, "a line names one program; \":\" begins another");
  Result<Options> parsed = parse_options(scanned->options);
  if (!parsed) return parsed.error();
  parsed->command.assign(scanned->program.begin(), scanned->program.end());
  if (Result<void> checked = check_command(parsed->command); !checked) return checked.error();
  return static_cast<const ProgramOptions&>(*parsed);
}

namespace {

// Refuses an option that would have set the number of workers under another launcher's name, where nothing else sets
// it. The slots of a job of Slurm are those of its request.
Result<void> check_count(Dialect dialect, const Scan& scanned, const std::vector<OptionValue>& given,
                         const OptionSources& sources) {
  if (dialect != Dialect::Own || scanned.needs_count.empty() || scanned.mode == Mode::Train) return {};
  if (plan::find_variable(sources.environment, "SLURM_JOB_ID") != nullptr) return {};
  constexpr std::array kCounts{"--np",    "--nproc-per-node", "--ranks-per-host", "--map-by",
                               "--hosts", "--hostfile",       "--rankfile",       "--app"};
  const auto is_given = [&given](string_view option) { return last_of(given, option) != nullptr; };
  if (std::any_of(kCounts.begin(), kCounts.end(), is_given)) return {};
  return Error(ErrorKind::Usage, scanned.needs_count.front());
}

// The text that is printed instead of running a job.
std::optional<Printed> printed_instead(const Options& options, std::span<const OptionValue> given) {
  if (options.completion) return Printed{completion_script(*options.completion)};
  if (options.explain == Explain::No) return std::nullopt;
  const std::vector<report::ExplainedValue> values = explained(given);
  const bool json = options.format == PlanFormat::Json;
  return Printed{json ? report::explain_json(values) + "\n" : report::explain_table(values)};
}

bool has_words(std::span<const std::string> words, const std::vector<std::string>& wanted) {
  return std::search(words.begin(), words.end(), wanted.begin(), wanted.end()) != words.end();
}

// With --verbose, anywhere on the line, lists the libraries inside; with --format json an object.
std::string version_text(std::span<const std::string> words) {
  std::string out = "sml-run " SML_VERSION "\n";
  if (has_words(words, {"--format", "json"}) || has_words(words, {"--format=json"})) {
    return report::version_json(SML_VERSION, linked_versions()) + "\n";
  }
  const bool verbose = has_words(words, {"--verbose"});
  if (!verbose || linked_versions().empty()) return out;
  return out + "inside, by Debian's packages:\n" + std::string(linked_versions()) + "\n";
}

Error belongs_to_file(std::string_view options_and_advice, const Options& options) {
  return Error(ErrorKind::Usage,
               fmt::format("--app {} names {} on the command line", show(options.app_file), options_and_advice));
}

// Adds the programs after the first, and checks that no part is missing.
Result<void> complete_programs(Dialect dialect, const Scan& scanned, std::span<const std::string> words,
                               const OptionSources& sources, Options& options) {
  if (options.mode == Mode::Train && !options.app_file.empty()) {
    return Error(ErrorKind::Usage, "train: the job has one program; --app names several");
  }
  const bool needs_none = options.mode == Mode::Train || (options.check == Preflight::Yes && !scanned.another_follows);
  if (needs_none && options.command.empty()) return {};
  const bool of_file = !options.app_file.empty();
  const bool names_one = !options.command.empty() || scanned.another_follows || options.np;
  if (of_file && names_one) return belongs_to_file("the programs, with -np for each; give none of them", options);
  const bool describes_one = options.role != ProgramOptions().role || options.part != plan::Part::Worker;
  if (of_file && describes_one) return belongs_to_file("each program's --role and --helper; give neither", options);
  if (of_file) return {};
  if (options.command.empty() && scanned.another_follows) return no_program(1);
  if (Result<void> checked = check_command(options.command); !checked) return checked;
  return scanned.another_follows ? add_programs(dialect, words, sources, options) : Result<void>();
}

}  // namespace

Result<std::variant<Options, Printed>> parse_command_line(std::span<const std::string> arguments,
                                                          const OptionSources& sources) {
  using Parsed = std::variant<Options, Printed>;
  const Dialect dialect = dialects::dialect_called(sources.called);
  const Result<std::vector<std::string>> plain = dialects::plain_words(dialect, arguments);
  if (!plain) return plain.error();
  std::span<const std::string> words = *plain;
  Result<Scan> scanned = scan(dialect, words);
  if (!scanned) return scanned.error();
  if (!scanned->options.empty() && scanned->options.back().row->set == nullptr) {
    const OptionValue& asked = scanned->options.back();
    if (main_spelling(*asked.row) == "--version") return Parsed(Printed{version_text(*plain)});
    Result<std::string> help = help_text(dialect, asked.value);
    if (!help) return help.error();
    return Parsed(Printed{std::move(*help)});
  }
  if (Result<void> added = add_dialect_variables(dialect, sources, *scanned); !added) return added.error();
  for (std::string& idle : dialects::idle_options(dialect, given_to(*scanned))) {
    add_note(scanned->notes, std::move(idle));
  }
  std::vector<std::string> command = take_command(dialect, *scanned, sources);
  Result<GatheredOptions> given = gather(dialect, *scanned, sources);
  if (!given) return given.error();
  if (Result<void> settled = settle_hosts(*scanned, given->options, sources); !settled) return settled.error();
  if (Result<void> counted = check_count(dialect, *scanned, given->options, sources); !counted) return counted.error();
  const std::vector<OptionValue> granted = without_refused_flags(given->options);
  for (std::string& idle : idle_translations(granted)) add_note(scanned->notes, std::move(idle));
  const std::vector<OptionValue> counting = without_idle(granted);
  Result<Options> options = parse_options(counting);
  if (!options) return options.error();
  if (Result<void> met = check_needs(counting); !met) return met.error();
  const OptionValue* count = last_of(counting, "--nproc-per-node");
  if (count != nullptr && count->layer == Layer::CommandLine) options->slots_hold = SlotsHold::OnEveryHost;
  if (dialect == Dialect::Torchrun) options->dial_in.shares_are = SharesAre::OfEachHost;
  const bool makes_files = options->dial_in.make_secret == MakeSecret::Yes || !options->links_folder.empty();
  if (makes_files) return Parsed(std::move(*options));
  if (std::optional<Printed> printed = printed_instead(*options, given->options)) return Parsed(std::move(*printed));
  options->mode = scanned->mode;
  const bool by_mpi = dialect == Dialect::Mpirun || dialect == Dialect::Hydra;
  if (by_mpi && options->mpi != plan::PmiMode::None) options->mpi_singleton = MpiSingleton::Refused;
  options->command = std::move(command);
  options->warnings = std::move(given->warnings);
  for (std::string& clause : idle_hosts(given->options)) options->warnings.push_back(std::move(clause));
  options->without_effect = std::move(scanned->notes);
  if (Result<void> whole = complete_programs(dialect, *scanned, words, sources, *options); !whole) return whole.error();
  return Parsed(std::move(*options));
}

std::vector<std::string> long_options() {
  std::vector<std::string> out;
  for_each_row([&](const OptionRow& row) {
    const string_view name = main_spelling(row);
    if (name.starts_with("--")) out.emplace_back(without_dashes(name));
  });
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace sml
