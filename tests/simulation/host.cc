#include "tests/simulation/host.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/post.hpp>

#include "launcher/agent/link/reconnect_wire.h"
#include "tests/simulation/job.h"
#include "tests/simulation/plants.h"

namespace sml::sim {

namespace {

constexpr Duration kPrintAgain = std::chrono::milliseconds(5);

std::uint32_t number_in(std::span<const std::string> environment, std::string_view name) {
  for (const std::string& variable : environment) {
    if (!variable.starts_with(name)) continue;
    return static_cast<std::uint32_t>(std::strtoul(variable.c_str() + name.size(), nullptr, 10));
  }
  world->broken("a worker is started without " + std::string(name));
  return 0;
}

void close_fd(int& fd) {
  if (fd >= 0) ::close(std::exchange(fd, -1));
}

bool asks_to_end(int signo) {
  return signo == SIGTERM || signo == SIGINT || signo == SIGHUP || signo == SIGQUIT || signo == SIGKILL;
}

}  // namespace

std::string line_of(Rank rank, bool errors, std::uint64_t number, std::uint64_t size) {
  std::string line = std::to_string(rank.value()) + (errors ? " e " : " o ") + std::to_string(number) + " ";
  while (line.size() + 1 < size) line.push_back(static_cast<char>('a' + (line.size() + number) % 26));
  line.push_back('\n');
  return line;
}

std::string loss_line_of(Rank rank, std::uint64_t number) {
  return line_of(rank, true, number, 0).insert(line_of(rank, true, number, 0).size() - 1, "Connection closed by peer");
}

// ---- an agent

AgentProcess::AgentProcess(Host& host, std::shared_ptr<Link> link, pid_t pid)
    : host_(host), link_(std::move(link)), pid_(pid) {
  clock_offset = host.clock_offset_;
  world->add(*this);
}

AgentProcess::~AgentProcess() { world->remove(*this); }

void AgentProcess::turn() {
  bool left = false;
  try {
    if (std::exchange(begun_, true)) {
      loop_->run();
    } else {
      agent_ = std::make_unique<agent::Agent>(
          agent::Agent::Deps{.system = {.loop = *loop_,
                                        .processes = processes_,
                                        .network = network_,
                                        .scratch = scratch_,
                                        .file_work =
                                            [](const auto& work, const auto& then) {
                                              work();
                                              then();
                                            }},
                             .oom_watch = oom_watch_,
                             .guard = guard_,
                             .at_start = {.environment = {}, .ignored_signals = {}, .descriptor_limit = 1024},
                             .machine = host_.machine,
                             .cgroup = {}},
          agent::Agent::Ends{.in = link_->agent_reads(), .out = link_->agent_writes()}, std::chrono::seconds(30));
      agent_->run();
    }
    left = true;
  } catch (const WouldBlock&) {
  }
  host_.accept_reconnects(*this);
  link_->agent_turned();
  if (left) leave(true);
}

void AgentProcess::signalled(int signo) {
  if (gone()) return;
  boost::asio::post(*loop_, [this, signo] { agent_->signalled(signo); });
  ready = true;
}

void AgentProcess::die() {
  if (gone()) return;
  world->note("the agent of " + host_.name() + " is killed");
  leave(false);
}

void AgentProcess::leave(bool well) {
  world->note("the agent of " + host_.name() + " leaves");
  if (well) {
    world->moment("an agent says its last word");
    for (const auto& [pid, process] : host_.processes_) {
      if (process.agent == this && !process.ended) {
        world->broken("the agent of " + host_.name() + " has left while process " + std::to_string(pid) + " runs");
      }
    }
  }
  agent_.reset();
  loop_.reset();
  host_.accept_reconnects(*this);
  world->remove(*this);
  host_.agents_end(*this);
  link_->agent_gone(well);
}

// ---- the host

Host::Host(std::string name, std::size_t index, Scripts scripts)
    : machine(name), name_(std::move(name)), index_(index), scripts_(std::move(scripts)) {
  clock_offset_ = std::chrono::seconds(world->dice.below(1'000'000));
  next_pid_ += static_cast<pid_t>(index) * 1'000'000;
}

Host::~Host() = default;

void Host::start_agent(std::shared_ptr<Link> link) {
  agents_.push_back(std::make_unique<AgentProcess>(*this, std::move(link), next_pid_++));
  agents_.back()->ready = true;
}

void Host::come_back(std::shared_ptr<Link> link, std::string_view frame) {
  wire::Decoder<wire::ToAgent> decoder;
  decoder.feed(frame);
  const auto message = decoder.next();
  const auto* told = message && message->has_value() ? std::get_if<wire::ReconnectRequest>(&**message) : nullptr;
  if (told == nullptr) return world->broken(name_ + ": a messenger is told nonsense");
  wire::ReconnectRequest request = *told;
  if (plants::strikes(plants::kLostBytes)) {  // those that were on the way
    for (const auto& agent : agents_) {
      if (!agent->gone()) request.received = std::max(request.received, agent->link().read_in_all());
    }
  }
  os::UniqueFd reconnect_socket = agent::make_reconnect_socket();
  ::fcntl(reconnect_socket.get(), F_SETFL, O_NONBLOCK);  // an agent that stands still does not let anybody in
  const agent::ReconnectAddress at = agent::reconnect_address(request.reconnect_socket);
  const auto [reads, writes] = link->take_agents_ends();
  const os::UniqueFd in(reads);
  const os::UniqueFd out(writes);
  const bool there =
      ::connect(reconnect_socket.get(), reinterpret_cast<const sockaddr*>(&at.address), at.size) == 0 &&
      agent::hand_over(reconnect_socket.get(), wire::encode(wire::ToAgent(request)), {in.get(), out.get()});
  if (!there) return link->refused();
  callers_.push_back({std::move(link), request.received, std::move(reconnect_socket)});
  wake_all();
}

// What the agent, which has had its turn or has gone, has answered.
void Host::accept_reconnects(AgentProcess& agent) {
  std::erase_if(callers_, [&](const Caller& caller) {
    char answer = 0;
    const ssize_t n = ::recv(caller.reconnect_socket.get(), &answer, 1, MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN) return false;
    if (n == 1 && answer == agent::kTaken) {
      caller.link->goes_on_from(caller.received);
      agent.go_on(caller.link);
      world->moment("a launcher comes back");
    } else {
      caller.link->refused();
    }
    return true;
  });
}

void Host::reset_links() {
  world->note("the connections of " + name_ + " are reset");
  reset_at = world->now();
  for (const auto& agent : agents_) {
    if (agent->gone()) continue;
    agent->link().cut();
  }
  for (const Caller& caller : callers_) caller.link->cut();
}

void Host::wake(const Link& link) {
  for (const auto& agent : agents_) {
    if (&agent->link() == &link) agent->ready = true;
  }
}

void Host::wake_all() {
  for (const auto& agent : agents_) agent->ready = true;
}

void Host::touch(const std::string& how) {
  world->note(name_ + " " + how);
  touched_at = std::min(touched_at, world->now());
  touched = true;
}

void Host::kill_agent() {
  touch("loses its agent");
  for (const auto& agent : agents_) agent->die();
}

void Host::lose_power() {
  touch("loses power");
  dead_ = true;
  for (const auto& agent : agents_) {
    if (!agent->gone()) agent->link().half_open(true, true);
    agent->die();
  }
}

void Host::cut() {
  touch("is cut off");
  for (const auto& agent : agents_) agent->link().cut();
}

void Host::half_open(bool down, bool up) {
  touch("is cut off, and nobody knows");
  for (const auto& agent : agents_) agent->link().half_open(down, up);
}

void Host::freeze_agent(Duration time) {
  touch("has its agent stopped");
  for (const auto& owned : agents_) {
    AgentProcess* agent = owned.get();
    agent->frozen = true;
    const Duration patience = agent->stand_still();
    if (time > patience) {
      world->after(patience, [agent] { agent->die(); });
    } else {
      world->after(time, [agent] { agent->frozen = false, agent->ready = true; });
    }
  }
}

void Host::freeze(Duration time) {
  touch("stands still");
  stood_still_until_ = std::max(stood_still_until_, world->now() + time);
  for (const auto& owned : agents_) {
    AgentProcess* agent = owned.get();
    agent->frozen = true;
    world->after(time, [agent] { agent->frozen = false, agent->ready = true; });
  }
  for (auto& [pid, process] : processes_) process.stopped = true;
  world->after(time, [this] {
    std::vector<pid_t> pids;
    for (auto& [pid, process] : processes_) pids.push_back(pid);
    for (const pid_t pid : pids) signal(pid, SIGCONT);
  });
}

// ---- processes

SimProcess* Host::find(pid_t pid) {
  const auto found = processes_.find(pid);
  return found == processes_.end() || found->second.ended ? nullptr : &found->second;
}

std::variant<pid_t, SpawnFailed> Host::spawn(AgentProcess& agent, const os::WorkerProcess& worker) {
  const Rank rank(number_in(worker.environment, "RANK="));
  const std::uint32_t attempt = number_in(worker.environment, "SML_ATTEMPT=") - 1;
  job->attempt_begins(attempt);
  if (std::exchange(begun_, attempt) != attempt) world->moment("workers are about to start");
  RankTruth& truth = ranks[rank];
  truth.attempt = attempt;
  truth.started = world->now();
  truth.ended.reset();
  truth.out_lines_before = truth.out_lines;
  truth.err_lines_before = truth.err_lines;
  truth.asked = false;
  WorkerScript script = scripts_(rank, attempt);
  if (const auto* failed = std::get_if<SpawnFailed>(&script.end)) {
    truth.ended = world->now();
    truth.status = *failed;
    return *failed;
  }
  const pid_t pid = next_pid_++;
  SimProcess& process = processes_[pid];
  process.pid = pid;
  process.agent = &agent;
  process.rank = rank;
  process.attempt = attempt;
  process.script = std::move(script);
  process.out = ::fcntl(worker.stdout_fd, F_DUPFD_CLOEXEC, 3);
  process.err = ::fcntl(worker.stderr_fd, F_DUPFD_CLOEXEC, 3);
  for (const int fd : {process.out, process.err}) ::fcntl(fd, F_SETFL, O_NONBLOCK);
  world->note("rank " + std::to_string(rank.value()) + " starts on " + name_);
  schedule(process);
  return pid;
}

void Host::schedule(SimProcess& process) {
  if (process.step >= process.script.steps.size()) return;
  world->after(process.script.steps[process.step].after, [this, pid = process.pid] { do_step(pid); });
}

void Host::do_step(pid_t pid) {
  SimProcess* process = find(pid);
  if (process == nullptr) return;
  if (process->stopped) {
    process->waits_to_go_on = true;
    return;
  }
  const WorkerScript::Step step = process->script.steps[process->step++];
  using Kind = WorkerScript::Step::Kind;
  switch (step.kind) {
    case Kind::Print: return print(*process, step, false);
    case Kind::PrintErrors:
    case Kind::PrintLoss: return print(*process, step, true);
    case Kind::End: return end(*process, process->script.end);
    case Kind::LeavePeers: step.leave(); return schedule(*process);
    case Kind::CloseOutput:
      close_fd(process->out);
      close_fd(process->err);
      if (process->agent != nullptr) process->agent->ready = true;
      return schedule(*process);
    case Kind::LeaveChild: {
      const pid_t child = next_pid_++;
      SimProcess& orphan = processes_[child];
      orphan.pid = child;
      orphan.agent = process->agent;
      orphan.attempt = process->attempt;
      orphan.script.ends_when_asked = process->script.ends_when_asked;
      if (step.lines > 0) {  // holds the output
        orphan.out = ::fcntl(process->out, F_DUPFD_CLOEXEC, 3);
        ranks[*process->rank].abandoned = true;
      }
      return schedule(*find(pid));
    }
  }
}

void Host::lose_peer(Rank rank) {
  using Kind = WorkerScript::Step::Kind;
  for (auto& [pid, process] : processes_) {
    if (process.rank != rank || process.step < process.script.steps.size()) continue;
    process.script.steps.push_back({.kind = Kind::PrintLoss, .lines = 1});
    process.script.steps.push_back({.kind = Kind::End});
    schedule(process);
  }
}

void Host::print(SimProcess& process, WorkerScript::Step step, bool errors) {
  RankTruth& truth = ranks[*process.rank];
  std::uint64_t number = kLinesOfAttempt * process.attempt;
  number += errors ? truth.err_lines - truth.err_lines_before : truth.out_lines - truth.out_lines_before;
  for (std::uint64_t i = 0; i < step.lines; ++i) {
    process.printing += step.kind == WorkerScript::Step::Kind::PrintLoss
                            ? loss_line_of(*process.rank, number++)
                            : line_of(*process.rank, errors, number++, step.line_size);
  }
  process.printing_to = errors ? process.err : process.out;
  push(process.pid);
}

void Host::push(pid_t pid) {
  SimProcess* process = find(pid);
  if (process == nullptr) return;
  if (process->stopped) {
    process->waits_to_go_on = true;
    return;
  }
  RankTruth& truth = ranks[*process->rank];
  std::uint64_t& lines = process->printing_to == process->err ? truth.err_lines : truth.out_lines;
  while (!process->printing.empty()) {
    const ssize_t n = ::write(process->printing_to, process->printing.data(), process->printing.size());
    if (n < 0 && errno == EAGAIN) {
      world->after(kPrintAgain, [this, pid] { push(pid); });
      return;
    }
    if (n < 0) {  // nobody wants it any more
      truth.ask();
      return end(*process, Signaled{SIGPIPE});
    }
    const auto written = process->printing.begin() + n;
    lines += static_cast<std::uint64_t>(std::count(process->printing.begin(), written, '\n'));
    process->printing.erase(process->printing.begin(), written);
    process->agent->ready = true;
  }
  schedule(*process);
}

void Host::end(SimProcess& process, ExitStatus status) {
  close_fd(process.out);
  close_fd(process.err);
  process.ended = true;
  process.status = status;
  if (process.rank) {
    RankTruth& truth = ranks[*process.rank];
    world->note("rank " + std::to_string(process.rank->value()) + " " + describe(status));
    truth.ended = world->now();
    truth.status = std::move(status);
  }
  process.agent->signalled(SIGCHLD);
}

void Host::agents_end(AgentProcess& agent) {
  for (auto& [pid, process] : processes_) {
    if (process.agent != &agent) continue;
    close_fd(process.out);
    close_fd(process.err);
    if (!process.rank || ranks[*process.rank].ended) continue;
    ranks[*process.rank].ended = world->now();
    ranks[*process.rank].ask();
  }
  std::erase_if(processes_, [&](const auto& entry) { return entry.second.agent == &agent; });
}

void Host::signal(pid_t pid, int signo) {
  SimProcess* process = find(pid);
  if (process == nullptr) return;
  if (signo == SIGSTOP) {
    process->stopped = true;
    return;
  }
  if (signo == SIGCONT) {
    process->stopped = false;
    if (!std::exchange(process->waits_to_go_on, false)) return;
    world->after({}, [this, pid] {
      SimProcess* again = find(pid);
      if (again == nullptr) return;
      if (again->printing.empty()) return do_step(pid);
      push(pid);
    });
    return;
  }
  if (!asks_to_end(signo)) return;
  if (process->rank && !ranks[*process->rank].asked) {
    ranks[*process->rank].ask();
    world->moment(process->agent->link().open() ? "workers are told to end" : "an agent loses its launcher");
  }
  std::optional<Duration> ends = signo == SIGKILL ? process->script.dies_after : process->script.ends_when_asked;
  if (!ends) return;
  world->after(*ends, [this, pid, signo] {
    if (SimProcess* dying = find(pid)) end(*dying, Signaled{signo});
  });
}

// What workers have left comes to the agent when they have ended; here at once, as nobody can tell.
std::vector<pid_t> Host::children(const AgentProcess& agent) const {
  std::vector<pid_t> out;
  for (const auto& [pid, process] : processes_) {
    if (process.agent == &agent) out.push_back(pid);
  }
  return out;
}

void Host::reap(AgentProcess& agent, const std::function<void(pid_t, const ExitStatus&)>& ended) {
  std::vector<std::pair<pid_t, ExitStatus>> all;
  std::erase_if(processes_, [&](const auto& entry) {
    if (entry.second.agent != &agent || !entry.second.ended) return false;
    all.emplace_back(entry.first, entry.second.status);
    return true;
  });
  for (const auto& [pid, status] : all) ended(pid, status);
}

// One that stands still does nothing; when it goes on it takes its agent a moment to see that it was given up.
bool Host::runs_before(std::uint32_t attempt) const {
  if (world->now() < stood_still_until_ + std::chrono::seconds(3)) return false;
  return std::any_of(processes_.begin(), processes_.end(),
                     [&](const auto& entry) { return entry.second.attempt < attempt && !entry.second.ended; });
}

std::vector<std::string> Host::running() const {
  std::vector<std::string> out;
  for (const auto& [pid, process] : processes_) {
    if (!process.ended)
      out.push_back((process.rank ? "rank " + std::to_string(process.rank->value()) : "a child") + " on " + name_);
  }
  for (const auto& agent : agents_) {
    if (!agent->gone()) out.push_back("the agent of " + name_);
  }
  return out;
}

}  // namespace sml::sim
