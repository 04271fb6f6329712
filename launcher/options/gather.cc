#include "launcher/options/gather.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "common/core/text.h"
#include "launcher/hosts/host_filter.h"
#include "launcher/hosts/host_list.h"
#include "launcher/hosts/hostfile.h"
#include "launcher/options/settings_file.h"

namespace sml {

namespace {

using dialects::Dialect;
using std::string_view;

Result<std::vector<OptionValue>> read_config(const OptionValue& named, const OptionSources& sources) {
  const Result<std::string> text = sources.read_file(named.value, plan::kMaxSettingsBytes);
  if (text) return options_of_file(*text, named.value);
  return Error(ErrorKind::Config, fmt::format("{} {}: {}", named.spelling, show(named.value), text.error().message()));
}

}  // namespace

std::vector<dialects::SetOption> given_to(const Scan& scanned) {
  std::vector<dialects::SetOption> given;
  for (const std::vector<OptionValue>* some : {&scanned.of_variables, &scanned.options}) {
    for (const OptionValue& o : *some) given.push_back({std::string(main_spelling(*o.row)), o.value});
  }
  return given;
}

namespace {

// Whether there is a file that the user has not named. One that another user can change is skipped, with a warning.
bool is_found(const std::string& path, const OptionSources& sources, std::vector<std::string>& warnings) {
  if (!sources.exists || !sources.exists(path)) return false;
  const Result<void> trusted = sources.check_trust ? sources.check_trust(path) : Result<void>();
  if (trusted) return true;
  warnings.push_back(fmt::format("{} is not used, as {}", show(path), trusted.error().message()));
  return false;
}

// Reads the hosts of --hosts, or else of the hostfile; not of a shell's FIFO, which can be read only once.
Result<std::vector<plan::Host>> listed_hosts(const Scan& scanned, const std::string& hostfile,
                                             const OptionSources& sources) {
  if (const OptionValue* list = last_of(scanned.options, "--hosts")) return hosts::parse_host_list(list->value);
  const bool once = hostfile.starts_with("/dev/") || hostfile.starts_with("/proc/");
  if (once || !sources.read_file) return Error(ErrorKind::Config, "is not read twice");
  const Result<std::string> text = sources.read_file(hostfile, hosts::kMaxHostfileBytes);
  if (!text) return text.error();
  return hosts::parse_hostfile(*text, hostfile);
}

// See dialects::DialectInput. A mistake in a list or filter is reported when the job is planned.
std::optional<std::size_t> count_hosts(const Scan& scanned, const std::string& hostfile, const OptionSources& sources) {
  Result<std::vector<plan::Host>> listed = listed_hosts(scanned, hostfile, sources);
  if (!listed) return std::nullopt;
  for (plan::Host& host : *listed) host.slots = host.slots.value_or(1);
  for (const auto& [option, filter] : {std::pair(string_view("--include"), hosts::Filter::Include),
                                       std::pair(string_view("--exclude"), hosts::Filter::Exclude)}) {
    const OptionValue* wanted = last_of(scanned.options, option);
    if (wanted != nullptr && !hosts::filter_hosts(*listed, wanted->value, filter)) return std::nullopt;
  }
  const OptionValue* first = last_of(scanned.options, "--host-count");
  return std::min(listed->size(), parse_number<std::size_t>(first == nullptr ? "" : first->value).value_or(SIZE_MAX));
}

// Defaults of the launcher by whose name sml-run is called.
std::vector<OptionValue> dialect_layer(Dialect dialect, const Scan& scanned, const OptionSources& sources,
                                       std::vector<std::string>& warnings) {
  const std::vector<dialects::SetOption> given = given_to(scanned);
  const auto finds = [&](const std::string& path) { return is_found(path, sources, warnings); };
  const auto count = [&](const std::string& hostfile) { return count_hosts(scanned, hostfile, sources); };
  std::vector<OptionValue> out;
  const std::string name(dialects::name_of(dialect));
  for (dialects::SetOption& own : dialects::defaults_of(
           dialect,
           {given, scanned.rendezvous, sources.environment, sources.exists, finds, scanned.for_defaults, count})) {
    out.push_back({find_row(own.option), name, std::move(own.value), Layer::Dialect, name});
  }
  out.insert(out.end(), scanned.of_variables.begin(), scanned.of_variables.end());
  return out;
}

// Options from the launcher's own file, which an option names or which is in its usual place.
Result<std::vector<dialects::SourcedOption>> read_own_config(Dialect dialect, const Scan& scanned,
                                                             const OptionSources& sources) {
  if (!sources.read_file) return std::vector<dialects::SourcedOption>();
  std::string path = scanned.config_file;
  const std::vector<dialects::SetOption> given = given_to(scanned);
  for (std::string& usual :
       dialects::config_files(dialect, {given, scanned.rendezvous, sources.environment, sources.exists})) {
    if (path.empty() && sources.exists && sources.exists(usual)) path = std::move(usual);
  }
  if (path.empty()) return std::vector<dialects::SourcedOption>();
  const Result<std::string> text = sources.read_file(path, plan::kMaxSettingsBytes);
  if (text) return dialects::options_of_config(dialect, *text, path);
  const string_view named = scanned.config_file.empty() ? "" : "--config-file ";
  return Error(ErrorKind::Config, fmt::format("{}{}: {}", named, show(path), text.error().message()));
}

// True if the command line has an option that excludes this one from a variable or file: the command line takes
// precedence.
bool is_outdone(Dialect dialect, const std::vector<std::string>& words, const Scan& scanned) {
  const dialects::Row* row = dialects::find_row(dialect, words.front());
  if (row == nullptr || row->choice.empty()) return false;
  return std::any_of(scanned.chosen.begin(), scanned.chosen.end(),
                     [row](const Scan::Chosen& chosen) { return chosen.row->choice == row->choice; });
}

}  // namespace

Result<void> add_dialect_variables(Dialect dialect, const OptionSources& sources, Scan& scanned) {
  Scan variables;
  Result<std::vector<dialects::SourcedOption>> others = read_own_config(dialect, scanned, sources);
  if (!others) return others.error();
  for (dialects::SourcedOption& option : dialects::options_of_variables(dialect, sources.environment)) {
    others->push_back(std::move(option));
  }
  for (const auto& [variable, written] : *others) {
    if (written.empty()) {
      add_note(scanned.notes, variable);
      continue;
    }
    if (is_outdone(dialect, written, scanned)) continue;
    const std::size_t known = variables.options.size();
    const std::size_t refused = variables.rendezvous.refused.size();
    const std::size_t noted = variables.notes.size();
    std::span<const std::string> words(written);
    if (Result<bool> taken = take_foreign(dialect, words, variables); !taken) return Error(taken.error()).in(variable);
    for (std::size_t i = known; i < variables.options.size(); ++i) {
      variables.options[i].spelling = fmt::format("{}: {}", variable, variables.options[i].spelling);
      variables.options[i].layer = Layer::Dialect;
      variables.options[i].where = variable;
    }
    // Batch systems set those of the MPI launchers; srun's are the user's.
    if (dialect == Dialect::Srun && variables.notes.size() > noted) add_note(scanned.notes, variable);
    for (std::size_t i = refused; i < variables.rendezvous.refused.size(); ++i) {
      variables.rendezvous.refused[i] = fmt::format("{}: {}", variable, variables.rendezvous.refused[i]);
    }
  }
  scanned.of_variables = std::move(variables.options);
  dialects::merge(variables.rendezvous, scanned.rendezvous);
  scanned.rendezvous = std::move(variables.rendezvous);
  if (scanned.program_is == dialects::Program::Unchanged) scanned.program_is = variables.program_is;
  return {};
}

Result<GatheredOptions> gather(Dialect dialect, const Scan& scanned, const OptionSources& sources) {
  Result<EnvironmentLayer> environment = options_of_environment(sources.environment);
  if (!environment) return environment.error();
  std::vector<OptionValue> file;
  const OptionValue* named = last_of(scanned.options, "--config");
  if (named == nullptr) named = last_of(environment->options, "--config");
  if (named != nullptr && sources.read_file) {
    Result<std::vector<OptionValue>> read = read_config(*named, sources);
    if (!read) return read.error();
    file = std::move(*read);
  }
  std::vector<std::string>& warnings = environment->warnings;
  const std::array<std::vector<OptionValue>, 4> layers{dialect_layer(dialect, scanned, sources, warnings),
                                                       std::move(file), std::move(environment->options),
                                                       scanned.options};
  return GatheredOptions{merge_layers(layers), std::move(warnings)};
}

namespace {

// True if --nnodes belongs to a single start for all hosts, as in other launchers' options, and does not mean that each
// host calls: 1 is this machine, and if hosts are named, no option defines which of them this one is.
bool is_started_once(const std::vector<OptionValue>& given, dialects::HostsNamed named) {
  const OptionValue* count = last_of(given, "--nnodes");
  if (count == nullptr) return false;
  const bool calls = last_of(given, "--node-rank") != nullptr || last_of(given, "--head") != nullptr;
  return count->value == "1" || (named == dialects::HostsNamed::Yes && !calls);
}

void add_own(dialects::RendezvousOptions& rendezvous, const std::vector<OptionValue>& given) {
  const OptionValue* count = last_of(given, "--nnodes");
  if (count != nullptr && !rendezvous.hosts) dialects::set_host_count(rendezvous, count->spelling, count->value);
  for (const auto& [member, option] :
       {std::pair(&dialects::RendezvousOptions::place, string_view("--node-rank")),
        std::pair(&dialects::RendezvousOptions::address, string_view("--master-addr"))}) {
    const OptionValue* own = last_of(given, option);
    if (own != nullptr && !(rendezvous.*member)) rendezvous.*member = {own->spelling, own->value};
  }
}

// Advice about a missing secret; empty if there is a secret, or if an option provides one.
std::string secret_advice(const std::vector<OptionValue>& given, const OptionSources& sources) {
  const bool is_given = last_of(given, "--secret-file") != nullptr || last_of(given, "--insecure-job-key") != nullptr;
  return is_given || !sources.secret_advice ? std::string() : std::string(sources.secret_advice());
}

}  // namespace

std::vector<std::string> idle_hosts(const std::vector<OptionValue>& given) {
  std::vector<std::string> out;
  const OptionValue* counts = nullptr;
  for (const string_view option : {"--hosts", "--hostfile", "--resource-config"}) {  // in order of precedence
    const OptionValue* last = last_of(given, option);
    for (const OptionValue& o : given) {
      const bool is_given = o.layer == Layer::CommandLine && main_spelling(*o.row) == option;
      const OptionValue* instead = counts != nullptr ? counts : last;
      if (!is_given || (counts == nullptr && o.value == last->value)) continue;
      out.push_back(fmt::format("{} {} has no effect: the hosts are those of {} {}", o.spelling, show(o.value, 60),
                                instead->spelling, show(instead->value, 60)));
    }
    if (counts == nullptr) counts = last;
  }
  return out;
}

Result<void> settle_hosts(Scan& scanned, std::vector<OptionValue>& given, const OptionSources& sources) {
  const auto is_named = [&](string_view option) { return last_of(given, option) != nullptr; };
  const bool any_named = is_named("--hosts") || is_named("--hostfile") || is_named("--resource-config");
  const auto named = any_named ? dialects::HostsNamed::Yes : dialects::HostsNamed::No;
  if (!any_named && !scanned.needs_hosts.empty()) return Error(ErrorKind::Usage, scanned.needs_hosts.front());
  dialects::RendezvousOptions& rendezvous = scanned.rendezvous;
  if (rendezvous == dialects::RendezvousOptions() && !is_started_once(given, named)) return {};
  add_own(rendezvous, given);
  Result<dialects::Settled> settled = dialects::settle(rendezvous, {named, secret_advice(given, sources)});
  if (!settled) return settled.error();
  // The settled options replace those of sml-run, except a host source that the user has named.
  std::erase_if(given, [](const OptionValue& o) {
    const string_view name = main_spelling(*o.row);
    return name == "--nnodes" || name == "--node-rank";
  });
  const OptionValue* source = last_of(given, "--host-source");
  const bool source_named = source != nullptr && source->layer != Layer::Dialect;
  const auto is_ours_to_say = [&given](const std::string& option) {
    return (option == "--start-timeout" || option == "--grow-after") && last_of(given, option) != nullptr;
  };
  for (dialects::SetOption& option : settled->options) {
    if (option.option == "--host-source" && source_named) continue;
    if (is_ours_to_say(option.option)) continue;
    given.push_back({find_row(option.option), option.option, std::move(option.value), Layer::CommandLine, ""});
  }
  for (std::string& note : settled->notes) add_note(scanned.notes, std::move(note));
  return {};
}

}  // namespace sml
