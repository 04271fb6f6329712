#include "launcher/inputs/host_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "common/core/letters.h"
#include "common/core/text.h"
#include "common/hosts/batch_systems.h"
#include "common/hosts/host_list.h"
#include "common/hosts/hostfile.h"
#include "common/hosts/instance_groups.h"
#include "common/hosts/resource_config.h"
#include "launcher/options/host_source_names.h"

namespace sml {

namespace {

using hosts::FoundHosts;
constexpr std::size_t kMaxConfigBytes = 1 << 20;
constexpr std::string_view kCountedHosts = "--nnodes";

struct Subject {
  const Options& options;
  const Machine& machine;
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
  const Result<std::string> text = s.machine.read_file(path, hosts::kMaxHostfileBytes);
  if (!text) return Error(ErrorKind::Config, fmt::format("{}: {}", show(source), text.error().message()));
  Result<std::vector<plan::Host>> hosts = hosts::parse_hostfile(*text, path);
  if (!hosts) return hosts.error();
  return std::optional(plan::HostList{std::move(*hosts), source});
}

// Who reads a file of the platform's: one host, which is to reach the others, or each of them.
enum class Readers : std::uint8_t { One, EachHost };

// The hosts of the file, or of the groups that are wanted.
FoundHosts hosts_of_config(const std::string& path, const std::string& source, Readers readers, const Subject& s) {
  const Result<std::string> text = s.machine.read_file(path, kMaxConfigBytes);
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

// Known by their number only.
FoundHosts hosts_of_count(const Subject& s) {
  if (!s.options.dial_in.hosts) return nothing();
  const auto name_of = [](std::uint32_t place) { return fmt::format("host-{}", place); };
  plan::HostList list{{}, std::string(kCountedHosts)};
  const std::optional<std::uint32_t>& place = s.options.dial_in.place;
  list.calls = {place ? name_of(*place) : "", "", plan::CallingHosts::Names::MadeUp};
  for (std::uint32_t i = 0; i < *s.options.dial_in.hosts; ++i) {
    list.hosts.push_back({name_of(i), "", std::nullopt});
  }
  return std::optional(std::move(list));
}

// Where SageMaker puts the file: of a training job, else of a processing job. SAGEMAKER_BASE_DIR moves both.
// SageMaker's training toolkit takes that variable for the name of the folder /opt/ml itself, other tools for what
// stands before it: both places are looked at.
struct SagemakerFile {
  std::string path;
  Readers readers;  // of a processing job no more is known than which host this one is: the same runs on all
};

std::vector<SagemakerFile> sagemaker_files(const plan::Environment& environment) {
  constexpr std::string_view kTraining = "/input/config/resourceconfig.json";
  constexpr std::string_view kProcessing = "/config/resourceconfig.json";
  const std::string* entry = plan::find_variable(environment, "SAGEMAKER_BASE_DIR");
  std::string base(entry == nullptr ? std::string_view() : plan::value_of(*entry));
  const bool moved = !base.empty();
  while (base.ends_with('/')) base.pop_back();
  std::vector<SagemakerFile> files;
  for (std::string_view file : {kTraining, kProcessing}) {
    const Readers readers = file == kProcessing ? Readers::EachHost : Readers::One;
    files.push_back({fmt::format("{}/opt/ml{}", base, file), readers});
    if (moved) files.push_back({fmt::format("{}{}", base, file), readers});
  }
  return files;
}

std::optional<SagemakerFile> sagemaker_file(const Machine& machine) {
  for (SagemakerFile& file : sagemaker_files(machine.environment)) {
    if (machine.exists(file.path)) return std::move(file);
  }
  return std::nullopt;
}

FoundHosts hosts_of_sagemaker(const Subject& s) {
  const std::optional<SagemakerFile> file = sagemaker_file(s.machine);
  return file ? hosts_of_config(file->path, file->path, file->readers, s) : nothing();
}

// As Open MPI does where nothing else names hosts.
FoundHosts hosts_of_rankfile(const Subject& s) {
  const std::string& path = s.options.rankfile;
  if (path.empty()) return nothing();
  const std::string source = "--rankfile " + path;
  const Result<std::string> text = s.machine.read_file(path, plan::kMaxRankfileBytes);
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

FoundHosts this_machine_alone(const Subject&) {
  return std::optional(plan::HostList{{{"localhost", "", std::nullopt}}, std::string(kThisMachine)});
}

std::optional<std::string> variable_of(const Machine& machine, const std::string& name) {
  const std::string* entry = plan::find_variable(machine.environment, name);
  if (entry == nullptr || plan::value_of(*entry).empty()) return std::nullopt;
  return std::string(plan::value_of(*entry));
}

hosts::JobSecret secret_of(const Subject& s) {
  const bool given = !s.options.dial_in.secret_file.empty() || variable_of(s.machine, std::string(kSecretVariable));
  return given ? hosts::JobSecret::Given : hosts::JobSecret::None;
}

hosts::Surroundings surroundings_of(const Subject& s) {
  return {[&machine = s.machine](const std::string& name) { return variable_of(machine, name); }, s.machine.read_file,
          s.machine.output_of, s.machine.host_name, secret_of(s)};
}

struct HostSource {
  std::string_view name;
  std::string_view needs;
  std::function<FoundHosts(const Subject&)> find;
};

HostSource source_of(const hosts::BatchSystem& system) {
  return {system.name, system.needs, [&system](const Subject& s) { return system.find(surroundings_of(s)); }};
}

// Of one of the names of host_source_names().
HostSource source_named(std::string_view name) {
  const std::array own{HostSource{"hosts", "--hosts", hosts_of_option},
                       HostSource{"hostfile", "--hostfile", hosts_of_hostfile},
                       HostSource{"resource-config", "--resource-config", hosts_of_resource_config},
                       HostSource{"nnodes", kCountedHosts, hosts_of_count},
                       HostSource{"sagemaker", "/opt/ml/input/config/resourceconfig.json", hosts_of_sagemaker},
                       HostSource{"rankfile", "--rankfile", hosts_of_rankfile},
                       HostSource{"local", "", this_machine_alone}};
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

bool takes_groups(const HostSource& source) { return source.name == "resource-config" || source.name == "sagemaker"; }

// ---- a file in an image, and the job in which the image runs

struct BatchJob {
  std::string_view system;  // as --host-source has it
  plan::HostList list;
};

// Of the first batch system whose job this is; one that cannot be read is none.
std::optional<BatchJob> batch_job(const Subject& s) {
  for (const hosts::BatchSystem& system : hosts::batch_systems()) {
    FoundHosts found = system.find(surroundings_of(s));
    if (found && *found) return BatchJob{system.name, std::move(**found)};
  }
  return std::nullopt;
}

std::string first_label(std::string_view name) { return lower(name.substr(0, name.find('.'))); }

std::set<std::string> names_of(const plan::HostList& list) {
  std::set<std::string> out;
  for (const plan::Host& host : list.hosts) out.insert(first_label(host.name));
  return out;
}

bool runs_here(const plan::HostList& list, const Machine& machine) {
  const bool knows_us = list.calls && !list.calls->own_name.empty();
  return knows_us || names_of(list).contains(first_label(machine.host_name));
}

// Neither the user nor the platform has said which counts.
bool may_contradict(const Options& options) {
  return options.host_source.empty() && options.groups.empty() && options.mode == Mode::Program;
}

// Whether it is worth while to ask for the hosts.
bool may_call(const Subject& s) {
  if (secret_of(s) == hosts::JobSecret::Given || variable_of(s.machine, "AWS_BATCH_JOB_NUM_NODES")) return true;
  const std::optional<SagemakerFile> file = sagemaker_file(s.machine);
  return file && file->readers == Readers::EachHost;
}

}  // namespace

Result<plan::HostList> find_hosts(const Options& options, const Machine& machine) {
  for (const HostSource& source : host_sources()) {
    const bool forced = source.name == options.host_source;
    if (!options.host_source.empty() && !forced) continue;
    FoundHosts found = source.find({options, machine});
    if (!found) return found.error();
    if (*found && !options.groups.empty() && !takes_groups(source)) {
      return Error(ErrorKind::Usage, fmt::format("--group: only resourceconfig.json has instance groups, and the hosts "
                                                 "come from {}",
                                                 show((*found)->source)));
    }
    if (*found && source.name == "sagemaker" && may_contradict(options)) {
      std::optional<BatchJob> job = batch_job({options, machine});
      if (job && runs_here(job->list, machine) && names_of(job->list) != names_of(**found)) return std::move(job->list);
    }
    if (*found) return std::move(**found);
    if (forced) {
      return Error(ErrorKind::Usage,
                   fmt::format("--host-source {}: not there; it needs {}", source.name, source.needs));
    }
  }
  return Error(ErrorKind::Internal, "no source of hosts");  // the last one always answers
}

std::string contradiction(const Options& options, const Machine& machine, const plan::HostList& chosen) {
  if (!may_contradict(options)) return {};
  const FoundHosts file = hosts_of_sagemaker({options, machine});
  if (!file || !*file) return {};
  const std::optional<BatchJob> job = batch_job({options, machine});
  if (!job || names_of(job->list) == names_of(**file)) return {};
  const bool batch = chosen.source == job->list.source;
  if (!batch && chosen.source != (*file)->source) return {};
  const plan::HostList& other = batch ? **file : job->list;
  return fmt::format("{} and {} name different hosts; those of {} are used (--host-source {} takes the others)",
                     show(chosen.source), show(other.source), show(chosen.source), batch ? "sagemaker" : job->system);
}

bool hosts_call(const Options& options, const Machine& machine) {
  if (options.dial_in.hosts || !may_call({options, machine})) return false;
  const Result<plan::HostList> found = find_hosts(options, machine);
  return found && found->calls;
}

}  // namespace sml
