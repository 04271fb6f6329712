#include "launcher/inputs/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "common/core/text.h"
#include "common/plan/environment/kept_back.h"
#include "common/plan/environment/presets.h"
#include "common/plan/environment/rendezvous_variables.h"
#include "common/plan/ranks/program_map.h"
#include "launcher/hosts/aliases.h"
#include "launcher/hosts/host_filter.h"
#include "launcher/hosts/host_list.h"
#include "launcher/hosts/host_order.h"
#include "launcher/inputs/binding.h"
#include "launcher/inputs/channels.h"
#include "launcher/inputs/hosts/excluded_hosts.h"
#include "launcher/inputs/hosts/host_shares.h"
#include "launcher/inputs/hosts/host_slots.h"
#include "launcher/inputs/hosts/spare_hosts.h"
#include "launcher/inputs/hosts/start_by.h"
#include "launcher/inputs/own_address.h"
#include "launcher/inputs/programs.h"
#include "launcher/starters/starters.h"
#include "launcher/transport/command_words.h"

namespace sml {

namespace {

// ---- layout

Result<plan::RankLayout> read_layout(const Options& options, const ThisHost& here) {
  plan::RankLayout layout = options.layout;
  if (options.rankfile.empty()) return layout;
  if (layout.per_host || layout.rank_by || layout.map_by != plan::MapBy::Slot) {
    return Error(
        ErrorKind::Usage,
        "--rankfile gives the place of each rank; --map-by, --rank-by and --ranks-per-host cannot be given with it");
  }
  const Result<std::string> text = here.files.read(options.rankfile, plan::kMaxRankfileBytes);
  if (!text) {
    return Error(ErrorKind::Config, fmt::format("--rankfile {}: {}", show(options.rankfile), text.error().message()));
  }
  Result<plan::Rankfile> file = plan::parse_rankfile(*text, options.rankfile);
  if (!file) return file.error();
  layout.rankfile = std::move(*file);
  return layout;
}

// If nothing else names the slots of a host, the number of its ranks in the rankfile does.
Result<void> fill_slots_by_rankfile(plan::HostList& list, const plan::RankLayout& layout) {
  if (!layout.rankfile) return {};
  const Result<std::vector<HostIndex>> hosts_of = plan::hosts_of_ranks(*layout.rankfile, list.hosts);
  if (!hosts_of) return hosts_of.error();
  std::vector<std::uint32_t> counts(list.hosts.size(), 0);
  for (const HostIndex host : *hosts_of)
    counts[host.value()] = std::min(counts[host.value()] + 1, plan::kMaxSlotsPerHost);
  for (std::size_t i = 0; i < counts.size(); ++i) list.hosts[i].slots = list.hosts[i].slots.value_or(counts[i]);
  return {};
}

// ---- which hosts are used, and in which order

// Removes hosts that have failed jobs before and returns a warning. As many fewer spare hosts are needed then.
Result<std::string> leave_out(plan::HostList& list, RestartOptions& restart, const ThisHost& here) {
  const bool exchanges = restart.exclude.after > 0 && !restart.least.may_shrink();
  if (list.calls && (!restart.exclude.file.empty() || exchanges)) {
    return Error(
        ErrorKind::Usage,
        "--exclude-file, and --exclude-after without --min-hosts or --min-np: where hosts call each other, the list of "
        "hosts is fixed at the start; start sml-run on one host only, which connects to the others");
  }
  const Result<std::vector<std::string>> out = leave_out_excluded(list.hosts, restart.exclude, here);
  if (!out) return out.error();
  if (out->empty()) return std::string();
  restart.spares -= std::min(restart.spares, static_cast<std::uint32_t>(out->size()));
  return fmt::format("without {}, which {} in {} (--exclude-file)", fold_names(*out), out->size() == 1 ? "is" : "are",
                     show(restart.exclude.file));
}

Result<void> filter(plan::HostList& list, const Options& options) {
  if (!options.include_hosts.empty() && !options.exclude_hosts.empty()) {
    return Error(ErrorKind::Usage, "--include and --exclude cannot both be given; name the hosts in one of them");
  }
  if (!options.include_hosts.empty()) {
    const Result<void> done = hosts::filter_hosts(list.hosts, options.include_hosts, hosts::Filter::Include);
    if (!done) return Error(done.error()).in("--include");
  }
  if (!options.exclude_hosts.empty()) {
    const Result<void> done = hosts::filter_hosts(list.hosts, options.exclude_hosts, hosts::Filter::Exclude);
    if (!done) return Error(done.error()).in("--exclude");
  }
  return {};
}

Result<void> take_first(plan::HostList& list, std::optional<std::uint32_t> count) {
  if (!count || *count == list.hosts.size()) return {};
  if (*count > list.hosts.size()) {
    const bool one = list.hosts.size() == 1;
    return Error(
        ErrorKind::Usage,
        fmt::format(
            "{} hosts are asked for (--host-count or --nnodes), but there {} only {}, from {}; name more with -H or "
            "--hostfile",
            *count, one ? "is" : "are", list.hosts.size(), list.source));
  }
  if (list.calls) {
    return Error(ErrorKind::Usage, "--host-count: all hosts that call each other are used; start it on fewer");
  }
  list.hosts.resize(*count);
  return {};
}

// Renames hosts in a rankfile: hosts that are one machine share one name.
void rename_hosts(plan::RankLayout& layout, const std::vector<plan::Host>& listed,
                  std::span<const hosts::MachineNames> machines) {
  if (!layout.rankfile || machines.empty()) return;
  for (plan::RankfileEntry& entry : layout.rankfile->entries) {
    if (entry.host_index && *entry.host_index < listed.size()) {
      entry.host = listed[*entry.host_index].name;
      entry.host_index.reset();
    }
    entry.host = hosts::name_of_machine(entry.host, machines);
  }
}

// Returns warnings.
Result<std::vector<std::string>> arrange(plan::HostList& list, plan::RankLayout& layout, const Options& options,
                                         const ThisHost& here) {
  const std::vector<std::string> own_names{"localhost", "127.0.0.1", "::1", here.names.own};
  Result<std::vector<std::string>> warnings = hosts::merge_aliases(list.hosts, own_names);
  if (!warnings) return warnings;
  if (Result<void> filtered = filter(list, options); !filtered) return filtered.error();
  const std::vector<plan::Host> before_merge = here.found.machines.empty() ? std::vector<plan::Host>() : list.hosts;
  const Result<std::vector<std::string>> merged = hosts::merge_machines(list.hosts, here.found.machines);
  if (!merged) return merged.error();
  warnings->insert(warnings->end(), merged->begin(), merged->end());
  rename_hosts(layout, before_merge, here.found.machines);
  if (options.host_order == HostOrder::Natural) {
    const auto before = [](const plan::Host& a, const plan::Host& b) { return hosts::natural_less(a.name, b.name); };
    std::stable_sort(list.hosts.begin(), list.hosts.end(), before);
  }
  if (Result<void> taken = take_first(list, options.host_count); !taken) return taken.error();
  return warnings;
}

Result<void> check_ssh_file(std::string_view option, std::string file, const ThisHost& here) {
  if (file.starts_with("~/")) {
    const std::string* home = plan::find_variable(here.process.environment, "HOME");
    if (home == nullptr) return {};
    file.replace(0, 1, plan::value_of(*home));
  }
  if (file.empty() || here.files.exists(file)) return {};
  return Error(ErrorKind::Usage, fmt::format("{} {}: there is no such file", option, show(file)));
}

// Without this check, each host would report that no key is accepted, instead of that one was not even tried.
bool goes_by_ssh(const plan::LaunchPlan& plan, const Options& options, const ThisHost& here) {
  const auto is_remote = [&here](const plan::MappedHost& host) {
    return host.host.name != "localhost" && host.host.name != here.names.own;
  };
  return options.ssh.command.empty() && plan.start.by == starters::kSsh &&
         std::any_of(plan.map.hosts.begin(), plan.map.hosts.end(), is_remote);
}

// The log-in asks getent(1) for names, and starts ssh(1) for ProxyJump, at a time when it can warn of nothing.
void warn_of_login_programs(plan::LaunchPlan& plan, const ThisHost& here) {
  if (!here.programs.passed_over_of) return;
  for (const char* name : {"getent", "ssh"}) {
    std::ranges::copy(here.programs.passed_over_of(name), std::back_inserter(plan.warnings));
  }
}

Result<void> check_ssh_files(const Options& options, const ThisHost& here) {
  if (Result<void> key = check_ssh_file("--ssh-identity-file", options.ssh.identity_file, here); !key) return key;
  const std::string& config = options.ssh.config_file;
  return config == "none" ? Result<void>() : check_ssh_file("--ssh-config", config, here);
}

// A value without a placeholder in the command would be dropped silently.
Result<void> check_command(const plan::LaunchPlan& plan, const Options& options) {
  const std::vector<std::string>& command = options.ssh.command;
  if (Result<void> places = transport::check_places(command); !places) {
    return Error(ErrorKind::Usage, "--ssh-command: " + places.error().message());
  }
  if (!transport::has_places(command)) return {};
  for (const plan::MappedHost& mapped : plan.map.hosts) {
    const std::optional<std::uint16_t> port = mapped.host.port ? mapped.host.port : options.ssh.port;
    if (!port) continue;
    return Error(ErrorKind::Usage,
                 fmt::format("--ssh-command: {{host}} has no place for port {} of {}; name the port in "
                             "the command",
                             *port, show(mapped.host.name)));
  }
  return {};
}

Result<void> check_ranks(std::string_view option, const std::optional<RankSet>& named, const plan::JobMap& map) {
  if (!named || named->empty() || named->largest() < map.world_size()) return {};
  return Error(ErrorKind::Usage, fmt::format("{}: there is no rank {}; the job's ranks are 0 to {}", option,
                                             named->largest(), map.world_size() - 1));
}

bool is_plain(const std::vector<plan::ProgramShare>& shares) {
  return shares.size() == 1 && shares[0].role == plan::ProgramShare{}.role && shares[0].part == plan::Part::Worker;
}

Result<plan::JobMap> map_ranks(const plan::HostList& hosts, const Options& options,
                               const std::vector<plan::ProgramShare>& shares, const plan::RankLayout& layout) {
  if (is_plain(shares)) return plan::map_job(hosts, ranks_at_first(options, hosts), layout);
  return plan::map_programs(hosts, shares, layout);
}

// Hosts that call have their own variables anyway.
std::string kept_back_from_others(const plan::LaunchPlan& plan, const ThisHost& here) {
  const bool has_others = plan.map.group_world_size() > 1 && !plan.calls;
  if (!has_others || plan.export_policy == plan::ExportPolicy::None) return {};
  return plan::warning_of_kept_back(here.process.environment, plan.user_environment, here.names.own);
}

// Checks that the ranks that options name are in the job.
Result<void> check_named_ranks(const Options& options, const plan::JobMap& map) {
  if (Result<void> there = check_ranks("--show-ranks", options.output.shown_ranks, map); !there) return there.error();
  RankSet reader;
  if (options.stdin_rule == StdinRule::OneRank) reader.add(options.stdin_rank.value());
  if (Result<void> there = check_ranks("--stdin", reader, map); !there) return there.error();
  const std::optional<report::WatchRule>& watch = options.progress.watch;
  return check_ranks("--watch", watch ? watch->ranks : std::nullopt, map);
}

// The parts of a plan that options and this machine give as they stand.
void take_as_given(plan::LaunchPlan& plan, const Options& options, const ThisHost& here) {
  plan.job.job_id = here.job.id;
  plan.job.name_space = here.job.name_space;
  plan.job.run_id = options.run_id;
  plan.job.world = options.world;
  plan.job.max_restarts = options.restart.max;
  plan.presets = options.presets;
  plan.mpi = options.mpi;
  plan.pmix_library = options.pmix_library;
  plan.export_policy = options.export_policy;
  plan.secrets = options.secrets;
  plan.launcher_environment = here.process.environment;
  plan.launcher_process = here.process.settings;
}

// Processors, devices and data of each host, and how its workers share them.
Result<void> settle_shares_of_hosts(plan::LaunchPlan& plan, const Options& options, const ThisHost& here) {
  const auto implied = options.gpus_per_rank ? plan::VisibleDevices::PerRank : plan::VisibleDevices::All;
  plan.devices = {options.visible_devices.value_or(implied), options.gpus_per_rank.value_or(1)};
  plan.binding = options.binding;
  if (Result<void> counted = count_hwthreads(plan.binding, options); !counted) return counted.error();
  bind_as_open_mpi(plan.binding, options, plan.map);
  plan.fifos = options.fifos.channels;
  for (plan::FifoChannel& channel : plan.fifos) channel.epochs = options.fifos.epochs;
  if (Result<void> added = add_channels(plan, options, here); !added) return added.error();
  return check_channels(plan);
}

// How the agents of other hosts are started.
Result<void> settle_start(plan::LaunchPlan& plan, const Options& options, const ThisHost& here, HostFinder& finder) {
  if (Result<void> chosen = choose_start(plan, options, here, finder); !chosen) return chosen.error();
  if (goes_by_ssh(plan, options, here)) {
    if (Result<void> checked = check_ssh_files(options, here); !checked) return checked.error();
    warn_of_login_programs(plan, here);
  }
  return check_command(plan, options);
}

// The agent's store serves only the job's user, starts before the workers and ends after rank 0; but if the program
// names an address of its own, that is preferred.
plan::TorchStore store_asked_for(const Options& given, const plan::LaunchPlan& plan) {
  const bool is_set = given.torch_store_set == SetByUser::Yes || given.torch_store == plan::TorchStore::OfAgent;
  if (is_set) return given.torch_store;
  return plan::usual_torch_store(plan, names_own_address(plan) ? plan::NamesAddress::Yes : plan::NamesAddress::No);
}

}  // namespace

Result<plan::LaunchPlan> make_plan(const Options& options, const ThisHost& here) {
  HostFinder finder(here);
  return make_plan(options, here, finder);
}

Result<plan::LaunchPlan> make_plan(const Options& options, const ThisHost& here, HostFinder& finder,
                                   std::optional<plan::TorchStore> torch_store) {
  Result<plan::RankLayout> layout = read_layout(options, here);
  if (!layout) return layout.error();
  if (Result<void> counted = count_by_parts(*layout, options, here); !counted) return counted.error();
  if (Result<void> checked = check_discovery(options); !checked) return checked.error();
  Result<plan::HostList> hosts = finder.find(options);
  if (!hosts) return hosts.error();
  const std::string contradicted = finder.contradiction(options, *hosts);
  if (Result<void> filled = fill_slots_by_rankfile(*hosts, *layout); !filled) return filled.error();
  const bool np_says_it = np_says_slots(options, *layout, *hosts, here);
  if (Result<void> filled = fill_slots(*hosts, options, *layout, here); !filled) return filled.error();
  if (Result<void> said = take_shares(*hosts, options.dial_in.shares); !said) return said.error();
  RestartOptions restart = options.restart;
  const Result<std::string> without = leave_out(*hosts, restart, here);
  if (!without) return without.error();
  Result<std::vector<std::string>> arranged = arrange(*hosts, *layout, options, here);
  if (!arranged) return arranged.error();
  if (!without->empty()) arranged->push_back(*without);
  Result<std::vector<plan::Host>> spares = take_spares(*hosts, restart);
  if (!spares) return spares.error();
  const Result<std::vector<plan::ProgramShare>> shares = shares_of(options, *hosts, here);
  if (!shares) return shares.error();
  Result<plan::JobMap> map = map_ranks(*hosts, options, *shares, *layout);
  if (!map) return with_missing_count(map.error(), options, *layout, *hosts);
  if (Result<void> enough = check_least(options.restart, *map); !enough) return enough.error();
  add_spares(*map, std::move(*spares), restart.discovery);
  if (Result<void> there = check_named_ranks(options, *map); !there) return there.error();
  plan::LaunchPlan plan;
  plan.warnings = std::move(*arranged);
  for (const std::string& clause : {contradicted, hosts->remark}) {
    if (!clause.empty()) plan.warnings.push_back(clause);
  }
  if (Result<void> added = add_programs(plan, options, here, *shares); !added) return added.error();
  plan.map = std::move(*map);
  bind_by_lists(plan.map, options.bind_lists);
  plan.host_source = std::move(hosts->source);
  plan.calls = std::move(hosts->calls);
  take_as_given(plan, options, here);
  // JAX finds the others by the variables of a step, which the workers do not have.
  if (finder.in_slurm(options)) plan.presets.insert(plan::Preset::OpenMpi);
  plan.oversubscribe = np_says_it ? plan::Oversubscribe::Yes : options.layout.oversubscribe;
  plan.slot_limit = np_says_it ? plan::LaunchPlan::SlotLimit::None : plan::LaunchPlan::SlotLimit::Set;
  if (std::string kept = kept_back_from_others(plan, here); !kept.empty()) plan.warnings.push_back(std::move(kept));
  if (Result<void> settled = settle_shares_of_hosts(plan, options, here); !settled) return settled.error();
  if (Result<void> settled = settle_start(plan, options, here, finder); !settled) return settled.error();
  plan.torch_store = torch_store ? *torch_store : choose_torch_store(plan, store_asked_for(options, plan));
  if (here.programs.passed_over) std::ranges::copy(here.programs.passed_over(), std::back_inserter(plan.warnings));
  return plan;
}

}  // namespace sml
