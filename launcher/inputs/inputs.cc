#include "launcher/inputs/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "common/core/text.h"
#include "common/plan/environment/kept_back.h"
#include "common/plan/environment/presets.h"
#include "common/plan/environment/secrets.h"
#include "common/plan/program/horovod_use.h"
#include "common/plan/program/preload.h"
#include "common/plan/ranks/program_map.h"
#include "launcher/hosts/aliases.h"
#include "launcher/hosts/host_filter.h"
#include "launcher/hosts/host_list.h"
#include "launcher/hosts/host_order.h"
#include "launcher/inputs/excluded_hosts.h"
#include "launcher/inputs/host_shares.h"
#include "launcher/inputs/host_slots.h"
#include "launcher/inputs/spare_hosts.h"
#include "launcher/inputs/start_by.h"
#include "launcher/plan/env_file.h"
#include "launcher/plan/export_words.h"
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
        "--rankfile says where each rank is; --map-by, --rank-by and --ranks-per-host cannot be given with it");
  }
  const Result<std::string> text = here.read_file(options.rankfile, plan::kMaxRankfileBytes);
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
        "--exclude-file, and --exclude-after without --min-hosts or --min-np: hosts that call each other reckon "
        "who is where at the start, and cannot be exchanged; start sml-run on one host only, which reaches the "
        "others");
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
  const std::vector<std::string> own_names{"localhost", "127.0.0.1", "::1", here.host_name};
  Result<std::vector<std::string>> warnings = hosts::merge_aliases(list.hosts, own_names);
  if (!warnings) return warnings;
  if (Result<void> filtered = filter(list, options); !filtered) return filtered.error();
  const std::vector<plan::Host> before_merge = here.machines.empty() ? std::vector<plan::Host>() : list.hosts;
  const Result<std::vector<std::string>> merged = hosts::merge_machines(list.hosts, here.machines);
  if (!merged) return merged.error();
  warnings->insert(warnings->end(), merged->begin(), merged->end());
  rename_hosts(layout, before_merge, here.machines);
  if (options.host_order == HostOrder::Natural) {
    const auto before = [](const plan::Host& a, const plan::Host& b) { return hosts::natural_less(a.name, b.name); };
    std::stable_sort(list.hosts.begin(), list.hosts.end(), before);
  }
  if (Result<void> taken = take_first(list, options.host_count); !taken) return taken.error();
  return warnings;
}

// ---- what the workers get

void add_once(std::vector<std::string>& warnings, std::string warning) {
  if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end()) warnings.push_back(std::move(warning));
}

// A user who can write the file controls what the workers load; one who can read it knows the secrets in it.
Result<plan::Environment> read_variables(const std::string& path, const ThisHost& here,
                                         std::vector<std::string>& warnings) {
  const std::string name = "--env-file " + show(path) + ": ";
  Result<WatchedText> file = WatchedText{};
  if (here.read_watched) {
    file = here.read_watched(path, plan::kMaxEnvFileBytes);
  } else if (Result<std::string> text = here.read_file(path, plan::kMaxEnvFileBytes)) {
    file->text = std::move(*text);
  } else {
    file = text.error();
  }
  if (!file) return Error(ErrorKind::Config, name + file.error().message());
  if (file->others == OthersCan::Write) {
    return Error(ErrorKind::Config, name + "other users of this machine can write it")
        .with_hint("chmod o-w it, and look at what it says; a FIFO has to be your own");
  }
  Result<plan::Environment> variables = plan::parse_env_file(file->text, path);
  if (!variables) return variables;
  if (file->other_owner)
    add_once(warnings, fmt::format("{}user {} owns it and can change it", name, *file->other_owner));
  const auto secret = std::find_if(variables->begin(), variables->end(), plan::holds_a_secret);
  if (file->others == OthersCan::Read && secret != variables->end()) {
    add_once(warnings,
             fmt::format("{}every user of this machine can read {} in it; chmod 600 it", name, plan::name_of(*secret)));
  }
  return variables;
}

// The presets' defaults unless they are inherited, then the program's files and variables.
Result<plan::Environment> user_environment(const Options& options, const ProgramOptions& program, const ThisHost& here,
                                           std::vector<std::string>& warnings) {
  plan::Environment out = plan::preset_defaults(options.presets);
  std::erase_if(out, [&](const std::string& entry) {
    return plan::find_variable(here.environment, plan::name_of(entry)) != nullptr;
  });
  for (const std::string& path : program.env_files) {
    Result<plan::Environment> variables = read_variables(path, here, warnings);
    if (!variables) return variables;
    std::move(variables->begin(), variables->end(), std::back_inserter(out));
  }
  out.insert(out.end(), options.extra_variables.begin(), options.extra_variables.end());
  plan::ExportedVariables exported = plan::resolve_export_words(program.export_variables, here.environment);
  std::move(exported.variables.begin(), exported.variables.end(), std::back_inserter(out));
  for (std::string& warning : exported.warnings) add_once(warnings, std::move(warning));
  if (options.restart.elastic == Elastic::Horovod && plan::says_mpi(out)) {
    return Error(ErrorKind::Usage,
                 "hvd.elastic knows Gloo alone, so that HOROVOD_CONTROLLER=mpi, or --mpi of "
                 "horovodrun, cannot be had with --elastic horovod; leave it out");
  }
  return out;
}

Result<std::string> working_directory(const ProgramOptions& program, const ThisHost& here) {
  const std::string& wanted = program.working_directory;
  if (wanted.starts_with('/')) return wanted;
  if (here.working_directory.empty()) {
    return Error(ErrorKind::Config, "the working directory does not exist any more; name one with --wdir");
  }
  if (wanted.empty() || wanted == ".") return here.working_directory;
  const bool at_root = here.working_directory.ends_with('/');
  return here.working_directory + (at_root ? "" : "/") + wanted;
}

// Absolute, without "." and trailing slashes, so that equal paths compare equal.
std::string whole_path(const std::string& folder, const ThisHost& here) {
  std::string path = (std::filesystem::path(here.working_directory) / folder).lexically_normal();
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

// A folder that the platform has sharded over the hosts is not sharded over them again.
Result<void> add_channels(plan::LaunchPlan& plan, const Options& options, const ThisHost& here) {
  if (options.channels.empty()) return {};
  const Result<std::vector<std::string>> sharded =
      here.sharded_folders ? here.sharded_folders() : std::vector<std::string>();
  if (!sharded) return sharded.error();
  for (plan::Channel channel : options.channels) {
    if (here.working_directory.empty() && !channel.folder.starts_with('/')) {
      return Error(ErrorKind::Config,
                   fmt::format("--channel {}: the working directory does not exist any more", channel.name));
    }
    channel.folder = whole_path(channel.folder, here);
    const bool twice = channel.mode == plan::ChannelMode::Sharded &&
                       std::find(sharded->begin(), sharded->end(), channel.folder) != sharded->end();
    if (twice) {
      channel.on_hosts = plan::OnHosts::Sharded;
      plan.warnings.push_back(fmt::format(
          "channel {}: the platform has sharded {} over the hosts already; {}", channel.name, show(channel.folder),
          channel.by == plan::ShareBy::Host ? "each has its share as it is" : "the workers of each share what it has"));
    }
    plan.channels.push_back(std::move(channel));
  }
  return {};
}

// A channel and FIFOs of the same name would both define where the data is.
Result<void> check_channels(const plan::LaunchPlan& plan) {
  for (const plan::Channel& channel : plan.channels) {
    const auto same = [&](const plan::FifoChannel& other) { return other.name == channel.name; };
    if (std::none_of(plan.fifos.begin(), plan.fifos.end(), same)) continue;
    return Error(ErrorKind::Usage, fmt::format("--channel {0}: --pipe-fanout makes {0} a channel of FIFOs; it "
                                               "cannot be a folder too",
                                               channel.name));
  }
  return {};
}

Result<void> check_ssh_file(std::string_view option, std::string file, const ThisHost& here) {
  if (file.starts_with("~/")) {
    const std::string* home = plan::find_variable(here.environment, "HOME");
    if (home == nullptr) return {};
    file.replace(0, 1, plan::value_of(*home));
  }
  if (file.empty() || here.exists(file)) return {};
  return Error(ErrorKind::Usage, fmt::format("{} {}: there is no such file", option, show(file)));
}

// Without this check, each host would report that no key is accepted, instead of that one was not even tried.
bool goes_by_ssh(const plan::LaunchPlan& plan, const Options& options, const ThisHost& here) {
  const auto is_remote = [&here](const plan::MappedHost& host) {
    return host.host.name != "localhost" && host.host.name != here.host_name;
  };
  return options.ssh.command.empty() && plan.start.by == starters::kSsh &&
         std::any_of(plan.map.hosts.begin(), plan.map.hosts.end(), is_remote);
}

// The log-in asks getent(1) for names, and starts ssh(1) for ProxyJump, at a time when it can warn of nothing.
void warn_of_login_programs(plan::LaunchPlan& plan, const ThisHost& here) {
  if (!here.passed_over_of) return;
  for (const char* name : {"getent", "ssh"}) {
    std::ranges::copy(here.passed_over_of(name), std::back_inserter(plan.warnings));
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
  if (Result<void> places = launch::check_places(command); !places) {
    return Error(ErrorKind::Usage, "--ssh-command: " + places.error().message());
  }
  if (!launch::has_places(command)) return {};
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

Result<plan::Program> make_program(const Options& options, const ProgramOptions& program, const ThisHost& here,
                                   std::vector<std::string>& warnings) {
  Result<std::string> directory = working_directory(program, here);
  if (!directory) return directory.error();
  Result<plan::Environment> user = user_environment(options, program, here, warnings);
  if (!user) return user.error();
  const bool argument = program.local_rank_argument == LocalRankArgument::Yes;
  return plan::Program{program.command, std::move(*directory), std::move(*user),
                       argument ? plan::first_argument(program.command) : 0};
}

// ---- several programs

Result<plan::ProgramShare> share_of(const Options& options, const ProgramOptions& program, const ThisHost& here) {
  plan::ProgramShare share{.np = program.np, .hosts = {}, .role = program.role, .part = program.part};
  if (program.hosts.empty()) return share;
  Result<std::vector<plan::Host>> hosts = hosts::parse_host_list(program.hosts);
  if (!hosts) return Error(hosts.error()).in("-H");
  plan::HostList list{std::move(*hosts), "-H"};
  if (Result<void> filled = fill_slots(list, options, options.layout, here); !filled) return filled.error();
  if (Result<std::vector<std::string>> merged = hosts::merge_machines(list.hosts, here.machines); !merged) {
    return merged.error();
  }
  share.hosts = std::move(list.hosts);
  return share;
}

// The last are those that presets add.
Result<std::vector<plan::ProgramShare>> shares_of(const Options& options, const plan::HostList& list,
                                                  const ThisHost& here) {
  if (roles_differ(options.dial_in.shares)) {
    return programs_by_host(list, options.dial_in.shares);
  }
  std::vector<plan::ProgramShare> shares{{.np = options.np, .hosts = {}, .role = options.role, .part = options.part}};
  for (const ProgramOptions& program : options.more_programs) {
    Result<plan::ProgramShare> share = share_of(options, program, here);
    if (!share) return Error(share.error()).in(fmt::format("program {}", shares.size() + 1));
    shares.push_back(std::move(*share));
  }
  if (Result<void> arranged = plan::arrange_programs(options.presets, shares); !arranged) return arranged.error();
  return shares;
}

bool is_plain(const std::vector<plan::ProgramShare>& shares) {
  return shares.size() == 1 && shares[0].role == plan::ProgramShare{}.role && shares[0].part == plan::Part::Worker;
}

// All programs, in the order of their shares.
Result<void> add_programs(plan::LaunchPlan& plan, const Options& options, const ThisHost& here,
                          const std::vector<plan::ProgramShare>& shares) {
  Result<plan::Program> first = make_program(options, options, here, plan.warnings);
  if (!first) return first.error();
  static_cast<plan::Program&>(plan) = std::move(*first);
  for (const ProgramOptions& program : options.more_programs) {
    Result<plan::Program> made = make_program(options, program, here, plan.warnings);
    if (!made) return made.error();
    plan.more_programs.push_back(std::move(*made));
  }
  const auto works = [](const plan::ProgramShare& s) { return s.part == plan::Part::Worker; };
  const auto worker = static_cast<std::size_t>(std::find_if(shares.begin(), shares.end(), works) - shares.begin());
  while (plan.program_count() < shares.size()) plan.more_programs.push_back(plan::Program(plan.program(worker)));
  return {};
}

// ---- parts of hosts: sockets, NUMA nodes and the like

// Converts ranks per part to ranks per host; all hosts are assumed to be like this machine.
Result<void> count_by_parts(plan::RankLayout& layout, const Options& options, const ThisHost& here) {
  if (options.binding.per_part == 0) return {};
  const plan::CpuTopology topology = here.cpu_topology ? here.cpu_topology() : plan::CpuTopology();
  if (topology.empty()) {
    return Error(ErrorKind::Usage, "--map-by: the processors of this machine cannot be read; write ppr:N:host");
  }
  layout.per_host = options.binding.per_part * plan::count_parts(topology, options.binding.map_by);
  return {};
}

// --map-by slot:PE=N binds to N of the counted units.
Result<void> count_hwthreads(plan::BindingWish& wish, const Options& options) {
  if (options.processors == Processors::Cores) return {};
  if (!wish.cores.empty()) {
    return Error(ErrorKind::Usage, "--cpu-set names cores, so that it cannot be had with --use-hwthread-cpus");
  }
  const bool by_count = options.bind_to_said == SaidByUser::No && wish.cores_per_rank > 0;
  if (by_count && wish.bind_to == plan::BindTo::Core) wish.bind_to = plan::BindTo::Hwthread;
  return {};
}

// Open MPI 4.1 (rmaps_base_map_job.c) maps and binds by core for up to two workers and by NUMA node for more, if
// possible, and binds nothing if a host has more workers than slots.
void bind_as_open_mpi(plan::BindingWish& wish, const Options& options, const plan::JobMap& map) {
  if (options.bind_rule != BindRule::OpenMpi || !options.rankfile.empty()) return;
  const plan::BindTo own = options.processors == Processors::Cores ? plan::BindTo::Core : plan::BindTo::Hwthread;
  const bool few = map.world_size() <= 2;
  const bool said = options.bind_to_said == SaidByUser::Yes || wish.bind_to != plan::BindTo::None;
  if (options.map_by_said == SaidByUser::No && !few) wish.map_by = plan::BindTo::Numa;
  const auto crowded = [](const plan::MappedHost& host) { return host.ranks.size() > host.slots; };
  if (said || !wish.cores.empty() || std::any_of(map.hosts.begin(), map.hosts.end(), crowded)) return;
  wish.bind_to = few || wish.cores_per_rank > 0 ? own : plan::BindTo::Numa;
  if (wish.on_impossible == plan::OnImpossible::Warn) wish.on_impossible = plan::OnImpossible::Ignore;
}

// A rankfile names them, too, and outranks it.
void bind_by_lists(plan::JobMap& map, const std::vector<std::string>& lists) {
  if (lists.empty() || !map.cores.empty()) return;
  for (const plan::RankAssignment& rank : map.ranks) {
    map.cores.push_back(lists[rank.local_rank.value() % lists.size()]);
  }
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
  return plan::kept_back(here.environment, plan.user_environment, here.host_name);
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

}  // namespace

Result<plan::LaunchPlan> make_plan(const Options& options, const ThisHost& here) {
  HostFinder finder(here);
  return make_plan(options, here, finder);
}

Result<plan::LaunchPlan> make_plan(const Options& options, const ThisHost& here, HostFinder& finder) {
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
  if (!map) return map.error();
  if (Result<void> enough = check_least(options.restart.least, *map); !enough) return enough.error();
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
  plan.job.job_id = here.job_id;
  plan.job.name_space = here.name_space;
  plan.job.run_id = options.run_id;
  plan.job.world = options.world;
  plan.job.max_restarts = options.restart.max;
  plan.presets = options.presets;
  // JAX finds the others by the variables of a step, which the workers do not have.
  if (finder.in_slurm(options)) plan.presets.insert(plan::Preset::OpenMpi);
  plan.mpi = options.mpi;
  plan.oversubscribe = np_says_it ? plan::Oversubscribe::Yes : options.layout.oversubscribe;
  plan.room = np_says_it ? plan::LaunchPlan::Room::Unsaid : plan::LaunchPlan::Room::Counted;
  plan.pmix_library = options.pmix_library;
  plan.export_policy = options.export_policy;
  plan.secrets = options.secrets;
  plan.launcher_environment = here.environment;
  plan.launcher_process = here.process;
  if (std::string kept = kept_back_from_others(plan, here); !kept.empty()) plan.warnings.push_back(std::move(kept));
  plan.binding = options.binding;
  if (Result<void> counted = count_hwthreads(plan.binding, options); !counted) return counted.error();
  bind_as_open_mpi(plan.binding, options, plan.map);
  plan.fifos = options.fifos.channels;
  for (plan::FifoChannel& channel : plan.fifos) channel.epochs = options.fifos.epochs;
  const auto implied = options.gpus_per_rank ? plan::VisibleDevices::PerRank : plan::VisibleDevices::All;
  if (Result<void> added = add_channels(plan, options, here); !added) return added.error();
  if (Result<void> checked = check_channels(plan); !checked) return checked.error();
  if (Result<void> chosen = choose_start(plan, options, here, finder); !chosen) return chosen.error();
  if (goes_by_ssh(plan, options, here)) {
    if (Result<void> checked = check_ssh_files(options, here); !checked) return checked.error();
    warn_of_login_programs(plan, here);
  }
  if (Result<void> checked = check_command(plan, options); !checked) return checked.error();
  plan.devices = {options.visible_devices.value_or(implied), options.gpus_per_rank.value_or(1)};
  if (here.passed_over) std::ranges::copy(here.passed_over(), std::back_inserter(plan.warnings));
  return plan;
}

}  // namespace sml
