#include "launcher/attempt/workers.h"

#include <algorithm>
#include <utility>

#include "common/core/text.h"
#include "launcher/attempt/session_plans.h"

namespace sml::attempt {

namespace {

// bytes pending for the launcher's reader above which no credit is given
constexpr std::size_t kSlowReader = std::size_t{1} << 20;
constexpr std::size_t kMostRemarks = 1000;  // log lines of one agent: no credit bounds them

}  // namespace

Workers::Workers(const AttemptContext& context, const plan::LaunchPlan& plan) : context_(context), table_(plan) {
  for (const fleet::Host& host : context.fleet.hosts()) hosts_[host.id].sharing = hosts_that_print(plan.map);
}

// The host does not take part in the news that all workers have started. An agent that has waited gets its credit back.
void Workers::add(const fleet::Host& host, std::size_t sharing) {
  OfHost& of_host = hosts_[host.id];
  if (of_host.owed > 0) host.session->send(wire::Credit{of_host.owed});
  of_host = {.started = true, .sharing = sharing};
}

// The time of something that workers did, clamped between their start and now.
TimePoint Workers::on_our_clock(const fleet::Host& host, std::uint64_t agent_ns) const {
  const TimePoint at = host.clock.ours(std::chrono::nanoseconds(agent_ns));
  return std::clamp(at, started_, Clock::now());
}

void Workers::greet(const fleet::Host& host) {
  const std::size_t sharing = hosts_[host.id].sharing;
  const std::uint64_t more = output_window(sharing) - first_output_window(sharing);
  if (!host.session->contact().is_local && more > 0) host.session->send(wire::Credit{more});
}

void Workers::handle(const fleet::Host& host, const wire::Started& m) {
  for (const wire::StartedWorker& worker : m.workers) {
    table_.started(worker.rank, worker.pid);
    context_.events.publish(report::RankStarted{worker.rank, worker.pid}, on_our_clock(host, worker.at_ns));
  }
  const bool first = !std::exchange(hosts_[host.id].started, true);
  // Input for a worker that does not run yet would be lost.
  const auto started = [](const auto& host_of) { return host_of.second.started; };
  if (first && std::all_of(hosts_.begin(), hosts_.end(), started)) context_.sink.workers_run();
  if (context_.options.verbosity == Verbosity::Verbose) {
    const std::size_t count = m.workers.size();
    context_.owner.print(host.name() + ": " + pluralize(count, "worker") + (count == 1 ? " runs" : " run"));
  }
}

void Workers::handle(const fleet::Host& host, const wire::Output& m) {
  hosts_[host.id].owed += m.bytes.size();
  if (m.stream == Stream::Results) {
    context_.sink.worker_results(m.rank, m.bytes);
    return give_credit(host);
  }
  if (m.stream == Stream::Stderr) table_.wrote_errors(m.rank, m.bytes);
  if (m.stream == Stream::Stdout) table_.printed(m.rank, m.bytes.size());
  context_.sink.worker_output(m.rank, m.stream, m.bytes, on_our_clock(host, m.at_ns));
  give_credit(host);
}

void Workers::handle(const fleet::Host& host, const wire::Drained& m) {
  context_.sink.worker_drained(m.rank);
  context_.events.publish(report::RankDrained{m.rank});
  if (m.end == wire::DrainEnd::Quiet) {
    context_.owner.print("rank " + std::to_string(m.rank.value()) + " on " + host.name() +
                         " has ended, but something that it started still holds its output; not waiting for it");
  }
}

void Workers::handle(const fleet::Host& host, const wire::AgentLog& m) {
  if (m.level == wire::LogLevel::Debug && context_.options.verbosity != Verbosity::Verbose) return;
  std::size_t& remarks = hosts_[host.id].remarks;
  if (remarks == kMostRemarks) return;
  const bool last = ++remarks == kMostRemarks;
  context_.owner.print(host.name() + ": " + show(m.text, 500) + (last ? " (nothing more of this host is shown)" : ""));
}

void Workers::handle(const fleet::Host&, const wire::StdinCredit& m) { context_.sink.input_taken(m.rank, m.bytes); }

void Workers::handle(const fleet::Host&, const wire::ErrorFile& m) {
  table_.explained(m.rank, report::parse_error_file(m.text));
}

void Workers::handle(const fleet::Host& host, const wire::OutOfMemory& m) {
  hosts_[host.id].out_of_memory = m.evidence;
}

void Workers::handle(const fleet::Host& host, const wire::HostUsed& m) {
  context_.events.publish(report::HostInUse{host.id, m.use}, on_our_clock(host, m.at_ns));
}

Workers::End Workers::ended(const fleet::Host& host, const wire::ExitedWorker& m) {
  context_.sink.worker_ended(m.rank);
  const ExitStatus status = wire::unpack_exit(m);
  const TimePoint at = on_our_clock(host, m.at_ns);
  const bool by_itself = m.ended_by == wire::EndedBy::Itself && at < to_end_;
  const auto ending = by_itself ? report::Ending::ByItself : report::Ending::Stopped;
  context_.events.publish(report::RankExited{m.rank, status, ending, m.usage}, at);
  const bool some_worked = table_.workers_left() > 0;
  table_.cost(m.rank, m.usage);
  const bool failed = table_.ended(m.rank, status, ending, at) == RankTable::Weight::Failure;
  if (failed) table_.ran_out_of_memory(m.rank, std::exchange(hosts_[host.id].out_of_memory, {}));
  return {.failed_by_itself = failed && by_itself, .was_last = some_worked && table_.workers_left() == 0};
}

// The number of bytes taken from a host after which credit is returned.
std::uint64_t Workers::credit_step(const fleet::Host& host) const {
  const bool local = host.session->contact().is_local;
  const std::size_t sharing = hosts_.at(host.id).sharing;
  return (local ? first_output_window(sharing) : output_window(sharing)) / 4;
}

report::OutputFlow Workers::flow() const {
  const std::size_t pending = context_.sink.pending_output();
  if (pending == 0) return report::OutputFlow::Open;
  const std::span<const fleet::Host> hosts = context_.fleet.hosts();
  const bool owing = std::any_of(hosts.begin(), hosts.end(), [this](const fleet::Host& host) {
    return hosts_.at(host.id).owed >= credit_step(host);
  });
  return owing || pending > kSlowReader ? report::OutputFlow::Held : report::OutputFlow::Open;
}

void Workers::settle_credit() {
  for (const fleet::Host& host : context_.fleet.hosts()) {
    const std::uint64_t owed = std::exchange(hosts_[host.id].owed, 0);
    if (owed > 0) host.session->send(wire::Credit{owed});
  }
}

void Workers::give_credit(const fleet::Host& host) {
  std::uint64_t& owed = hosts_[host.id].owed;
  if (owed < credit_step(host) || context_.sink.pending_output() > kSlowReader) return;
  host.session->send(wire::Credit{std::exchange(owed, 0)});
}

void Workers::give_credit() {
  for (const fleet::Host& host : context_.fleet.hosts()) give_credit(host);
}

}  // namespace sml::attempt
