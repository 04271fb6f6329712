#include "launcher/launch/agent_conduct.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/wire/limits.h"

namespace sml::launch {

namespace {

using Judgement = Result<void>;

// More than any agent has to say.
constexpr std::size_t kMostWords = 100'000;
constexpr std::size_t kMostCallers = 100'000;  // that wait for an answer
constexpr std::size_t kMostRemarks = 1000;     // warnings and failures that belong to no rank
constexpr std::size_t kMostObstacles = 100;    // likewise
static_assert(wire::kMaxErrorFile <= wire::kMaxText);

Error broken(std::string rule) { return Error(ErrorKind::Protocol, std::move(rule)); }
std::string number(std::uint64_t value) { return std::to_string(value); }

Judgement answered(std::size_t& open, std::string_view what) {
  if (open == 0) return broken("sent " + std::string(what) + " that nobody had asked for");
  --open;
  return {};
}

Judgement at_most(std::size_t count, std::size_t limit, std::string_view what) {
  if (count <= limit) return {};
  return broken("sent " + number(count) + " " + std::string(what) + ", more than " + number(limit));
}

Judgement fits(std::string_view text) {
  if (text.size() <= wire::kMaxText) return {};
  return broken("sent a text of " + number(text.size()) + " bytes, more than " + number(wire::kMaxText));
}

template <class Texts>
Judgement all_fit(const Texts& texts) {
  for (const auto& text : texts) {
    if (Judgement one = fits(text); !one) return one;
  }
  return {};
}

}  // namespace

AgentConduct::Attempt::Attempt(const wire::Prepare& prepare)
    : number(prepare.attempt),
      apps(prepare.apps.size()),
      services(prepare.services),
      chooses_interfaces(!prepare.interfaces.empty()),
      reports_bindings(prepare.binding.report != plan::ReportBindings::No),
      looks_for_mpi(prepare.mpi.look == wire::MpiLook::Yes),
      looks(prepare.usage == UsageLook::Yes),
      members(prepare.mpi.meeting == plan::MpiMeeting::None ? 0 : prepare.mpi.shape.size()) {
  for (const wire::Worker& worker : prepare.workers) ranks.push_back({worker.rank});
  std::sort(ranks.begin(), ranks.end(), [](const RankEntry& a, const RankEntry& b) { return a.rank < b.rank; });
}

std::size_t AgentConduct::Attempt::wishes(wire::ServiceKind kind) const {
  const auto is_it = [kind](const wire::ServiceWish& wish) { return wish.kind == kind; };
  return static_cast<std::size_t>(std::count_if(services.begin(), services.end(), is_it));
}

bool AgentConduct::Attempt::serves_stores() const {
  return wishes(wire::ServiceKind::TorchStore) + wishes(wire::ServiceKind::HorovodStore) > 0;
}

AgentConduct::AgentConduct(const wire::Hello& hello, const wire::Prepare& prepare)
    : now_(prepare), credit_(hello.credit) {}

void AgentConduct::asked(const wire::ToAgent& message) {
  std::visit([this](const auto& m) { note(m); }, message);
}

void AgentConduct::note(const wire::Credit& m) { credit_ += m.bytes; }
void AgentConduct::note(const wire::Ping& m) { pings_.push_back(m.token); }
void AgentConduct::note(const wire::Probe& m) {
  ++probes_;
  probed_.insert(probed_.end(), m.addresses.begin(), m.addresses.end());
}
void AgentConduct::note(const wire::Inspect&) { ++inspections_; }
void AgentConduct::note(const wire::AskJoined&) { ++joins_; }
void AgentConduct::note(const wire::EndLeft&) { ++clean_ups_; }
void AgentConduct::note(const wire::Vouch& m) {
  for (const wire::Caller& caller : m.callers) to_vouch_for_.insert(caller.id);
}
void AgentConduct::note(const wire::Ruled& m) { callers_ -= std::min(callers_, m.rulings.size()); }
void AgentConduct::note(const wire::Fenced& m) {
  const auto over = now_.fences.find({m.service, m.fence});
  if (over == now_.fences.end()) return;
  now_.fence_bytes -= over->second;
  now_.fences.erase(over);
}
void AgentConduct::note(const wire::StdinData& m) {
  if (Result<RankEntry*> entry = of_rank(m.rank)) (*entry)->input_out += m.bytes.size();
}

Result<AgentConduct::RankEntry*> AgentConduct::of_rank(Rank rank) {
  const auto before = [](const RankEntry& entry, Rank wanted) { return entry.rank < wanted; };
  const auto found = std::lower_bound(now_.ranks.begin(), now_.ranks.end(), rank, before);
  if (found == now_.ranks.end() || found->rank != rank) {
    return broken("spoke of rank " + number(rank.value()) + ", which is not on this host");
  }
  return &*found;
}

Result<AgentConduct::RankEntry*> AgentConduct::started_one(Rank rank) {
  if (!now_.started) return broken("told news of rank " + number(rank.value()) + " before it had started its workers");
  return of_rank(rank);
}

Judgement AgentConduct::check(const wire::ToLauncher& message) {
  return std::visit([this](const auto& m) { return judge(m); }, message);
}

Judgement AgentConduct::judge(const wire::HelloAck& m) {
  if (std::exchange(greeted_, true)) return broken("greeted twice");
  if (Judgement texts = all_fit(std::initializer_list<std::string_view>{m.build_id, m.machine, m.cgroup, m.scratch});
      !texts)
    return texts;
  return all_fit(m.addresses);
}

// What was under way before belongs to the attempt before.
Judgement AgentConduct::judge(const wire::Prepared& m) {
  if (next_) now_ = *std::exchange(next_, std::nullopt);
  for (const wire::Obstacle& obstacle : m.obstacles) {
    const std::initializer_list<std::string_view> words{obstacle.message, obstacle.hint};
    if (Judgement texts = all_fit(words); !texts) return texts;
  }
  if (Judgement few = at_most(m.obstacles.size(), now_.apps + now_.ranks.size() + kMostObstacles, "obstacles"); !few)
    return few;
  if (Judgement few = at_most(m.warnings.size(), now_.ranks.size() + kMostRemarks, "warnings"); !few) return few;
  if (Judgement texts = all_fit(m.warnings); !texts) return texts;
  if (Judgement texts = all_fit(m.addresses); !texts) return texts;
  if (Judgement text = fits(m.pmix); !text) return text;
  if (Judgement services = judge_services(m.services); !services) return services;
  if (!now_.chooses_interfaces && !m.addresses.empty()) return broken("told interfaces that it was not to choose");
  if (Judgement few = at_most(m.bindings.size(), now_.reports_bindings ? now_.ranks.size() : 0, "bindings"); !few)
    return few;
  for (const wire::Bound& bound : m.bindings) {
    if (auto entry = of_rank(bound.rank); !entry) return entry.error();
    if (Judgement text = fits(bound.where); !text) return text;
  }
  if (Judgement few = at_most(m.mpi.size(), now_.looks_for_mpi ? now_.apps : 0, "programs that speak MPI"); !few)
    return few;
  for (const wire::MpiUse& use : m.mpi) {
    if (Judgement one = judge_mpi(use); !one) return one;
  }
  return {};
}

Judgement AgentConduct::judge_services(const std::vector<wire::Service>& services) const {
  const Error others = broken("told a port that it was not to reserve");
  if (services.size() > now_.services.size()) return others;
  for (const wire::Service& service : services) {
    const auto same = [&](const wire::Service& other) { return other.kind == service.kind; };
    const auto told = static_cast<std::size_t>(std::count_if(services.begin(), services.end(), same));
    if (told > now_.wishes(service.kind)) return others;
  }
  return {};
}

Judgement AgentConduct::judge_mpi(const wire::MpiUse& m) {
  if (auto entry = of_rank(m.rank); !entry) return entry.error();
  return all_fit(std::initializer_list<std::string_view>{m.program, m.library});
}

Judgement AgentConduct::judge(const wire::MpiUse& m) {
  const std::size_t limit = now_.looks_for_mpi ? now_.ranks.size() : 0;
  if (Judgement few = at_most(++now_.mpi_uses, limit, "programs that speak MPI"); !few) return few;
  return judge_mpi(m);
}

Judgement AgentConduct::judge(const wire::Probed& m) {
  if (Judgement open = answered(probes_, "what it had probed,"); !open) return open;
  if (Judgement few = at_most(m.results.size(), probed_.size(), "results of probes"); !few) return few;
  const auto tried = [this](const wire::ProbeResult& result) {
    return std::find(probed_.begin(), probed_.end(), result.address) != probed_.end();
  };
  if (std::all_of(m.results.begin(), m.results.end(), tried)) return {};
  return broken("told of an address that it was not to try");
}

Judgement AgentConduct::judge(const wire::Started& m) {
  if (std::exchange(now_.started, true)) return broken("started its workers twice");
  for (const wire::StartedWorker& worker : m.workers) {
    Result<RankEntry*> entry = of_rank(worker.rank);
    if (!entry) return entry.error();
    if (std::exchange((*entry)->state, RankState::Started) != RankState::Waiting) {
      return broken("started rank " + number(worker.rank.value()) + " twice");
    }
  }
  return {};
}

Judgement AgentConduct::judge(const wire::Output& m) {
  Result<RankEntry*> entry = started_one(m.rank);
  if (!entry) return entry.error();
  if ((*entry)->state == RankState::Drained) {
    return broken("sent output of rank " + number(m.rank.value()) + " after the last of it");
  }
  if (m.bytes.size() > credit_) {
    return broken("sent " + number(m.bytes.size()) + " bytes of output, and was allowed " + number(credit_));
  }
  credit_ -= m.bytes.size();
  return {};
}

// Of one that could not be started it is the first news.
Judgement AgentConduct::judge(const wire::ExitedWorker& m) {
  Result<RankEntry*> entry = started_one(m.rank);
  if (!entry) return entry.error();
  if ((*entry)->state == RankState::Exited || (*entry)->state == RankState::Drained) {
    return broken("told the end of rank " + number(m.rank.value()) + " twice");
  }
  (*entry)->state = RankState::Exited;
  return {};
}

Judgement AgentConduct::judge(const wire::Drained& m) {
  Result<RankEntry*> entry = started_one(m.rank);
  if (!entry) return entry.error();
  if ((*entry)->state != RankState::Exited) {
    return broken("told the last output of rank " + number(m.rank.value()) +
                  ((*entry)->state == RankState::Drained ? " twice" : ", which had not ended"));
  }
  (*entry)->state = RankState::Drained;
  return {};
}

Judgement AgentConduct::judge(const wire::AgentLog& m) {
  if (Judgement few = at_most(++words_, kMostWords, "remarks"); !few) return few;
  return fits(m.text);
}

Judgement AgentConduct::judge(const wire::Pong& m) {
  if (pings_.empty() || pings_.front() != m.token) return broken("answered a ping that nobody had sent");
  pings_.pop_front();
  return {};
}

Judgement AgentConduct::judge(const wire::StdinCredit& m) {
  Result<RankEntry*> entry = started_one(m.rank);
  if (!entry) return entry.error();
  if (m.bytes > (*entry)->input_out) {
    return broken("took " + number(m.bytes) + " bytes of input for rank " + number(m.rank.value()) +
                  ", and had been sent " + number((*entry)->input_out));
  }
  (*entry)->input_out -= m.bytes;
  return {};
}

Judgement AgentConduct::judge_attempt(std::uint32_t attempt) const {
  if (attempt == now_.number) return {};
  return broken("spoke of attempt " + number(attempt) + ", which it is not at");
}

// The members of the world are counted from 0.
Judgement AgentConduct::judge(const wire::FenceData& m) {
  if (Judgement attempt = judge_attempt(m.attempt); !attempt) return attempt;
  if (!now_.started || now_.members == 0) return broken("spoke of a fence, and none was to be");
  if (m.fence.size() > wire::kMaxFenceName || m.bytes.size() > wire::kMaxPiece) {
    return broken("sent a piece of a fence that is longer than allowed");
  }
  if (Judgement few = at_most(m.ranks.size(), now_.members, "ranks of a fence"); !few) return few;
  const auto beyond = [this](Rank rank) { return rank.value() >= now_.members; };
  if (std::any_of(m.ranks.begin(), m.ranks.end(), beyond)) return broken("spoke of a rank that there is not");
  now_.fences[{m.service, m.fence}] += m.bytes.size();
  now_.fence_bytes += m.bytes.size();
  if (Judgement few = at_most(now_.fences.size(), wire::kMaxFences, "fences"); !few) return few;
  return at_most(now_.fence_bytes, wire::kMaxFenceOfHost, "bytes for fences");
}

Judgement AgentConduct::judge(const wire::Relay& m) {
  if (Judgement attempt = judge_attempt(m.attempt); !attempt) return attempt;
  if (!now_.started || now_.members == 0) return broken("handed something on, and there was nobody to have it");
  if (auto entry = of_rank(m.from); !entry) return entry.error();
  if (m.to.value() >= now_.members) return broken("spoke of a rank that there is not");
  if (m.bytes.size() > wire::kMaxPiece) return broken("handed on what is longer than allowed");
  if (Judgement few = at_most(++now_.relays, wire::kMaxRelays, "words for other hosts"); !few) return few;
  return at_most(now_.relayed += m.bytes.size(), wire::kMaxRelayed, "bytes for other hosts");
}

Judgement AgentConduct::judge(const wire::HostUsed& m) {
  constexpr std::uint64_t kMost = 32'000'000;  // one a second, for a year
  constexpr std::size_t kLongestName = 64;
  if (!now_.looks) return broken("told how much of it is in use, and was not to look");
  if (Judgement few = at_most(++uses_, kMost, "looks at its use"); !few) return few;
  if (Judgement few = at_most(m.use.accelerators.size(), kMostAccelerators, "accelerators"); !few) return few;
  const auto is_long = [](const AcceleratorUse& one) { return one.name.size() > kLongestName; };
  if (!std::any_of(m.use.accelerators.begin(), m.use.accelerators.end(), is_long)) return {};
  return broken("told an accelerator's name that is longer than allowed");
}

Judgement AgentConduct::judge(const wire::RankFault& m) {
  if (Judgement attempt = judge_attempt(m.attempt); !attempt) return attempt;
  Result<RankEntry*> entry = started_one(m.rank);
  if (!entry) return entry.error();
  const bool ended = (*entry)->state == RankState::Exited || (*entry)->state == RankState::Drained;
  if (ended || !now_.faults.insert(m.rank).second) {
    return broken("told a fault of rank " + number(m.rank.value()) + " again, or after its end");
  }
  if (m.code < 1 || m.code > 255) return broken("told a status that no process can have");
  return fits(m.why);
}

Judgement AgentConduct::judge(const wire::Cleared& m) {
  if (m.attempt != now_.number) return broken("told the end of attempt " + number(m.attempt) + ", which it is not at");
  if (Judgement few = at_most(m.left.size(), wire::kMaxLeft, "processes that are left"); !few) return few;
  return all_fit(m.left);
}

Judgement AgentConduct::judge(const wire::Bye& m) { return fits(m.reason); }

Judgement AgentConduct::judge(const wire::ErrorFile& m) {
  Result<RankEntry*> entry = started_one(m.rank);
  if (!entry) return entry.error();
  const bool ended = (*entry)->state == RankState::Exited || (*entry)->state == RankState::Drained;
  if (std::exchange((*entry)->error_file, true) || ended) {
    return broken("sent an error file of rank " + number(m.rank.value()) + " again, or after its end");
  }
  return fits(m.text);
}

Judgement AgentConduct::judge(const wire::OutOfMemory& m) {
  if (Judgement few = at_most(++now_.kills, now_.ranks.size(), "words on lack of memory"); !few) return few;
  return fits(m.evidence);
}

Judgement AgentConduct::judge(const wire::Joined& m) {
  if (Judgement open = answered(joins_, "who has joined,"); !open) return open;
  if (Judgement few = at_most(m.missing.size(), now_.ranks.size(), "ranks that are missing"); !few) return few;
  if (Judgement few = at_most(m.with_torch, now_.ranks.size(), "workers with torch"); !few) return few;
  for (const Rank rank : m.missing) {
    if (auto entry = of_rank(rank); !entry) return entry.error();
  }
  return {};
}

Judgement AgentConduct::judge(const wire::LogFailed& m) {
  if (Judgement few = at_most(++now_.failures, 2 * now_.ranks.size() + kMostRemarks, "failures"); !few) return few;
  return fits(m.why);
}

Judgement AgentConduct::judge(const wire::PipeFailed& m) {
  if (Judgement few = at_most(++now_.failures, 2 * now_.ranks.size() + kMostRemarks, "failures"); !few) return few;
  return fits(m.why);
}

Judgement AgentConduct::judge(const wire::AskVouch& m) {
  if (!now_.serves_stores()) return broken("asked about callers of stores that it does not serve");
  callers_ += m.callers.size();
  if (Judgement few = at_most(m.callers.size(), wire::kMaxCallers, "callers at once"); !few) return few;
  if (Judgement few = at_most(callers_, kMostCallers, "callers"); !few) return few;
  for (const wire::Caller& caller : m.callers) {
    const std::initializer_list<std::string_view> words{caller.address, caller.store_address};
    if (Judgement texts = all_fit(words); !texts) return texts;
  }
  return {};
}

Judgement AgentConduct::judge(const wire::Vouched& m) {
  for (const wire::CallerRuling& ruling : m.rulings) {
    const auto asked = to_vouch_for_.find(ruling.id);
    if (asked == to_vouch_for_.end()) return broken("vouched for a caller that it was not asked about");
    to_vouch_for_.erase(asked);
  }
  return {};
}

Judgement AgentConduct::judge(const wire::LeftEnded& m) {
  if (Judgement open = answered(clean_ups_, "what it had ended,"); !open) return open;
  if (Judgement few = at_most(m.left.size(), wire::kMaxLeft, "processes that are left"); !few) return few;
  return all_fit(m.left);
}

Judgement AgentConduct::judge(const wire::Inspected& m) {
  if (Judgement open = answered(inspections_, "what its host is like,"); !open) return open;
  const plan::HostFacts& f = m.facts;
  const std::initializer_list<std::string_view> words{
      f.system, f.driver, f.user, f.device, f.shared_memory.path, f.agent_folder.path, f.working_directory.path};
  if (Judgement texts = all_fit(words); !texts) return texts;
  if (Judgement few = at_most(f.programs.size(), now_.apps, "programs"); !few) return few;
  return all_fit(f.programs);
}

}  // namespace sml::launch
