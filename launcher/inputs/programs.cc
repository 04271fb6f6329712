#include "launcher/inputs/programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "common/core/text.h"
#include "common/plan/environment/presets.h"
#include "common/plan/environment/secrets.h"
#include "common/plan/program/horovod_use.h"
#include "common/plan/program/preload.h"
#include "launcher/hosts/aliases.h"
#include "launcher/hosts/host_list.h"
#include "launcher/inputs/hosts/host_shares.h"
#include "launcher/inputs/hosts/host_slots.h"
#include "launcher/plan/env_file.h"
#include "launcher/plan/export_words.h"

namespace sml {

namespace {

void add_once(std::vector<std::string>& warnings, std::string warning) {
  if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end()) warnings.push_back(std::move(warning));
}

// A user who could write the file would control what the workers load; one who can read it knows the secrets in it.
Result<plan::Environment> read_variables(const std::string& path, const ThisHost& here,
                                         std::vector<std::string>& warnings) {
  const Result<OwnText> file = read_own_text(here, path, plan::kMaxEnvFileBytes);
  if (!file) return Error(file.error()).in("--env-file " + show(path));
  Result<plan::Environment> variables = plan::parse_env_file(file->text, path);
  if (!variables) return variables;
  const auto secret = std::find_if(variables->begin(), variables->end(), plan::holds_a_secret);
  if (file->all_can_read && secret != variables->end()) {
    add_once(warnings, fmt::format("--env-file {}: every user of this machine can read {} in it; chmod 600 it",
                                   show(path), plan::name_of(*secret)));
  }
  return variables;
}

// The presets' defaults unless they are inherited, then the program's files and variables.
Result<plan::Environment> user_environment(const Options& options, const ProgramOptions& program, const ThisHost& here,
                                           std::vector<std::string>& warnings) {
  plan::Environment out = plan::preset_defaults(options.presets);
  std::erase_if(out, [&](const std::string& entry) {
    return plan::find_variable(here.process.environment, plan::name_of(entry)) != nullptr;
  });
  for (const std::string& path : program.env_files) {
    Result<plan::Environment> variables = read_variables(path, here, warnings);
    if (!variables) return variables;
    std::move(variables->begin(), variables->end(), std::back_inserter(out));
  }
  out.insert(out.end(), options.extra_variables.begin(), options.extra_variables.end());
  plan::ExportedVariables exported = plan::resolve_export_words(program.export_variables, here.process.environment);
  std::move(exported.variables.begin(), exported.variables.end(), std::back_inserter(out));
  for (std::string& warning : exported.warnings) add_once(warnings, std::move(warning));
  if (options.restart.elastic == Elastic::Horovod && plan::sets_mpi(out)) {
    return Error(ErrorKind::Usage,
                 "hvd.elastic knows Gloo alone, so that HOROVOD_CONTROLLER=mpi, or --mpi of "
                 "horovodrun, cannot be had with --elastic horovod; leave it out");
  }
  return out;
}

Result<std::string> working_directory(const ProgramOptions& program, const ThisHost& here) {
  const std::string& wanted = program.working_directory;
  if (wanted.starts_with('/')) return wanted;
  if (here.process.working_directory.empty()) {
    return Error(ErrorKind::Config, "the working directory does not exist any more; name one with --wdir");
  }
  if (wanted.empty() || wanted == ".") return here.process.working_directory;
  const bool at_root = here.process.working_directory.ends_with('/');
  return here.process.working_directory + (at_root ? "" : "/") + wanted;
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

Result<plan::ProgramShare> share_of(const Options& options, const ProgramOptions& program, const ThisHost& here) {
  plan::ProgramShare share{.np = program.np, .hosts = {}, .role = program.role, .part = program.part};
  if (program.hosts.empty()) return share;
  Result<std::vector<plan::Host>> hosts = hosts::parse_host_list(program.hosts);
  if (!hosts) return Error(hosts.error()).in("-H");
  plan::HostList list{std::move(*hosts), "-H"};
  if (Result<void> filled = fill_slots(list, options, options.layout, here); !filled) return filled.error();
  if (Result<std::vector<std::string>> merged = hosts::merge_machines(list.hosts, here.found.machines); !merged) {
    return merged.error();
  }
  share.hosts = std::move(list.hosts);
  return share;
}

}  // namespace

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

}  // namespace sml
