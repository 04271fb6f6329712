#include "tests/simulation/job.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "launcher/attempt/session_plans.h"
#include "launcher/hosts/aliases.h"
#include "launcher/hosts/host_list.h"
#include "launcher/run/run.h"

namespace sml::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

class SimLauncher final : public transport::AgentLauncher {
 public:
  SimLauncher(Job& owner, boost::asio::any_io_executor loop) : owner_(owner), loop_(std::move(loop)) {}
  Result<void> open(Events) override { return {}; }
  std::unique_ptr<transport::AgentTransport> transport(HostId host, const std::string& mark,
                                                       const std::string& script) override {
    const bool returns = script.find(" --return") != std::string::npos;
    return std::make_unique<Transport>(
        owner_.link_to(host, loop_, mark, returns ? LinkPurpose::Return : LinkPurpose::Serve));
  }
  std::unique_ptr<transport::AgentTransport> local_transport(const std::string& mark) override {
    return std::make_unique<Transport>(owner_.link_to(HostId(0), loop_, mark, LinkPurpose::Serve));
  }
  void add_host(const plan::Host& host) override { owner_.add_host(host.name); }
  bool send_end(const transport::RunEnd&, std::function<void()>) override { return false; }

 private:
  Job& owner_;
  boost::asio::any_io_executor loop_;
};

class LauncherProcess final : public run::OwnProcess {
 public:
  explicit LauncherProcess(Job& owner) : owner_(owner) {}
  void stop() override { owner_.stop_launcher(); }

 private:
  Job& owner_;
};

// Names of hosts and faults in the order of `befall`.
enum HostFate : std::size_t { LosesPower, LosesAgent, IsCut, IsHalfOpen, StandsStill, AgentStandsStill, kHostFates };

}  // namespace

Job* job = nullptr;

Job::Job(std::uint64_t seed, const transport::AgentImage& image) : seed_(seed), dice_(seed), image_(image) {
  job = this;
  make_hosts();
  make_other_name();
  make_options();
  make_scripts();
  make_changes();
  make_cascade();
  Reader::Pace pace;
  if (dice_.one_in(4)) pace = {dice_.between(milliseconds(5), milliseconds(100)), 1024U << dice_.below(6)};
  reader_ = std::make_unique<Reader>(pace);
  make_fates();
}

Job::~Job() { job = nullptr; }

Job::Changes::~Changes() { std::remove(path.c_str()); }

// ---- what a seed decides

void Job::make_hosts() {
  const std::uint64_t count = dice_.one_in(3) ? 1 + dice_.below(6) : 1 + dice_.below(3);
  std::string list;
  for (std::uint64_t i = 0; i < count; ++i) {
    list += (i > 0 ? "," : "") + std::string("h") + std::to_string(i) + ":" + std::to_string(1 + dice_.below(3));
  }
  plan_.map = *plan::map_job({*hosts::parse_host_list(list), "-H"}, std::nullopt, plan::Oversubscribe::No);
  plan_.host_source = "-H";
  plan_.command = {"/proc/self/fd/" + std::to_string(program_.get())};
  plan_.working_directory = "/";
  plan_.export_policy = plan::ExportPolicy::None;
  for (std::uint64_t i = 0; i < count; ++i) {
    hosts_.push_back(std::make_unique<Host>(
        "h" + std::to_string(i), i, [this](Rank rank, std::uint32_t attempt) { return script_of(rank, attempt); }));
    LinkQuality& quality = hosts_.back()->quality;
    if (dice_.one_in(3)) quality.most_delay = dice_.between(milliseconds(5), milliseconds(80));
    quality.opens_after = dice_.up_to(dice_.one_in(4) ? Duration(seconds(3)) : Duration(milliseconds(50)));
    names_.push_back(hosts_.back()->name());
  }
}

// As below, by dice of its own.
void Job::make_other_name() {
  Dice choice(seed_ * 6151 + 29);
  if (hosts_.size() < 2 || !choice.one_in(8)) return;
  hosts_.back()->machine = hosts_.front()->machine;
}

Result<plan::LaunchPlan> Job::plan_anew(std::span<const hosts::MachineNames> machines) {
  world->moment("hosts are one machine");
  plan::HostList list{{}, "-H"};
  for (const plan::MappedHost& host : plan_.map.hosts) list.hosts.push_back(host.host);
  if (Result<std::vector<std::string>> merged = hosts::merge_machines(list.hosts, machines); !merged) {
    return merged.error();
  }
  plan_.map = *plan::map_job(list, std::nullopt, plan::Oversubscribe::No);
  return plan_;
}

// By dice of their own, so that other jobs stay as they are.
void Job::make_changes() {
  Dice choice(seed_ * 7919 + 13);
  if (options_.restart.max == 0 || !choice.one_in(2)) return;
  changes_.emplace(choice.next());
  Dice& dice = changes_->dice;
  changes_->listed = {names_.begin(), names_.end()};
  const std::size_t first = hosts_.size();
  for (std::uint64_t i = first; i <= first + dice.below(3); ++i) {
    hosts_.push_back(std::make_unique<Host>(
        "h" + std::to_string(i), i, [this](Rank rank, std::uint32_t attempt) { return script_of(rank, attempt); }));
    hosts_.back()->quality.opens_after = dice.up_to(seconds(1));
    hosts_.back()->quality.refuses = dice.one_in(12);
  }
  changes_->path = "/tmp/sml-simulated-" + std::to_string(::getpid());
  DiscoveryOptions& discovery = options_.restart.discovery;
  discovery.watch_hosts = DiscoveryOptions::Watch::Yes;
  discovery.hostfile = changes_->path;
  discovery.interval = dice.between(milliseconds(20), milliseconds(300));
  discovery.wait = dice.up_to(seconds(20));
  if (!dice.one_in(3)) discovery.grow_after = dice.up_to(milliseconds(500));
  if (dice.one_in(3)) discovery.most_ranks = plan_.map.world_size() + static_cast<std::uint32_t>(dice.below(4));
  if (dice.one_in(2)) options_.restart.least.ranks = 1;
  if (dice.one_in(6)) options_.restart.exclude.after = 1;
  for (std::uint64_t left = 1 + dice.below(6); left > 0; --left) {
    world->after(dice.up_to(seconds(4)), [this] { change_list(); });
  }
  for (WorkerScript& script : scripts_) take_longer(script, dice);
}

// So that something can change meanwhile.
void Job::take_longer(WorkerScript& script, Dice& dice) {
  const WorkerScript::Step first{.after = dice.between(seconds(1), seconds(3)),
                                 .kind = WorkerScript::Step::Kind::Print,
                                 .lines = 1,
                                 .line_size = 40};
  script.steps.insert(script.steps.begin(), first);
}

// The first host goes with the others.
void Job::change_list() {
  const std::string& name = hosts_[changes_->dice.below(hosts_.size())]->name();
  if (changes_->listed.erase(name) == 0) changes_->listed.insert(name);
  std::ofstream file(changes_->path);
  for (const std::string& listed : changes_->listed) file << listed << ":" << 1 + name.size() % 3 << "\n";
  if (changes_->dice.one_in(10)) file << "no host!\n";
  world->note("the list has " + std::to_string(changes_->listed.size()) + " hosts, changed is " + name);
}

void Job::make_options() {
  options_.stdin_rule = StdinRule::None;  // it is read on a thread of its own
  options_.grace = dice_.between(milliseconds(200), seconds(8));
  if (dice_.one_in(4)) options_.stop_grace = dice_.between(milliseconds(200), seconds(8));
  options_.heartbeat_timeout = dice_.between(seconds(3), seconds(30));
  options_.start_timeout = dice_.between(seconds(10), seconds(60));
  options_.join_warn = dice_.one_in(4) ? Duration(seconds(2)) : Duration::zero();
  options_.on_failure = dice_.one_in(5) ? OnFailure::Continue : OnFailure::Abort;
  plan_.torch_store = dice_.one_in(2) ? plan::TorchStore::OfAgent : plan::TorchStore::OfRank0;
  options_.verbosity = dice_.one_in(3) ? Verbosity::Verbose : Verbosity::Normal;
  if (dice_.one_in(3)) {
    options_.restart.max = 1 + static_cast<std::uint32_t>(dice_.below(3));
    options_.restart.delay.first = dice_.up_to(milliseconds(500));
    options_.restart.delay.most = seconds(2);
    options_.restart.most_without_progress = 0;  // what is progress has tests of its own
  }
  options_.output.tag = output::TagTemplate();
  options_.progress.live = LiveStatus::Never;
}

void Job::make_scripts() {
  const bool calm = dice_.one_in(2);
  for (std::uint32_t rank = 0; rank < plan_.map.world_size(); ++rank) {
    scripts_.push_back(make_script(dice_));
    WorkerScript& script = scripts_.back();
    if (!calm && dice_.one_in(4)) {
      static constexpr std::array kDeaths{SIGSEGV, SIGKILL, SIGABRT};
      const bool dies = dice_.one_in(3);
      script.end = dies ? ExitStatus(Signaled{kDeaths[dice_.below(kDeaths.size())]})
                        : ExitStatus(Exited{1 + static_cast<int>(dice_.below(3))});
      if (dice_.one_in(10)) script.end = SpawnFailed{SpawnStep::Exec, EACCES};
    } else if (!calm && dice_.one_in(12)) {
      script.steps.pop_back();  // goes on for ever, so that somebody has to end it
      if (!options_.timeout) options_.timeout = dice_.between(seconds(1), seconds(20));
    }
  }
}

WorkerScript Job::make_script(Dice& dice) {
  using Kind = WorkerScript::Step::Kind;
  WorkerScript script;
  const Duration pause = dice.up_to(dice.one_in(3) ? Duration(seconds(2)) : Duration(milliseconds(100)));
  for (std::uint64_t left = dice.below(6); left > 0; --left) {
    const Kind kind = dice.one_in(4) ? Kind::PrintErrors : Kind::Print;
    const bool much = dice.one_in(12);
    script.steps.push_back({.after = dice.up_to(pause),
                            .kind = kind,
                            .lines = 1 + dice.below(much ? 800 : 8),
                            .line_size = 16 + dice.below(much ? 1000 : 100)});
  }
  if (dice.one_in(12))
    script.steps.push_back({.after = dice.up_to(pause), .kind = Kind::LeaveChild, .lines = dice.below(2)});
  if (dice.one_in(12)) script.steps.push_back({.after = dice.up_to(pause), .kind = Kind::CloseOutput});
  script.steps.push_back({.after = dice.up_to(pause), .kind = Kind::End});
  script.end = Exited{0};
  if (dice.one_in(3)) script.ends_when_asked = dice.up_to(seconds(1));
  if (dice.one_in(8)) script.ends_when_asked.reset();
  if (dice.one_in(8)) script.dies_after = dice.up_to(seconds(1));
  return script;
}

WorkerScript Job::script_of(Rank rank, std::uint32_t attempt) {
  if (attempt == 0) return scripts_[rank.value()];
  Dice dice(seed_ * 1'000'003 + rank.value() * 101 + attempt);
  WorkerScript script = make_script(dice);
  if (dice.one_in(8)) script.end = Exited{4};
  if (changes_) take_longer(script, dice);
  return script;
}

// A host that has stood still may start its workers when all others are at a later one, until it sees that it was lost.
void Job::attempt_begins(std::uint32_t number) {
  if (number <= attempt_) return;
  world->note("attempt " + std::to_string(number + 1) + " begins");
  attempt_ = number;
  for (const auto& host : hosts_) {
    if (host->runs_before(number)) world->broken("something of an earlier attempt runs on " + host->name());
  }
}

// Seeds in which nothing befalls but connections that break: nobody may notice.
void Job::make_resets() {
  for (std::uint64_t left = 1 + dice_.below(4); left > 0; --left) {
    const Duration when = dice_.up_to(dice_.one_in(2) ? Duration(milliseconds(400)) : Duration(seconds(4)));
    Host& host = *hosts_[dice_.below(hosts_.size())];
    world->after(when, [this, &host] {
      if (launcher_runs_) reset_links(host);
    });
  }
}

// A rank closes its connections some time before it ends, and its peer ends first: by dice of its own, as above.
void Job::make_cascade() {
  using Kind = WorkerScript::Step::Kind;
  Dice dice(seed_ * 104729 + 7);
  const std::uint32_t ranks = plan_.map.world_size();
  if (options_.restart.max > 0 || ranks < 2 || !dice.one_in(12)) return;
  const auto root = static_cast<std::uint32_t>(dice.below(ranks));
  const Rank peer((root + 1 + static_cast<std::uint32_t>(dice.below(ranks - 1))) % ranks);
  for (WorkerScript& script : scripts_) script = {.steps = {}, .end = Exited{0}};
  scripts_[peer.value()].end = dice.one_in(2) ? ExitStatus(Exited{1}) : ExitStatus(Signaled{SIGABRT});
  WorkerScript& script = scripts_[root];
  script.end = Exited{kOfRootCause};
  const auto leave = [this, peer, after = dice.up_to(milliseconds(5))] {
    world->after(after, [this, peer] { host_of(peer).lose_peer(peer); });
  };
  script.steps = {{.after = dice.between(milliseconds(100), seconds(2)),
                   .kind = Kind::PrintErrors,
                   .lines = 1 + dice.below(3),
                   .line_size = 40},
                  {.kind = Kind::LeavePeers, .leave = leave},
                  {.after = dice.up_to(milliseconds(400)), .kind = Kind::End}};
  options_.on_failure = OnFailure::Abort;
  options_.timeout.reset();
  root_cause_ = Rank(root);
}

void Job::make_fates() {
  if (root_cause_) return;
  if (dice_.one_in(5)) return make_resets();
  const std::uint64_t how_many = dice_.one_in(2) ? 0 : 1 + dice_.below(2);
  for (std::uint64_t i = 0; i < how_many; ++i) {
    const Duration when = dice_.up_to(dice_.one_in(2) ? Duration(milliseconds(200)) : Duration(seconds(5)));
    world->after(when, [this, kind = dice_.next()] { befall(kind); });
  }
  armed_moment_ = dice_.below(24);
  armed_visit_ = dice_.below(4);
  Host& host = *hosts_[dice_.below(hosts_.size())];
  if (!dice_.one_in(25)) return;
  host.touched = true;
  host.touched_at = world->now();
  if (dice_.one_in(2)) {
    host.quality.refuses = true;
  } else {
    host.quality.opens_after = options_.start_timeout + seconds(5);
  }
  befallen_.push_back({world->now(), TimePoint::max(), 125, host.name() + " cannot be reached"});
}

// ---- what befalls

void Job::befall(std::size_t kind) {
  if (!launcher_runs_) return;
  switch (kind % 12) {
    case 0:
    case 1: return signal_launcher(dice_.one_in(2) ? SIGINT : SIGTERM);
    case 2: return reader_->pause(dice_.up_to(seconds(8)));
    case 3:
      world->note("the reader goes");
      reader_->close();
      befallen_.push_back({world->now(), TimePoint::max(), 128 + SIGPIPE, "nobody reads"});
      return;
    case 4:
      world->note("the launcher is killed");
      world->launcher_killed = true;
      killed_ = true;
      return;
    case 5: return signal_launcher(SIGTSTP);
    default: return befall_host(*hosts_[dice_.below(hosts_.size())], dice_.below(kHostFates));
  }
}

// Before its agent waits no longer. One whose agent is not known yet is lost, and so is one that is reset again and
// again.
bool Job::can_come_back(const Host& host) const {
  const Duration hold = std::min(
      {Duration(options_.heartbeat_timeout), 2 * host.quality.opens_after + milliseconds(1000), Duration(seconds(5))});
  const Duration needs = host.quality.opens_after + 4 * host.quality.most_delay + milliseconds(50);
  const bool rested = host.reset_at == TimePoint::min() || world->now() - host.reset_at > hold;
  return all_started() && needs < hold && rested;
}

void Job::reset_links(Host& host) {
  if (!can_come_back(host)) {
    befallen_.push_back({world->now(), TimePoint::max(), 125, "a reset of " + host.name()});
    host.touched = true;
    host.touched_at = std::min(host.touched_at, world->now());
  }
  host.reset_links();
}

void Job::befall_host(Host& host, std::size_t kind) {
  const Duration short_time = dice_.up_to(options_.heartbeat_timeout / 2);
  const Duration time = dice_.one_in(2) ? short_time : dice_.up_to(options_.heartbeat_timeout * 3);
  const bool passes = (kind == StandsStill || kind == AgentStandsStill) && time == short_time && all_started() &&
                      options_.restart.max == 0;
  if (!passes) befallen_.push_back({world->now(), TimePoint::max(), 125, "what befalls " + host.name()});
  switch (kind) {
    case LosesPower: return host.lose_power();
    case LosesAgent: return host.kill_agent();
    case IsCut: return host.cut();
    case IsHalfOpen: return host.half_open(dice_.one_in(2), true);
    case StandsStill: return host.freeze(time);
    default: return host.freeze_agent(time);
  }
}

void Job::signal_launcher(int signo) {
  world->note("sml-run gets " + signal_name(signo));
  if (signo != SIGTSTP) {
    const TimePoint now = world->now();
    const bool counts = !all_ended() && signals_ == 0 && !stands_still_;
    befallen_.push_back({now, counts ? now + milliseconds(500) : TimePoint::max(), 128 + signo, signal_name(signo)});
    ++signals_;
  }
  ::raise(signo);
}

// It has stopped itself, and somebody continues it.
void Job::stop_launcher() {
  world->moment("sml-run stops itself");
  const Duration time = dice_.up_to(seconds(90));
  world->note("sml-run stands still for " + std::to_string(std::chrono::duration<double>(time).count()) + " s");
  if (!all_started() || options_.restart.max > 0) {  // a host that has not been told is lost, or late
    befallen_.push_back({world->now(), TimePoint::max(), 125, "sml-run stood still before all ran"});
    stood_still_at_start_ = true;
  }
  stands_still_ = true;
  stood_still_ = true;
  world->run_for(time);
  stands_still_ = false;
}

// Where something rare goes on, what is rare befalls more often.
void Job::at_moment(const char* name) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : std::string_view(name)) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  if (sprung_ || hash % 24 != armed_moment_) return;
  if (armed_visit_-- > 0) return;
  sprung_ = true;
  world->note(std::string("at the moment \"") + name + "\"");
  world->after({}, [this, kind = dice_.next()] { befall(kind); });
}

// ---- what reaches the hosts

std::shared_ptr<Link> Job::link_to(HostId id, const boost::asio::any_io_executor& loop, const std::string& mark,
                                   LinkPurpose purpose) {
  const auto is_it = [&](const auto& host) { return host->name() == names_[id.value()]; };
  Host& host = **std::find_if(hosts_.begin(), hosts_.end(), is_it);
  if (purpose == LinkPurpose::Serve) {
    const std::size_t fewest = changes_ ? 1 : hosts_.size();
    host.monitor = std::make_shared<Monitor>(host.name(), attempt::output_window(fewest));
  }
  return std::make_shared<Link>(Link::Ends{host, loop, mark, purpose}, host.quality, host.monitor);
}

Job::Address Job::whose(const std::string& address) const {
  const auto has_it = [&](const auto& host) { return host->address() == address; };
  const auto host = std::find_if(hosts_.begin(), hosts_.end(), has_it);
  if (host == hosts_.end()) return Address::OfNoHost;
  return (*host)->dead() ? Address::OfADeadHost : Address::OfAHost;
}

// ---- the run

void Job::run() {
  world->at_moment = [this](const char* name) { at_moment(name); };
  reader_->begin();
  try {
    run_launcher();
  } catch (const Killed&) {
  }
  launcher_runs_ = false;
  world->launcher_killed = false;
  reader_->read_rest();
  check_restarts();
  if (changes_) {
    check_exit_of_changing();
    check_output_of_changing();
  } else {
    check_exit();
    check_output();
  }
  world->run_for(options_.heartbeat_timeout * 6 + options_.grace * 2 + seconds(120));
  // What was suspended when its connection was lost, and nobody knows, stays so until the system finds out.
  if (stood_still_ && !all_left()) world->run_for(std::chrono::hours(3));
  check_left();
}

void Job::run_launcher() {
  Result<run::Records> records = run::Records::open(options_, plan_);
  const auto replan = [this](std::span<const hosts::MachineNames> machines) { return plan_anew(machines); };
  boost::asio::io_context loop{1};
  LauncherProcess process(*this);
  run::Run run({.loop = loop,
                .image = image_,
                .process = process,
                .agent_launcher = std::make_unique<SimLauncher>(*this, loop.get_executor())},
               options_, plan_, std::move(*records), replan);
  launcher_runs_ = true;
  exit_code_ = run.run();
  world->note("sml-run ends with " + std::to_string(*exit_code_));
  launcher_runs_ = false;
}

}  // namespace sml::sim
