#include "launcher/run/watch/job_control.h"

#include <csignal>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include "common/core/exit_status.h"
#include "common/core/rank_set.h"
#include "common/core/text.h"
#include "launcher/report/live/status_text.h"

namespace sml::run {

namespace {

constexpr std::size_t kLongestCommand = 1000;

std::string command_of(const plan::LaunchPlan& plan) {
  std::string out;
  for (const std::string& word : plan.command) {
    out += (out.empty() ? "" : " ") + shell_quote(word);
    if (out.size() > kLongestCommand) break;
  }
  return show(out, kLongestCommand);
}

std::string machine_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

std::string stop_of(const ucred& asker) {
  return "sml-run stop (pid " + std::to_string(asker.pid) + (asker.uid == ::geteuid() ? ")" : ", of root)");
}

}  // namespace

JobControl::JobControl(const boost::asio::any_io_executor& loop, Deps deps)
    : deps_(deps),
      socket_(loop, {.summary = [this] { return summary(); },
                     .status =
                         [this](control::Form form, auto done) {
                           deps_.usage.ask([this, form, done = std::move(done)](const report::LiveUses& uses) {
                             done(status(form, uses));
                           });
                         },
                     .stop = [this](const ucred& asker) { deps_.job.stop_for(stop_of(asker)); },
                     .signal = [this](const control::Request& request) { return signal(request); },
                     .stacks = [this](control::Form form, auto done) { deps_.reports.make(form, std::move(done)); },
                     .tail = [this](Rank rank, Stream stream) { return tail(rank, stream); },
                     .ranks = [this] { return deps_.job.plan().map.world_size(); }}) {}

Result<void> JobControl::open() {
  Result<void> open = socket_.open(deps_.job.plan().job.job_id);
  if (open) tails_.resize(std::size_t{deps_.job.plan().map.world_size()} * 2);
  return open;
}

void JobControl::output(Rank rank, Stream stream, std::string_view bytes) {
  if (tails_.empty()) return;
  if (place(rank, stream) >= tails_.size()) tails_.resize(place(rank, Stream::Stderr) + 1);  // the job has grown
  tails_[place(rank, stream)].add(bytes);
  socket_.output(rank, stream, bytes);
}

std::string_view JobControl::tail(Rank rank, Stream stream) const {
  return place(rank, stream) < tails_.size() ? tails_[place(rank, stream)].text() : std::string_view();
}

report::JobSummary JobControl::summary() const {
  const plan::LaunchPlan& plan = deps_.job.plan();
  report::JobSummary out{.id = plan.job.job_id,
                         .version = SML_VERSION,
                         .command = command_of(plan),
                         .machine = machine_name(),
                         .pid = ::getpid()};
  add_progress(out, deps_.progress.so_far(), Clock::now());
  return out;
}

std::string JobControl::status(control::Form form, const report::LiveUses& uses) const {
  const TimePoint now = Clock::now();
  const report::Goodput* goodput = deps_.progress.goodput();
  if (form == control::Form::Json)
    return report::status_to_json(summary(), deps_.progress.so_far(), now, uses, goodput);
  std::string out = "job " + deps_.job.plan().job.job_id + ": " + command_of(deps_.job.plan());
  if (goodput != nullptr) out += "\n" + report::goodput_text(goodput->sums(now));
  for (const std::string& line : report::status_table(deps_.progress.so_far(), now, uses)) out += "\n" + line;
  return out;
}

Result<std::string> JobControl::signal(const control::Request& request) const {
  const plan::JobMap& map = deps_.job.plan().map;
  if (request.signo < 1 || request.signo >= NSIG) return Error(ErrorKind::Usage, "there is no such signal");
  RankSet wanted;
  if (!request.ranks.empty()) {
    const Result<RankSet> ranks = RankSet::parse(request.ranks, map.world_size() - 1);
    if (!ranks) return Error(ranks.error()).in("--ranks");
    wanted = *ranks;
  }
  if (!deps_.job.workers_run()) return Error(ErrorKind::Usage, "the workers of this job do not run now");
  const SignalTarget target = target_of(request.signo, deps_.options.stop.target.value_or(SignalTarget::Group));
  for (std::uint32_t host = 0; host < map.hosts.size(); ++host) {
    std::vector<Rank> there;
    for (const Rank rank : map.hosts[host].ranks) {
      if (wanted.empty() || wanted.contains(rank.value())) there.push_back(rank);
    }
    if (!there.empty()) deps_.fleet.send(HostIndex(host), wire::Signal{request.signo, std::move(there), target});
  }
  const std::string name = signal_name(request.signo);
  const std::string ranks = wanted.empty() ? "all ranks" : "ranks " + wanted.text();
  deps_.events.publish(report::SignalCame{request.signo, report::SignalUse::PassedOn});
  if (deps_.options.verbosity != Verbosity::Quiet) deps_.printer.print(name + " for " + ranks + ", by sml-run signal");
  if (request.form == control::Form::Json) {
    return report::signalled_json(deps_.job.plan().job.job_id, name, wanted.empty() ? "all" : wanted.text());
  }
  return name + " has been sent to " + ranks;
}

}  // namespace sml::run
