#include "launcher/inputs/hosts/host_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "launcher/hosts/batch/batch_systems.h"
#include "launcher/hosts/fields.h"
#include "launcher/hosts/host_list.h"
#include "launcher/hosts/hostfile.h"
#include "launcher/hosts/instance_groups.h"
#include "launcher/hosts/resource_config.h"
#include "launcher/hosts/step.h"
#include "launcher/options/values/host_source_names.h"

namespace sml {

namespace {

using hosts::first_label;
using hosts::FoundHosts;
constexpr std::size_t kMaxConfigBytes = 1 << 20;
constexpr std::string_view kCountedHosts = "--nnodes";
constexpr std::string_view kDiscovery = "--host-discovery-script";

struct Subject {
  const Options& options;
  const ThisHost& here;
};

FoundHosts nothing() { return std::optional<plan::HostList>(); }

FoundHosts hosts_of_option(const Subject& s) {
  if (s.options.hosts.empty()) return nothing();
  Result<std::vector<plan::Host>> hosts = hosts::parse_host_list(s.options.hosts);
  if (!hosts) return Error(hosts.error()).in("-H");
  return std::optional(plan::HostList{std::move(*hosts), "-H"});
}

FoundHosts hosts_of_hostfile(const Subject& s) {
  const std::string& path = s.options.hostfile;
  if (path.empty()) return nothing();
  const std::string source = "--hostfile " + path;
  const Result<std::string> text = s.here.files.read(path, hosts::kMaxHostfileBytes);
  if (!text) return Error(ErrorKind::Config, fmt::format("{}: {}", show(source), text.error().message()));
  Result<std::vector<plan::Host>> hosts = hosts::parse_hostfile(*text, path);
  if (!hosts) return hosts.error();
  return std::optional(plan::HostList{std::move(*hosts), source});
}

// The list of the script at the start; after that the run queries it.
FoundHosts hosts_of_discovery(const Subject& s) {
  if (s.options.restart.discovery.script.empty()) return nothing();
  if (!s.here.found.discovered) return Error(ErrorKind::Config, std::string(kDiscovery) + " is not run for this");
  return std::optional(plan::HostList{*s.here.found.discovered, std::string(kDiscovery)});
}

// Which hosts read a file of the platform: one host, which is to reach the others, or each of them.
enum class Readers : std::uint8_t { One, EachHost };

// The hosts of the file, or of the requested groups.
FoundHosts hosts_of_config(const std::string& path, const std::string& source, Readers readers, const Subject& s) {
  const Result<std::string> text = s.here.files.read(path, kMaxConfigBytes);
  if (!text) return Error(ErrorKind::Config, fmt::format("{}: {}", show(source), text.error().message()));
  Result<hosts::ResourceConfig> config = hosts::parse_resource_config(*text, source);
  if (!config) return config.error();
  plan::HostList list{{}, source};
  for (std::string& name : config->hosts) list.hosts.push_back({std::move(name), "", std::nullopt});
  if (readers == Readers::EachHost) list.calls = {config->current_host, "", plan::CallingHosts::Names::Real};
  hosts::keep_domains_together(list.hosts, *text, source);
  if (s.options.groups.empty()) return std::optional(std::move(list));
  const Result<std::vector<hosts::InstanceGroup>> groups = hosts::parse_instance_groups(*text, source);
  if (!groups) return groups.error();
  Result<std::vector<plan::Host>> chosen = hosts::hosts_of_groups(list.hosts, *groups, s.options.groups);
  if (!chosen) return Error(chosen.error()).in("--group");
  list.hosts = std::move(*chosen);
  return std::optional(std::move(list));
}

FoundHosts hosts_of_resource_config(const Subject& s) {
  const std::string& path = s.options.resource_config;
  return path.empty() ? nothing() : hosts_of_config(path, "--resource-config " + path, Readers::One, s);
}

std::optional<std::string> set_variable(const ThisHost& here, const std::string& name) {
  std::string value = variable(here, name);
  return value.empty() ? std::nullopt : std::optional(std::move(value));
}

hosts::JobSecret secret_of(const Subject& s) {
  const bool given = !s.options.dial_in.secret_file.empty() || !variable(s.here, kSecretVariable).empty();
  return given ? hosts::JobSecret::Given : hosts::JobSecret::None;
}

std::vector<std::string> names_that_begin(const plan::Environment& environment, std::string_view prefix) {
  std::vector<std::string> out;
  for (const std::string& entry : environment) {
    if (plan::name_of(entry).starts_with(prefix)) out.emplace_back(plan::name_of(entry));
  }
  return out;
}

hosts::SourceContext source_context(const Subject& s) {
  return {[&here = s.here](const std::string& name) { return set_variable(here, name); },
          s.here.files.read,
          s.here.programs.output_of,
          s.here.names.own,
          secret_of(s),
          [&here = s.here](std::string_view prefix) { return names_that_begin(here.process.environment, prefix); }};
}

// `train` has hosts of its own.
FoundHosts hosts_of_step(const Subject& s) {
  return s.options.mode == Mode::Train ? nothing() : hosts::hosts_of_step(source_context(s));
}

// Known only by their numbers, except where a step knows more and nothing else has been given.
FoundHosts hosts_of_count(const Subject& s) {
  const DialInOptions& o = s.options.dial_in;
  if (!o.hosts) return nothing();
  const std::optional<hosts::Step> step = step_of_job(s.options, s.here);
  const bool only_counted = !o.place && o.head.empty() && !o.least && *o.hosts > 1;
  if (only_counted && step && step->hosts == *o.hosts) return hosts_of_step(s);
  plan::HostList list{{}, std::string(kCountedHosts)};
  std::optional<std::uint32_t> place = o.place;
  if (!place && step && step->hosts == 0 && step->rank < *o.hosts && !o.least) place = step->rank;
  list.calls = {place ? name_of_place(*place) : "", "", plan::CallingHosts::Names::MadeUp};
  for (std::uint32_t i = 0; i < *s.options.dial_in.hosts; ++i) {
    list.hosts.push_back({name_of_place(i), "", std::nullopt});
  }
  return std::optional(std::move(list));
}

// Where SageMaker puts the file: that of a training job, else of a processing job. SAGEMAKER_BASE_DIR moves both.
// SageMaker's training toolkit takes that variable for the name of the folder /opt/ml itself, other tools for what
// precedes it: both places are checked.
struct SagemakerFile {
  std::string path;
  enum class Job : std::uint8_t { Training, Processing } job;
};

std::vector<SagemakerFile> sagemaker_files(const ThisHost& here) {
  constexpr std::string_view kTraining = "/input/config/resourceconfig.json";
  constexpr std::string_view kProcessing = "/config/resourceconfig.json";
  std::string base = variable(here, "SAGEMAKER_BASE_DIR");
  const bool moved = !base.empty();
  while (base.ends_with('/')) base.pop_back();
  std::vector<SagemakerFile> files;
  for (std::string_view file : {kTraining, kProcessing}) {
    const auto job = file == kProcessing ? SagemakerFile::Job::Processing : SagemakerFile::Job::Training;
    files.push_back({fmt::format("{}/opt/ml{}", base, file), job});
    if (moved) files.push_back({fmt::format("{}{}", base, file), job});
  }
  return files;
}

std::optional<SagemakerFile> sagemaker_file(const ThisHost& here) {
  for (SagemakerFile& file : sagemaker_files(here)) {
    if (here.files.exists(file.path)) return std::move(file);
  }
  return std::nullopt;
}

// The user has set how, or an SSH server runs in this container, and so in the others, which are alike.
bool goes_by_ssh(const Subject& s) {
  constexpr std::uint16_t kSsh = 22;
  return gives_ssh_options(s.options.ssh) || !s.here.programs.listens || s.here.programs.listens(kSsh);
}

// SageMaker starts the same in all containers of a job. `train` makes up its own mind.
Readers readers_of(const SagemakerFile& file, const Subject& s) {
  if (file.job == SagemakerFile::Job::Processing) return Readers::EachHost;
  return s.options.mode == Mode::Train || goes_by_ssh(s) ? Readers::One : Readers::EachHost;
}

FoundHosts hosts_of_sagemaker(const Subject& s) {
  const std::optional<SagemakerFile> file = sagemaker_file(s.here);
  if (!file) return nothing();
  const bool judged = s.here.files.check_trust && !hosts::belongs_to_sagemaker(file->path);
  if (const Result<void> trusted = judged ? s.here.files.check_trust(file->path) : Result<void>(); !trusted) {
    return Error(ErrorKind::Config,
                 fmt::format("{}: is not obeyed, as {}", show(file->path), trusted.error().message()));
  }
  return hosts_of_config(file->path, file->path, readers_of(*file, s), s);
}

// As in Open MPI, if nothing else names hosts.
FoundHosts hosts_of_rankfile(const Subject& s) {
  const std::string& path = s.options.rankfile;
  if (path.empty()) return nothing();
  const std::string source = "--rankfile " + path;
  const Result<std::string> text = s.here.files.read(path, plan::kMaxRankfileBytes);
  if (!text) return Error(ErrorKind::Config, fmt::format("{}: {}", show(source), text.error().message()));
  const Result<plan::Rankfile> file = plan::parse_rankfile(*text, path);
  if (!file) return file.error();
  plan::HostList list{{}, source};
  std::set<std::string_view> seen;
  for (const plan::RankfileEntry& entry : file->entries) {
    if (!entry.host.empty() && seen.insert(entry.host).second) list.hosts.push_back({entry.host, "", std::nullopt});
  }
  return list.hosts.empty() ? nothing() : std::optional(std::move(list));
}

FoundHosts this_host_alone(const Subject&) {
  return std::optional(plan::HostList{{{"localhost", "", std::nullopt}}, std::string(kThisHost)});
}

// ---- the sources, and the options that each depends on

std::string no_option(const Options&) { return {}; }
std::string given_ways(const Options& o) {
  return fmt::format("{}\n{}{}", o.groups, gives_ssh_options(o.ssh), o.mode == Mode::Train);
}
std::string given_config(const Options& o) { return o.resource_config + '\n' + o.groups; }
std::string given_counts(const Options& o) {
  const auto text = [](const std::optional<std::uint32_t>& n) { return n ? std::to_string(*n) : std::string("-"); };
  return fmt::format("{} {} {} {}", text(o.dial_in.hosts), text(o.dial_in.least), text(o.dial_in.place),
                     o.dial_in.head);
}

}  // namespace

std::optional<hosts::Step> step_of_job(const Options& options, const ThisHost& here) {
  if (options.mode == Mode::Train) return std::nullopt;
  Result<std::optional<hosts::Step>> step = hosts::find_step(source_context({options, here}));
  if (!step || !*step) return std::nullopt;
  const std::optional<std::uint32_t>& count = options.dial_in.hosts;
  const bool is_it = (*step)->hosts == 0 || !count || *count == (*step)->hosts;
  return is_it ? std::move(*step) : std::nullopt;
}

std::string name_of_place(std::uint32_t place) { return fmt::format("host-{}", place); }

struct HostSource {
  std::string_view name;
  std::string_view needs;
  std::function<FoundHosts(const Subject&)> find;
  std::function<std::string(const Options&)> asked_with;  // equal keys get the same result
};

namespace {

HostSource source_of(const hosts::BatchSystem& system) {
  return {system.name, system.needs, [&system](const Subject& s) { return system.find(source_context(s)); },
          [](const Options& o) { return std::string(o.dial_in.secret_file.empty() ? "" : "secret"); }};
}

// `name` is one of host_source_names().
HostSource source_named(std::string_view name) {
  const std::array own{
      HostSource{"hosts", "--hosts", hosts_of_option, [](const Options& o) { return o.hosts; }},
      HostSource{"discovery", kDiscovery, hosts_of_discovery,
                 [](const Options& o) { return o.restart.discovery.script; }},
      HostSource{"hostfile", "--hostfile", hosts_of_hostfile, [](const Options& o) { return o.hostfile; }},
      HostSource{"resource-config", "--resource-config", hosts_of_resource_config, given_config},
      HostSource{"nnodes", kCountedHosts, hosts_of_count, given_counts},
      HostSource{"step", "one task of srun, flux run, mpirun, mpiexec or pbsdsh on each host", hosts_of_step,
                 [](const Options& o) { return std::string(o.mode == Mode::Train ? "train" : ""); }},
      HostSource{"sagemaker", "/opt/ml/input/config/resourceconfig.json", hosts_of_sagemaker, given_ways},
      HostSource{"rankfile", "--rankfile", hosts_of_rankfile, [](const Options& o) { return o.rankfile; }},
      HostSource{"local", "", this_host_alone, no_option}};
  const auto* found = std::find_if(own.begin(), own.end(), [name](const HostSource& s) { return s.name == name; });
  if (found != own.end()) return *found;
  const auto systems = hosts::batch_systems();
  const auto system = std::find_if(systems.begin(), systems.end(), [name](const auto& s) { return s.name == name; });
  return source_of(*system);
}

std::vector<HostSource> make_host_sources() {
  std::vector<HostSource> all;
  for (const std::string_view name : host_source_names()) all.push_back(source_named(name));
  return all;
}

const std::vector<HostSource>& host_sources() {
  static const std::vector<HostSource> sources = make_host_sources();
  return sources;
}

const HostSource& source_called(std::string_view name) {
  const std::vector<HostSource>& all = host_sources();
  return *std::find_if(all.begin(), all.end(), [name](const HostSource& s) { return s.name == name; });
}

bool takes_groups(const HostSource& source) { return source.name == "resource-config" || source.name == "sagemaker"; }

// ---- a file in an image, and the job in which the image runs

std::set<std::string> names_of(const plan::HostList& list) {
  std::set<std::string> out;
  for (const plan::Host& host : list.hosts) out.insert(first_label(host.name));
  return out;
}

bool runs_here(const plan::HostList& list, const ThisHost& here) {
  const bool knows_us = list.calls && !list.calls->own_name.empty();
  return knows_us || names_of(list).contains(first_label(here.names.own));
}

// Neither the user nor the platform has determined the source.
bool may_contradict(const Options& options) {
  return options.host_source.empty() && options.groups.empty() && options.mode == Mode::Program;
}

// Whether querying the hosts is worthwhile.
bool may_call(const Subject& s) {
  if (secret_of(s) == hosts::JobSecret::Given || !variable(s.here, "AWS_BATCH_JOB_NUM_NODES").empty()) return true;
  const std::optional<SagemakerFile> file = sagemaker_file(s.here);
  return file && readers_of(*file, s) == Readers::EachHost;
}

}  // namespace

const FoundHosts& HostFinder::ask(const HostSource& source, const Options& options) {
  const std::string key = fmt::format("{}\n{}", source.name, source.asked_with(options));
  const auto known = answers_.find(key);
  if (known != answers_.end()) return known->second;
  return answers_.emplace(key, source.find({options, here_})).first->second;
}

// The first batch system whose job this is; one that cannot be read does not count.
std::optional<HostFinder::BatchJob> HostFinder::batch_job(const Options& options) {
  for (const hosts::BatchSystem& system : hosts::batch_systems()) {
    const FoundHosts& found = ask(source_called(system.name), options);
    if (found && *found) return BatchJob{system.name, **found};
  }
  return std::nullopt;
}

std::optional<Error> HostFinder::wrong_start(const Options& options) {
  for (const hosts::BatchSystem& system : hosts::batch_systems()) {
    const FoundHosts& found = ask(source_called(system.name), options);
    if (!found && found.error().kind() == ErrorKind::Usage) return found.error();
  }
  return std::nullopt;
}

std::optional<plan::HostList> HostFinder::hosts_of_job(std::string_view system, const Options& options) {
  const FoundHosts& found = ask(source_called(system), options);
  return found ? *found : std::nullopt;
}

bool HostFinder::may_be_late(const Options& options) {
  const Result<plan::HostList> used = find(options);
  if (!used || used->calls) return false;
  for (const std::string_view name :
       {"aws-batch", "skypilot", "dstack", "lws", "volcano", "pytorchjob", "kubernetes", "mpi"}) {
    const FoundHosts& found = ask(source_called(name), options);
    if (found && *found && (*found)->source == used->source) return true;
  }
  return false;
}

bool HostFinder::in_slurm(const Options& options) {
  const Result<std::optional<hosts::Step>> step = hosts::find_step(source_context({options, here_}));
  if (step && *step && (*step)->id.starts_with("slurm ")) return true;
  const std::optional<BatchJob> job = batch_job(options);
  return job && job->system == "slurm";
}

Result<plan::HostList> HostFinder::find(const Options& options) {
  for (const HostSource& source : host_sources()) {
    const bool forced = source.name == options.host_source;
    if (!options.host_source.empty() && !forced) continue;
    const FoundHosts& found = ask(source, options);
    if (!found) return found.error();
    if (*found && !options.groups.empty() && !takes_groups(source)) {
      return Error(ErrorKind::Usage, fmt::format("--group: only resourceconfig.json has instance groups, and the hosts "
                                                 "come from {}",
                                                 show((*found)->source)));
    }
    const auto file = *found && source.name == "sagemaker" ? sagemaker_file(here_) : std::nullopt;
    const bool of_training = file && file->job == SagemakerFile::Job::Training;
    if (of_training && options.host_source.empty() && options.mode == Mode::Program) {
      if (std::optional<Error> wrong = wrong_start(options)) return *wrong;
    }
    if (*found && source.name == "sagemaker" && may_contradict(options)) {
      std::optional<BatchJob> job = batch_job(options);
      if (job && runs_here(job->list, here_) && names_of(job->list) != names_of(**found)) return std::move(job->list);
    }
    if (*found) return **found;
    if (forced) {
      return Error(ErrorKind::Usage,
                   fmt::format("--host-source {}: not there; it needs {}", source.name, source.needs));
    }
  }
  return Error(ErrorKind::Internal, "no source of hosts");  // the last source always returns hosts
}

std::string HostFinder::contradiction(const Options& options, const plan::HostList& chosen) {
  if (!may_contradict(options)) return {};
  const FoundHosts& file = ask(source_called("sagemaker"), options);
  if (!file || !*file) return {};
  const std::optional<BatchJob> job = batch_job(options);
  if (!job || names_of(job->list) == names_of(**file)) return {};
  const bool batch = chosen.source == job->list.source;
  if (!batch && chosen.source != (*file)->source) return {};
  const plan::HostList& other = batch ? **file : job->list;
  return fmt::format("{} and {} name different hosts; those of {} are used (--host-source {} takes the others)",
                     show(chosen.source), show(other.source), show(chosen.source), batch ? "sagemaker" : job->system);
}

bool HostFinder::hosts_call(const Options& options) {
  if (options.dial_in.hosts || !may_call({options, here_})) return false;
  const Result<plan::HostList> found = find(options);
  return found && found->calls;
}

}  // namespace sml
