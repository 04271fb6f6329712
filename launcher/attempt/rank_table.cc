#include "launcher/attempt/rank_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/plan/program/python_packages.h"

namespace sml::attempt {

namespace {

// Python does by PYTHONUNBUFFERED, and shells do anyway.
bool flushes_lines(const std::string& program) {
  constexpr std::array<std::string_view, 4> kShells{"sh", "bash", "dash", "zsh"};
  const std::string name = program.substr(program.rfind('/') + 1);
  return plan::is_python(program) || std::find(kShells.begin(), kShells.end(), name) != kShells.end();
}

// All that has come are whole buffers of C's stdio, so that another may have been filled in part.
bool are_whole_buffers(std::uint64_t printed) { return printed % 4096 == 0; }

}  // namespace

void RankTable::grow(const plan::LaunchPlan& plan) {
  const std::size_t known = ranks_.size();
  ranks_.resize(plan.map.world_size());
  for (std::size_t r = known; r < ranks_.size(); ++r) {
    const plan::RankAssignment& rank = plan.map.ranks[r];
    Entry& entry = ranks_[rank.rank.value()];
    entry.end.rank = rank.rank;
    entry.end.host = plan.map.hosts[rank.host.value()].host.name;
    entry.part = rank.part;
    entry.flushes_lines = flushes_lines(plan.program(rank.program).command.front());
    if (rank.part == plan::Part::Worker) ++workers_left_;
    if (plan.map.roles.empty()) continue;
    entry.end.program = plan.program(rank.program).command.front();
    entry.end.role = plan.map.roles[rank.program];
  }
}

void RankTable::started(Rank rank, std::int32_t pid) { ranks_[rank.value()].end.pid = pid; }

void RankTable::wrote_errors(Rank rank, std::string_view bytes) { ranks_[rank.value()].last_lines.add(bytes); }

void RankTable::explained(Rank rank, report::WorkerError error) {
  Entry& entry = ranks_[rank.value()];
  if (!entry.has_ended()) entry.end.error = std::move(error);
}

void RankTable::condemned(Rank rank, int code, std::string why, TimePoint at) {
  Entry& entry = ranks_[rank.value()];
  if (entry.fault || entry.has_ended()) return;
  entry.fault = Entry::Fault{code, std::move(why), at};
  failed_.push_back(rank);
}

void RankTable::aborted(Rank rank, int code, std::string why, TimePoint at) {
  condemned(rank, code, std::move(why), at);
  if (std::optional<Entry::Fault>& fault = ranks_[rank.value()].fault) fault->aborted = true;
}

RankTable::Weight RankTable::ended(Rank rank, const ExitStatus& status, report::Ending ending, TimePoint at) {
  Entry& entry = ranks_[rank.value()];
  entry.end.at = at;
  entry.end.status = status;
  entry.end.by_itself = ending == report::Ending::ByItself;
  const bool works = entry.part == plan::Part::Worker;
  const bool not_needed = !works && workers_left_ == 0;
  if (works) --workers_left_;
  if (entry.fault) {  // condemned already: the exit status of its process does not excuse it
    entry.end.status = Exited{entry.fault->code};
    entry.end.by_itself = true;
    return Weight::Failure;
  }
  if (succeeded(status) || not_needed) return Weight::Nothing;
  failed_.push_back(rank);
  return Weight::Failure;
}

void RankTable::ran_out_of_memory(Rank rank, std::string evidence) {
  ranks_[rank.value()].end.out_of_memory = std::move(evidence);
}

std::size_t RankTable::unseen() const {
  const auto nobody_saw = [](const Entry& entry) { return entry.counts && !entry.has_ended(); };
  return static_cast<std::size_t>(std::count_if(ranks_.begin(), ranks_.end(), nobody_saw));
}

bool RankTable::Entry::may_keep_lines() const {
  return std::holds_alternative<Signaled>(end.status) && !flushes_lines && are_whole_buffers(printed);
}

report::AttemptFacts::WorkerEnd RankTable::end_of(Rank rank) const {
  const Entry& entry = ranks_[rank.value()];
  report::AttemptFacts::WorkerEnd out = entry.end;
  out.last_lines = entry.last_lines.lines();
  if (!entry.fault) {
    out.keeps_lines = entry.may_keep_lines();
    return out;
  }
  out.status = Exited{entry.fault->code};
  out.by_itself = true;
  out.at = entry.fault->at;
  out.fault = entry.fault->why;
  out.aborted = entry.fault->aborted;
  return out;
}

std::vector<report::AttemptFacts::WorkerEnd> RankTable::failures() const {
  std::vector<report::AttemptFacts::WorkerEnd> out;
  for (const Rank rank : failed_) {
    if (ranks_[rank.value()].counts) out.push_back(end_of(rank));
  }
  return out;
}

std::vector<report::AttemptFacts::WorkerEnd> RankTable::ends() const {
  std::vector<report::AttemptFacts::WorkerEnd> out;
  out.reserve(ranks_.size());
  for (const Entry& entry : ranks_) out.push_back(entry.end);
  return out;
}

}  // namespace sml::attempt
