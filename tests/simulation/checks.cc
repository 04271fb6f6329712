// What must be true of a job when all is over.
#include <algorithm>
#include <map>
#include <set>

#include "tests/simulation/job.h"

namespace sml::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr Duration kSlack = milliseconds(400);  // by which clocks of hosts are read wrong

bool outranks(const ExitStatus& status) { return std::holds_alternative<Signaled>(status); }

}  // namespace

const RankTruth* Job::truth(Rank rank) const {
  const auto found = host_of(rank).ranks.find(rank);
  return found == host_of(rank).ranks.end() ? nullptr : &found->second;
}

bool Job::all_ended() const {
  return std::all_of(plan_.map.ranks.begin(), plan_.map.ranks.end(), [this](const plan::RankAssignment& rank) {
    const RankTruth* known = truth(rank.rank);
    return known != nullptr && known->ended;
  });
}

bool Job::all_started() const {
  return std::all_of(plan_.map.ranks.begin(), plan_.map.ranks.end(),
                     [this](const plan::RankAssignment& rank) { return truth(rank.rank) != nullptr; });
}

bool Job::all_ended_well() const {
  return std::all_of(plan_.map.ranks.begin(), plan_.map.ranks.end(), [this](const plan::RankAssignment& rank) {
    const RankTruth* known = truth(rank.rank);
    return known != nullptr && known->attempt == attempt_ && known->ended && known->status == ExitStatus(Exited{0});
  });
}

std::vector<Cause> Job::causes() const {
  std::vector<Cause> out = befallen_;
  TimePoint all_started = TimePoint::min();
  for (const plan::RankAssignment& rank : plan_.map.ranks) {
    const RankTruth* known = truth(rank.rank);
    if (known == nullptr || known->attempt != attempt_) continue;
    all_started = std::max(all_started, known->started);
    if (!known->ended || known->asked || succeeded(known->status)) continue;
    const Duration before = outranks(known->status) ? kSlack + seconds(1) : kSlack;
    const bool surely = !host_of(rank.rank).touched && (options_.restart.max == 0 || befallen_.empty());
    const TimePoint last = !surely ? TimePoint::max() : *known->ended + kSlack;
    out.push_back({*known->ended - before, last, exit_code_of(known->status),
                   "rank " + std::to_string(rank.rank.value()) + " " + describe(known->status)});
  }
  if (options_.timeout) {
    // Else hosts were lost before they could tell, or the workers' time ran while their start had not left sml-run, or
    // it ran in an attempt before.
    const bool known = all_started != TimePoint::min() && !stood_still_at_start_ && options_.restart.max == 0;
    const TimePoint first = known ? all_started + *options_.timeout - seconds(1) : TimePoint::min();
    out.push_back({first, TimePoint::max(), options_.timeout_status, "--timeout"});
  }
  return out;
}

// Some attempts are followed by another that is none.
void Job::check_restarts() {
  const std::vector<std::string>& said = reader_->own_lines();
  const auto restarts = std::count_if(
      said.begin(), said.end(), [](const std::string& line) { return line.find("; restart ") != std::string::npos; });
  const bool too_many =
      changes_ ? restarts > static_cast<std::int64_t>(options_.restart.max) : attempt_ > options_.restart.max;
  if (too_many) world->broken("there are more restarts than were allowed");
}

// Of those that hosts, which may be lost or listed no more, have ended it is only held that what is said to be well is.
void Job::check_exit_of_changing() {
  if (!exit_code_ || *exit_code_ != 0) return;
  std::set<Rank> well;
  for (const auto& host : hosts_) {
    for (const auto& [rank, known] : host->ranks) {
      if (known.attempt != attempt_) continue;
      if (known.ended && known.status == ExitStatus(Exited{0})) {
        well.insert(rank);
      } else {
        world->broken("sml-run says that all is well, and it is not");
      }
    }
  }
  const bool dense = !well.empty() && well.rbegin()->value() + 1 == well.size();
  if (!dense) world->broken("sml-run says that all is well, and ranks have not run");
}

// A rank may have been on several hosts.
void Job::check_output_of_changing() {
  if (killed_ || reader_->closed()) return;
  std::map<Rank, RankTruth> all;
  std::size_t cut_off = 0;
  for (const auto& host : hosts_) {
    for (const auto& [rank, known] : host->ranks) {
      RankTruth& sum = all[rank];
      sum.times_asked += known.times_asked;
      sum.out_lines += known.out_lines;
      sum.err_lines += known.err_lines;
      cut_off += known.times_asked;
    }
  }
  for (const auto& [rank, sum] : all) {
    const bool too_much = reader_->lines(rank, false) > sum.out_lines + sum.times_asked ||
                          reader_->lines(rank, true) > sum.err_lines + sum.times_asked;
    if (too_much)
      world->broken("rank " + std::to_string(rank.value()) + " is shown with lines that it has not printed");
  }
  if (reader_->ragged() > cut_off * 2) world->broken("lines are cut off");
}

// That of the first cause, or of one that cannot be told from it.
void Job::check_exit() {
  if (!exit_code_) return;
  if (root_cause_) {
    if (*exit_code_ != kOfRootCause) world->broken("sml-run ends with the status of a rank that had lost its peer");
    return;
  }
  const std::vector<Cause> all = causes();
  TimePoint decided = TimePoint::max();
  for (const Cause& cause : all) decided = std::min(decided, cause.last);
  if (*exit_code_ == 0) {
    if (!all_ended_well()) world->broken("sml-run says that all is well, and it is not");
    if (decided != TimePoint::max()) world->broken("sml-run ends with 0 in spite of a failure");
    return;
  }
  const bool caused = std::any_of(all.begin(), all.end(), [&](const Cause& cause) {
    return cause.exit_code == *exit_code_ && cause.first <= decided;
  });
  if (caused) return;
  std::string words = "sml-run ends with " + std::to_string(*exit_code_) + ", but";
  for (const Cause& cause : all)
    words += " " + cause.words + " (" + std::to_string(cause.exit_code) + ") at " + show_time(cause.first) + ";";
  world->broken(all.empty() ? "sml-run ends with " + std::to_string(*exit_code_) + " without a cause" : words);
}

void Job::check_output() {
  const bool untouched = std::none_of(hosts_.begin(), hosts_.end(), [](const auto& host) { return host->touched; });
  for (const std::string& line : reader_->own_lines()) {
    if (untouched && signals_ == 0 && !stood_still_ && line.find("no word that all is over") != std::string::npos) {
      world->broken("nothing has befallen any host, but " + line);
    }
  }
  if (killed_ || reader_->closed()) return;
  std::size_t cut_off = 0;
  for (const plan::RankAssignment& rank : plan_.map.ranks) {
    const RankTruth* known = truth(rank.rank);
    if (known == nullptr) continue;
    cut_off += known->times_asked;
    const bool all_of_it =
        !host_of(rank.rank).touched && !known->abandoned && signals_ == 0 && !stood_still_ && known->ended;
    for (const bool errors : {false, true}) {
      const std::uint64_t seen = reader_->lines(rank.rank, errors);
      const std::uint64_t said = errors ? known->err_lines : known->out_lines;
      const std::string who = "rank " + std::to_string(rank.rank.value()) + (errors ? " (errors)" : "");
      // The last line of a rank whose host is given up may be torn.
      const std::uint64_t torn = known->times_asked + (host_of(rank.rank).touched ? 1 : 0);
      if (seen > said + torn) world->broken(who + " is shown with lines that it has not printed");
      if (all_of_it && seen < said) {
        world->broken(who + " has printed " + std::to_string(said) + " lines, and " + std::to_string(seen) +
                      " are shown");
      }
    }
  }
  // A line that has come in part is shown, and a word of ours that comes next cuts it.
  for (const std::string& line : reader_->own_lines()) {
    if (line.find("has been made again") != std::string::npos) ++cut_off;
  }
  if (reader_->ragged() > cut_off * 2) world->broken("lines are cut off");
}

bool Job::all_left() const {
  return std::all_of(hosts_.begin(), hosts_.end(), [](const auto& host) { return host->running().empty(); });
}

void Job::check_left() {
  for (const auto& host : hosts_) {
    for (const std::string& left : host->running()) world->broken(left + " is left");
  }
}

}  // namespace sml::sim
