#include "launcher/metrics/job_metrics.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

namespace sml::metrics {

namespace {

using report::JobProgress;
using std::string_view;
using HostState = JobProgress::HostState;
using RankState = JobProgress::RankState;

template <class State>
struct Named {
  State state;
  string_view name;
};
constexpr Named<HostState> kHostStates[] = {{HostState::Waiting, "waiting"},
                                            {HostState::Connected, "connected"},
                                            {HostState::Ready, "ready"},
                                            {HostState::Failed, "failed"},
                                            {HostState::Ended, "ended"}};
constexpr Named<RankState> kRankStates[] = {{RankState::Waiting, "waiting"},    {RankState::Running, "running"},
                                            {RankState::Succeeded, "finished"}, {RankState::Failed, "failed"},
                                            {RankState::Stopped, "stopped"},    {RankState::Lost, "lost"}};
constexpr string_view kPhases[] = {"starting", "running", "stopping", "ended"};

// Sums of accelerators are of no use, but their names may repeat on a host only by mistake: the first one counts.
std::vector<AcceleratorUse> first_of_each_name(const std::vector<AcceleratorUse>& all) {
  std::vector<AcceleratorUse> out;
  for (const AcceleratorUse& one : all) {
    const auto same = [&](const AcceleratorUse& other) { return other.name == one.name; };
    if (std::none_of(out.begin(), out.end(), same)) out.push_back(one);
  }
  return out;
}

// Hosts that have the same name would be one series twice, which no reader takes.
bool is_first_of_name(const std::vector<JobProgress::Host>& all, std::size_t index) {
  const auto same = [&](const JobProgress::Host& other) { return other.name == all[index].name; };
  return static_cast<std::size_t>(std::find_if(all.begin(), all.end(), same) - all.begin()) == index;
}

}  // namespace

void JobMetrics::on_event(const report::Event& event) {
  if (const auto* output = std::get_if<report::RankOutput>(&event.what)) {
    output_[output->stream == Stream::Stdout ? 0 : 1] += output->bytes;
  } else if (const auto* job = std::get_if<report::JobBegins>(&event.what)) {
    job_id_ = job->plan->job.job_id;
    if (started_ <= 0) started_ = job->unix_time;
    attempts_ = 1;
  } else if (const auto* again = std::get_if<report::AttemptBegins>(&event.what)) {
    attempts_ = again->attempt;
  } else if (const auto* end = std::get_if<report::JobEnds>(&event.what)) {
    exit_status_ = end->exit_code;
  }
}

std::string JobMetrics::text(Format format, TimePoint now, const report::LiveUses& uses) const {
  Exposition out(format);
  write_job(out);
  if (goodput_ != nullptr) write_goodput(out, now);
  write_hosts(out);
  if (progress_.ranks().size() <= kMostRanks) write_ranks(out, now, uses);
  return std::move(out).finish();
}

void JobMetrics::write_job(Exposition& out) const {
  out.family("sml_run", Kind::Info, "", "The job and the version of sml-run.");
  out.sample({{"job_id", job_id_}, {"version", SML_VERSION}}, std::uint64_t{1});
  out.family("sml_run_start_timestamp_seconds", Kind::Gauge, "seconds", "Unix time at which the job began.");
  out.sample({}, started_);
  out.family("sml_run_phase", Kind::Gauge, "", "Whether the job is in this phase, 0 or 1.");
  const std::size_t phase = exit_status_ ? std::size(kPhases) - 1 : static_cast<std::size_t>(progress_.phase());
  for (std::size_t i = 0; i < std::size(kPhases); ++i) {
    out.sample({{"phase", kPhases[i]}}, std::uint64_t{i == phase ? 1U : 0U});
  }
  if (exit_status_) {
    out.family("sml_run_exit_status", Kind::Gauge, "", "Exit status of the job, once it has ended.");
    out.sample({}, static_cast<double>(*exit_status_));
  }
  out.family("sml_run_attempts", Kind::Counter, "", "Attempts that have begun: one more than restarts.");
  out.sample({}, attempts_);
  out.family("sml_run_hosts", Kind::Gauge, "", "Hosts with ranks, by state.");
  for (const auto& [state, name] : kHostStates) out.sample({{"state", name}}, std::uint64_t{progress_.count(state)});
  out.family("sml_run_ranks", Kind::Gauge, "", "Ranks of this attempt, by state.");
  for (const auto& [state, name] : kRankStates) out.sample({{"state", name}}, std::uint64_t{progress_.count(state)});
  out.family("sml_run_output_bytes", Kind::Counter, "bytes", "Output of all ranks in all attempts, by stream.");
  out.sample({{"stream", "stdout"}}, output_[0]);
  out.sample({{"stream", "stderr"}}, output_[1]);
}

void JobMetrics::write_goodput(Exposition& out, TimePoint now) const {
  const report::GoodputSums sums = goodput_->sums(now);
  out.family("sml_run_goodput_ratio", Kind::Gauge, "ratio",
             "Share of the job's time in steps that counted, from 0 to 1.");
  out.sample({}, sums.ratio());
  out.family("sml_run_spent_seconds", Kind::Gauge, "seconds", "Time of the job by what became of it.");
  const std::pair<string_view, Duration> parts[] = {
      {"good", sums.good}, {"start", sums.start},       {"rendezvous", sums.rendezvous},
      {"lost", sums.lost}, {"teardown", sums.teardown}, {"waiting", sums.waiting},
      {"open", sums.open}};
  for (const auto& [name, time] : parts) out.sample({{"part", name}}, in_seconds(time));
  if (goodput_->step()) {
    out.family("sml_run_progress_step", Kind::Gauge, "", "Number of the last step.");
    out.sample({}, *goodput_->step());
  }
  if (!goodput_->last_progress()) return;
  out.family("sml_run_last_progress_timestamp_seconds", Kind::Gauge, "seconds", "Unix time of the last progress.");
  out.sample({}, started_ + in_seconds(*goodput_->last_progress() - progress_.begin()));
}

void JobMetrics::write_hosts(Exposition& out) const {
  const auto each = [this](auto visit) {
    for (std::size_t i = 0; i < progress_.hosts().size(); ++i) {
      const JobProgress::Host& host = progress_.hosts()[i];
      if (host.peaks.samples > 0 && is_first_of_name(progress_.hosts(), i)) visit(host.name, host.peaks.last);
    }
  };
  const auto each_accelerator = [&](auto visit) {
    each([&](string_view host, const HostUse& use) {
      for (const AcceleratorUse& one : first_of_each_name(use.accelerators)) visit(host, one);
    });
  };
  out.family("sml_run_host_memory_used_bytes", Kind::Gauge, "bytes",
             "Memory of the host that is not available to new programs.");
  each([&](string_view host, const HostUse& use) { out.sample({{"host", host}}, use.memory_used); });
  out.family("sml_run_host_memory_size_bytes", Kind::Gauge, "bytes", "Memory of the host.");
  each([&](string_view host, const HostUse& use) { out.sample({{"host", host}}, use.memory_total); });
  out.family("sml_run_accelerator_busy_ratio", Kind::Gauge, "ratio", "How busy the accelerator is, from 0 to 1.");
  each_accelerator([&](string_view host, const AcceleratorUse& one) {
    out.sample({{"host", host}, {"accelerator", one.name}}, one.busy_percent / 100.0);
  });
  out.family("sml_run_accelerator_memory_used_bytes", Kind::Gauge, "bytes", "Memory of the accelerator in use.");
  each_accelerator([&](string_view host, const AcceleratorUse& one) {
    out.sample({{"host", host}, {"accelerator", one.name}}, one.memory_used);
  });
  out.family("sml_run_accelerator_memory_size_bytes", Kind::Gauge, "bytes", "Memory of the accelerator.");
  each_accelerator([&](string_view host, const AcceleratorUse& one) {
    out.sample({{"host", host}, {"accelerator", one.name}}, one.memory_total);
  });
}

void JobMetrics::write_ranks(Exposition& out, TimePoint now, const report::LiveUses& uses) const {
  const auto each = [this](auto visit) {
    for (std::size_t i = 0; i < progress_.ranks().size(); ++i) {
      const JobProgress::RankLine& rank = progress_.ranks()[i];
      visit(std::to_string(i), progress_.hosts()[rank.host].name, rank);
    }
  };
  const auto each_use = [&](auto visit) {
    for (const auto& [rank, use] : uses.ranks) {
      if (rank.value() >= progress_.ranks().size()) continue;
      const JobProgress::RankLine& line = progress_.ranks()[rank.value()];
      if (line.state == RankState::Running) visit(std::to_string(rank.value()), progress_.hosts()[line.host].name, use);
    }
  };
  out.family("sml_run_rank_running", Kind::Gauge, "", "Whether the rank runs, 0 or 1.");
  each([&](const std::string& number, string_view host, const JobProgress::RankLine& rank) {
    out.sample({{"rank", number}, {"host", host}}, std::uint64_t{rank.state == RankState::Running ? 1U : 0U});
  });
  out.family("sml_run_rank_silence_seconds", Kind::Gauge, "seconds",
             "Time since the last output of a rank that runs, or since its start.");
  each([&](const std::string& number, string_view host, const JobProgress::RankLine& rank) {
    if (rank.state != RankState::Running) return;
    out.sample({{"rank", number}, {"host", host}}, std::max(0.0, in_seconds(now - rank.last_output)));
  });
  out.family("sml_run_rank_output_bytes", Kind::Counter, "bytes", "Output of the rank in this attempt.");
  each([&](const std::string& number, string_view host, const JobProgress::RankLine& rank) {
    out.sample({{"rank", number}, {"host", host}}, rank.bytes);
  });
  out.family("sml_run_rank_cpu_seconds", Kind::Counter, "seconds",
             "CPU time of the rank and what it has started, in this attempt.");
  each_use([&](const std::string& number, string_view host, const report::LiveUse& use) {
    out.sample({{"rank", number}, {"host", host}}, static_cast<double>(use.cpu_ms) / 1000);
  });
  out.family("sml_run_rank_memory_bytes", Kind::Gauge, "bytes", "Resident memory of the rank and what it has started.");
  each_use([&](const std::string& number, string_view host, const report::LiveUse& use) {
    out.sample({{"rank", number}, {"host", host}}, use.memory);
  });
}

}  // namespace sml::metrics
