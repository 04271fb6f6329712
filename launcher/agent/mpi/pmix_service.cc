#include "launcher/agent/mpi/pmix_service.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <utility>
#include <variant>

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/core/text.h"
#include "common/os/spawn.h"
#include "common/os/trust.h"
#include "launcher/agent/core/host_files.h"
#include "launcher/agent/mpi/pmix_library.h"

namespace sml::agent {

namespace {

constexpr Duration kLimit = std::chrono::seconds(20);  // libraries may be on a slow disk

// libpmix has hwloc describe the host. No rank needs what these parts of hwloc add, and they start the drivers of
// accelerators and connect to displays.
constexpr const char* kWithoutDrivers = "HWLOC_COMPONENTS=-cuda,-nvml,-rsmi,-levelzero,-opencl,-gl";

// True for entries that libpmix as a server must not get: the rank that an outer launcher has assigned to this process,
// and libraries that are loaded before all others.
bool is_for_workers_only(const std::string& entry) {
  const std::string_view name = plan::name_of(entry);
  constexpr std::array<std::string_view, 2> kNames{"LD_PRELOAD", "LD_AUDIT"};
  const bool place = name.starts_with("PMIX_") && !name.starts_with("PMIX_MCA_");
  return place || std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// Why libpmix must not get the entry: one of the folders and files that it names, from which libpmix would load its
// components or read its settings, is another user's to change.
Result<void> check_places(const std::string& entry) {
  const bool folders = plan::name_of(entry) == "HWLOC_PLUGINS_PATH";
  if (!folders && !entry.starts_with("PMIX_MCA_mca_base_")) return {};
  std::string places = entry.substr(entry.find('=') + 1);
  std::replace_if(
      places.begin(), places.end(), [](char c) { return c == ',' || c == ';'; }, ':');
  for (const std::string_view part : split(places, ':')) {
    const std::string place(part);
    const bool is_word = !folders && part.find('/') == std::string_view::npos && ::access(place.c_str(), F_OK) != 0;
    if (is_word) continue;
    if (Result<void> trusted = os::check_trust(place); !trusted) return trusted;
  }
  return {};
}

// Open MPI also looks for a program in the working directory, after PATH.
void look_in_folders(pmix::AskSpawn& request, const plan::Environment& environment) {
  for (pmix::SpawnedApp& app : request.apps) {
    if (app.command.empty() || app.working_directory.empty()) continue;
    std::string& word = app.command.front();
    if (word.find('/') != std::string::npos || os::has_program(word, environment)) continue;
    if (os::has_program(app.working_directory + "/" + word, environment)) word.insert(0, "./");
  }
}

std::uint32_t usable_cpus() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<std::uint32_t>(CPU_COUNT(&set)) : 0;
}

}  // namespace

// ---- before the start

Error PmixService::refusal(const Error& why) const {
  return Error(ErrorKind::Spawn, "PMIx, which Open MPI needs, cannot be served: " + why.message())
      .with_hint(request_.library.empty() ? "--pmix FILE names the host's libpmix.so.2; --mpi none runs each rank alone"
                                          : "is " + show(request_.library) +
                                                " a libpmix of version 3 or later, and all that it needs beside it?");
}

// The last one is a name without a folder, for the system's own folders, unless the user has named the library.
std::vector<std::string> PmixService::libraries() const {
  if (!request_.library.empty()) return {request_.library};
  std::vector<std::string> out;
  for (std::string& file : plan::pmix_libraries(request_.program, request_.environment, host_files())) {
    const bool is_name = file.find('/') == std::string::npos;
    Result<void> trusted = is_name ? Result<void>() : os::check_trust(file.substr(0, file.rfind('/')));
    if (trusted && !is_name) trusted = os::check_trust(file);
    if (trusted) {
      out.push_back(std::move(file));
    } else {
      context_.warn(show(file) + " is not loaded, as " + trusted.error().message() +
                    "; --pmix FILE takes it all the same");
    }
  }
  return out;
}

// The environment of libpmix as a server that may load these files.
plan::Environment PmixService::server_environment(const std::vector<std::string>& files) const {
  plan::Environment environment;
  for (const std::string& entry : request_.environment) {
    if (is_for_workers_only(entry)) continue;
    if (Result<void> places = check_places(entry); places) {
      environment.push_back(entry);
    } else {
      context_.warn(show(plan::name_of(entry)) + " is not for the server of PMIx, as " + places.error().message());
    }
  }
  for (std::string& entry : pmix::pmix_variables(request_.environment)) environment.push_back(std::move(entry));
  if (plan::find_variable(environment, "HWLOC_COMPONENTS") == nullptr) environment.emplace_back(kWithoutDrivers);
  if (!request_.library.empty()) return environment;  // a user who names the library knows what it needs
  std::vector<std::string> left_out = os::keep_trusted_folders(environment);
  std::ranges::move(os::keep_trusted_folders(environment, files.back()), std::back_inserter(left_out));
  for (const std::string& why : left_out) {
    context_.warn("LD_LIBRARY_PATH: no library is loaded from a folder for PMIx, as " + why);
  }
  if (files.size() == 1) {  // the name alone, for the system's own library
    std::erase_if(environment, [](const std::string& entry) { return entry.starts_with("LD_LIBRARY_PATH="); });
  }
  return environment;
}

Result<void> PmixService::load() {
  const std::vector<std::string> files = libraries();
  if (Result<void> started = helper_.start(server_environment(files)); !started) return started;
  Result<pmix::FromHelper> answer = helper_.ask(pmix::Load{files}, kLimit);
  if (!answer) return Error(answer.error()).in("libpmix's helper");
  if (const auto* refused = std::get_if<pmix::Refused>(&*answer)) {
    return Error(ErrorKind::Spawn, refused->what + " (" + show(refused->why, 500) + ")");
  }
  const auto* loaded = std::get_if<pmix::Loaded>(&*answer);
  if (loaded == nullptr) return Error(ErrorKind::Protocol, "libpmix's helper answered something else");
  loaded_ = loaded->library + " (" + loaded->version + ")";
  return {};
}

void PmixService::find_prefix() {
  if (plan::find_variable(request_.environment, "OPAL_PREFIX") != nullptr) return;
  const std::string moved = plan::moved_open_mpi(request_.program, request_.environment, host_files());
  if (moved.empty()) return;
  if (Result<void> trusted = os::check_trust(moved); trusted) {
    prefix_ = moved;
  } else {
    context_.warn("OPAL_PREFIX is not set to " + show(moved) + ", where this Open MPI was moved, as " +
                  trusted.error().message() + "; -x OPAL_PREFIX=" + show(moved) + " sets it all the same");
  }
}

plan::Environment PmixService::open_mpi_variables(const pmix::JobData& job) const {
  plan::Environment out = pmix::open_mpi_variables(job, request_.environment);
  if (!prefix_.empty()) out.push_back("OPAL_PREFIX=" + prefix_);
  return out;
}

Result<void> PmixService::serve(const pmix::JobData& job) {
  if (::mkdir(job.folder.c_str(), 0700) != 0) {
    return sys_error(ErrorKind::Io, "cannot make the folder " + show(job.folder), errno);
  }
  Result<pmix::FromHelper> answer = helper_.ask(make_serve(job), kLimit);
  if (!answer) return Error(answer.error()).in("libpmix's helper, with " + loaded_);
  if (const auto* refused = std::get_if<pmix::Refused>(&*answer)) {
    return Error(ErrorKind::Spawn, refused->what + " (" + show(refused->why, 500) + "): " + loaded_);
  }
  auto* serving = std::get_if<pmix::Serving>(&*answer);
  if (serving == nullptr) return Error(ErrorKind::Protocol, "libpmix's helper answered something else");
  find_prefix();
  const plan::Environment more = open_mpi_variables(job);
  const plan::Environment same = pmix::pmix_variables(request_.environment);
  for (pmix::RankEnvironment& one : serving->ranks) {
    keep(one, more);
    keep(one, same);
  }
  return {};
}

// Appends `more` to the variables that libpmix itself gives the rank.
void PmixService::keep(pmix::RankEnvironment& one, const plan::Environment& more) {
  plan::Environment& of_rank = variables_[one.rank];
  of_rank.insert(of_rank.end(), std::make_move_iterator(one.environment.begin()),
                 std::make_move_iterator(one.environment.end()));
  one.environment.clear();
  of_rank.insert(of_rank.end(), more.begin(), more.end());
}

Result<void> PmixService::check(wire::Prepared& answer) {
  pmix::JobData job{.name_space = request_.name_space,
                    .shape = std::move(request_.shape),
                    .host = request_.host,
                    .host_name = request_.host_name,
                    .folder = context_.system.scratch.path() + "/pmix",
                    .places = std::move(request_.places),
                    .cpus = usable_cpus()};
  name_space_ = job.name_space;
  host_ = job.host_name;
  Result<void> done = load();
  if (done) done = serve(job);
  if (!done) {
    ending_ = true;
    helper_.end();
    variables_.clear();
    return request_.need == PmixNeed::Sure ? Result<void>(refusal(done.error())) : Result<void>();
  }
  answer.pmix = loaded_;
  machine_.emplace(pmix::ranks_of_host(job.shape, job.host), job.shape.size(), context_.attempt);
  listen();
  return {};
}

plan::Environment PmixService::variables(Rank rank) const {
  const auto found = variables_.find(rank);
  return found == variables_.end() ? plan::Environment() : found->second;
}

// ---- while workers run

void PmixService::listen() {
  helper_.listen(
      [this](pmix::FromHelper message) {
        if (take_world(message)) return Result<void>();
        if (auto* request = std::get_if<pmix::AskSpawn>(&message)) look_in_folders(*request, request_.environment);
        Result<void> taken = machine_->take(message);
        carry_out();
        return taken;
      },
      [this](const Error& why) { lose(why.message()); });
}

void PmixService::carry_out() {
  const pmix::Actions deeds = machine_->take_deeds();
  for (const pmix::Actions::Words& one : deeds.words) context_.owner.say_for(one.rank, one.stream, one.text);
  for (const pmix::Actions::Failure& one : deeds.failures)
    context_.owner.fail_rank(one.rank, one.kind, one.code, one.why);
  for (const std::string& one : deeds.warnings) context_.warn(one);
  for (const wire::ToLauncher& message : deeds.launcher) context_.send(message);
  for (const pmix::ToHelper& message : deeds.helper) helper_.send(message);
}

void PmixService::handle(const wire::ToAgent& message) {
  if (!machine_) return;
  if (const auto* fenced = std::get_if<wire::Fenced>(&message)) machine_->take(*fenced);
  if (const auto* relay = std::get_if<wire::Relay>(&message)) machine_->take(*relay);
  if (const auto* answer = std::get_if<wire::SpawnAnswer>(&message)) machine_->take(*answer);
  if (const auto* added = std::get_if<wire::StartAdded>(&message)) start_world(*added);
  carry_out();
}

// ---- spawned ranks

// Open MPI 5 computes a 16-bit number from a namespace, and a second one from the part behind the "@".
pmix::JobData PmixService::job_of(const wire::AddWorkers& m) const {
  const std::vector<std::string> hosts = m.shape.hosts.all();
  const auto own = std::find(hosts.begin(), hosts.end(), host_);
  const auto parent =
      std::find_if(m.keys.begin(), m.keys.end(), [](const auto& one) { return one.key == pmix::kParent; });
  const std::string rank = parent == m.keys.end() ? std::string() : parent->value;
  return {.name_space = name_space_ + "@" + std::to_string(m.first.value()),
          .shape = m.shape,
          .host = static_cast<std::uint32_t>(own - hosts.begin()),
          .host_name = host_,
          .folder = context_.system.scratch.path() + "/pmix",
          .cpus = usable_cpus(),
          .parent = Rank(static_cast<std::uint32_t>(std::strtoul(rank.c_str(), nullptr, 10)))};
}

// Every host registers the new ranks, as ranks of any host may connect to them.
bool PmixService::add_world(const wire::AddWorkers& m, std::span<const ResourceAssignment> shares,
                            const WorldReady& ready) {
  if (m.service != wire::WireUp::Pmix || !machine_ || ending_) return false;
  world_ = World{m, ready};
  pmix::JobData job = job_of(m);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const Rank own(m.workers[i].rank.value() - m.first.value());
    if (!shares[i].cpus.empty()) job.places.push_back({own, shares[i].cpus, shares[i].locality});
  }
  helper_.send(make_world(job, m.first));
  return true;
}

// Returns true if `answer` is about the added ranks.
bool PmixService::take_world(const pmix::FromHelper& answer) {
  if (!world_ || !world_->ready) return false;
  const auto* refused = std::get_if<pmix::Refused>(&answer);
  const auto* serving = std::get_if<pmix::Serving>(&answer);
  if (refused == nullptr && serving == nullptr) return false;
  const WorldReady ready = std::exchange(world_->ready, nullptr);
  if (refused != nullptr) {
    ready(refused->what + " (" + show(refused->why, 500) + ")");
    return true;
  }
  const pmix::JobData job = job_of(world_->plan);
  for (pmix::RankEnvironment one : serving->ranks) {
    variables_[one.rank].clear();
    keep(one, open_mpi_variables(job));
    keep(one, pmix::pmix_variables(request_.environment));
    const auto run = job.shape.run_of(Rank(one.rank.value() - world_->plan.first.value()));
    for (const wire::SpawnKey& entry : world_->plan.keys) {  // entries are by program
      if (run && entry.key == std::to_string(run->program)) variables_[one.rank].push_back(entry.value);
    }
  }
  ready({});
  return true;
}

void PmixService::start_world(const wire::StartAdded& m) {
  if (!world_ || m.attempt != context_.attempt || m.first != world_->plan.first) return;
  const World world = *std::exchange(world_, std::nullopt);
  if (m.go == wire::Go::No) return helper_.send(pmix::Forget{m.first});
  std::vector<Rank> here;
  for (const wire::Worker& worker : world.plan.workers) here.push_back(worker.rank);
  machine_->add_world(here, m.ranks, job_of(world.plan).name_space);
}

void PmixService::worker_ended(Rank rank, const ExitStatus& status) {
  if (!machine_) return;
  const bool joined = machine_->ended(rank);
  if (!succeeded(status)) return;
  if (joined) context_.owner.fail_rank(rank, wire::FaultKind::Broken, 1, "exited with status 0 without MPI_Finalize");
  machine_->ended_well(rank);
  carry_out();
}

// Fails the first rank that uses PMIx, as nothing else would show why the ranks wait forever. Ranks that have not
// joined, and need not, are left alone.
void PmixService::lose(const std::string& why) {
  const std::optional<Rank> rank = machine_ ? machine_->first_served() : std::nullopt;
  const bool used = request_.need == PmixNeed::Sure || (machine_ && machine_->ever_joined() > 0);
  if (std::exchange(ending_, true) || !rank || !used) return;
  context_.owner.fail_rank(*rank, wire::FaultKind::Broken, 125,
                           "was left without PMIx, as libpmix's helper (" + loaded_ + ") " + why + ",");
}

// A job that never started does not wait until the helper exits by itself.
void PmixService::end() {
  ending_ = true;
  if (started_) return helper_.close();
  helper_.end();
}

bool PmixService::process_ended(pid_t pid, const ExitStatus& status) {
  if (!helper_.ended(pid)) return false;
  lose(describe(status));
  return true;
}

}  // namespace sml::agent
