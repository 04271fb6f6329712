#include "launcher/transport/session/attempt_protocol_validator.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/wire/codec.h"
#include "common/wire/limits.h"
#include "launcher/transport/session/validation_result.h"

namespace sml::transport {

namespace {

// The number of services or requests of that kind.
template <class Service>
std::size_t count_of(const std::vector<Service>& all, wire::ServiceKind kind) {
  const auto is_it = [kind](const Service& one) { return one.kind == kind; };
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_it));
}

}  // namespace

AttemptProtocolValidator::AttemptProtocolValidator(const wire::Prepare& prepare)
    : number_(prepare.attempt),
      apps_(prepare.apps.size()),
      services_(prepare.services),
      chooses_interfaces_(!prepare.interfaces.empty()),
      reports_bindings_(prepare.binding.report != plan::ReportBindings::No),
      looks_for_mpi_(prepare.mpi.look == wire::MpiLook::Yes),
      looks_(prepare.usage == UsageLook::Yes),
      records_(prepare.torch_traces == wire::TorchTraces::Yes),
      members_(prepare.mpi.pmi_mode == plan::PmiMode::None ? 0 : prepare.mpi.shape.size()) {
  for (const wire::Worker& worker : prepare.workers) ranks_.push_back({worker.rank});
  std::sort(ranks_.begin(), ranks_.end(), [](const RankEntry& a, const RankEntry& b) { return a.rank < b.rank; });
}

bool AttemptProtocolValidator::serves_stores() const {
  return count_of(services_, wire::ServiceKind::TorchStore) + count_of(services_, wire::ServiceKind::HorovodStore) > 0;
}

void AttemptProtocolValidator::note(const wire::Fenced& m) {
  const auto over = fences_.find({m.service, m.fence});
  if (over == fences_.end()) return;
  fence_bytes_ -= over->second;
  fences_.erase(over);
}

void AttemptProtocolValidator::note(const wire::AddWorkers& m) {
  added_ = std::make_unique<wire::AddWorkers>(m);
  added_state_ = AddedState::Asked;
}

// All hosts receive the new number of ranks.
void AttemptProtocolValidator::note(const wire::StartAdded& m) {
  if (m.go == wire::Go::Yes && members_ > 0) members_ = std::max(members_, m.ranks);
  const bool here = added_state_ == AddedState::Waits && added_->first == m.first && m.go == wire::Go::Yes;
  added_state_ = AddedState::None;
  if (!here) return;
  // later ranks follow the others, so the list stays sorted
  for (const wire::Worker& worker : added_->workers) ranks_.push_back({worker.rank});
}

void AttemptProtocolValidator::note(const wire::SpawnAnswer& m) {
  const auto found = spawns_.find({m.to, m.call});
  if (found == spawns_.end()) return;
  spawn_bytes_ -= found->second;
  spawns_.erase(found);
}

void AttemptProtocolValidator::note(const wire::StdinData& m) {
  if (RankEntry* entry = find(m.rank)) entry->input_out += m.bytes.size();
}

AttemptProtocolValidator::RankEntry* AttemptProtocolValidator::find(Rank rank) {
  const auto before = [](const RankEntry& entry, Rank wanted) { return entry.rank < wanted; };
  const auto found = std::lower_bound(ranks_.begin(), ranks_.end(), rank, before);
  return found == ranks_.end() || found->rank != rank ? nullptr : &*found;
}

ValidationResult AttemptProtocolValidator::may_name(Rank rank, wire::Ranks rule) {
  if (rule == wire::Ranks::OwnRule) return {};
  if (rule == wire::Ranks::Started && !started_) {
    return broken("sent news of rank " + number(rank.value()) + " before it had started its workers");
  }
  if (find(rank) != nullptr) return {};
  return broken("named rank " + number(rank.value()) + ", which is not on this host");
}

ValidationResult AttemptProtocolValidator::none_twice(std::vector<Rank> ranks) {
  std::sort(ranks.begin(), ranks.end());
  const auto twice = std::adjacent_find(ranks.begin(), ranks.end());
  if (twice == ranks.end()) return {};
  return broken("named rank " + number(twice->value()) + " twice in one message");
}

ValidationResult AttemptProtocolValidator::first_of_rank(Rank rank, std::string_view item) {
  const RankState state = find(rank)->state;
  const bool ended = state == RankState::Exited || state == RankState::Drained;
  if (sent_once_.emplace(rank, item).second && !ended) return {};
  return broken("sent " + std::string(item) + " of rank " + number(rank.value()) + " again, or after its end");
}

std::size_t AttemptProtocolValidator::limit(const wire::Most& most) const {
  if (most.only_if == wire::If::ReportsBindings && !reports_bindings_) return 0;
  if (most.only_if == wire::If::LooksForMpi && !looks_for_mpi_) return 0;
  return most.fixed + most.per_rank * ranks_.size() + most.per_program * apps_;
}

ValidationResult AttemptProtocolValidator::validate(const wire::Prepared& m) {
  if (!chooses_interfaces_ && !m.addresses.empty()) return broken("sent interfaces that it was not asked to choose");
  const auto asked = [&](const wire::Service& service) {
    return count_of(m.services, service.kind) <= count_of(services_, service.kind);
  };
  const bool few = m.services.size() <= services_.size();
  if (few && std::all_of(m.services.begin(), m.services.end(), asked)) return {};
  return broken("sent a port that it was not asked to reserve");
}

ValidationResult AttemptProtocolValidator::validate(const wire::Started& m) {
  // Ranks that were added later may start after the agent has received the next AddWorkers.
  const auto waits = [](const RankEntry& entry) { return entry.state == RankState::Waiting; };
  const bool more = std::any_of(ranks_.begin(), ranks_.end(), waits);
  if (std::exchange(started_, true) && !more) return broken("started its workers twice");
  for (const wire::StartedWorker& worker : m.workers) {
    if (ValidationResult ours = may_name(worker.rank, wire::Ranks::OfHost); !ours) return ours;
    if (std::exchange(find(worker.rank)->state, RankState::Started) != RankState::Waiting) {
      return broken("started rank " + number(worker.rank.value()) + " twice");
    }
  }
  return {};
}

ValidationResult AttemptProtocolValidator::validate(const wire::Output& m) {
  if (find(m.rank)->state != RankState::Drained) return {};
  return broken("sent output of rank " + number(m.rank.value()) + " after the last of it");
}

// For a worker that could not be started, this is the first message.
ValidationResult AttemptProtocolValidator::validate(const wire::ExitedWorker& m) {
  RankState& state = find(m.rank)->state;
  if (state == RankState::Exited || state == RankState::Drained) {
    return broken("sent the end of rank " + number(m.rank.value()) + " twice");
  }
  state = RankState::Exited;
  return {};
}

ValidationResult AttemptProtocolValidator::validate(const wire::Drained& m) {
  RankState& state = find(m.rank)->state;
  if (state != RankState::Exited) {
    return broken("sent the last output of rank " + number(m.rank.value()) +
                  (state == RankState::Drained ? " twice" : ", which had not ended"));
  }
  state = RankState::Drained;
  return {};
}

ValidationResult AttemptProtocolValidator::validate(const wire::StdinCredit& m) {
  std::uint64_t& input_out = find(m.rank)->input_out;
  if (m.bytes > input_out) {
    return broken("took " + number(m.bytes) + " bytes of input for rank " + number(m.rank.value()) +
                  ", and had been sent " + number(input_out));
  }
  input_out -= m.bytes;
  return {};
}

// The members of the world are counted from 0.
ValidationResult AttemptProtocolValidator::validate(const wire::FenceData& m) {
  if (!started_ || members_ == 0) return broken("sent a message of a fence, and expects none");
  if (m.fence.size() > wire::kMaxFenceName || m.bytes.size() > wire::kMaxPiece) {
    return broken("sent a piece of a fence that is longer than allowed");
  }
  if (ValidationResult few = at_most(m.ranks.size(), members_, "ranks of a fence"); !few) return few;
  const auto beyond = [this](Rank rank) { return rank.value() >= members_; };
  if (std::any_of(m.ranks.begin(), m.ranks.end(), beyond)) return broken("named a rank that does not exist");
  fences_[{m.service, m.fence}] += m.bytes.size();
  fence_bytes_ += m.bytes.size();
  if (ValidationResult few = at_most(fences_.size(), wire::kMaxFences, "fences"); !few) return few;
  return at_most(fence_bytes_, wire::kMaxFenceOfHost, "bytes for fences");
}

ValidationResult AttemptProtocolValidator::validate(const wire::Relay& m) {
  if (!started_ || members_ == 0) return broken("handed something on, and there was nobody to have it");
  if (ValidationResult ours = may_name(m.from, wire::Ranks::OfHost); !ours) return ours;
  if (m.to.value() >= members_) return broken("named a rank that does not exist");
  if (m.bytes.size() > wire::kMaxPiece) return broken("handed on what is longer than allowed");
  return at_most(relayed_ += m.bytes.size(), wire::kMaxRelayed, "bytes for other hosts");
}

ValidationResult AttemptProtocolValidator::validate(const wire::SpawnRequest& m) {
  constexpr std::size_t kMost = 1024;
  constexpr std::size_t kMostWords = std::size_t{1} << 20;  // a frame has no more bytes
  if (members_ == 0) return broken("asked for more ranks, and nobody here can");
  if (m.programs.empty() || m.programs.size() > kMostWords) return broken("asked for more ranks of no program");
  for (const plan::SpawnProgram& program : m.programs) {
    if (program.command.empty()) return broken("asked for more ranks of no program");
  }
  const std::size_t size = wire::encode(m).size();
  if (!spawns_.emplace(std::pair(m.from, m.call), size).second) return broken("asked twice for the same ranks");
  spawn_bytes_ += size;
  if (ValidationResult few = at_most(spawns_.size(), kMost, "requests for ranks"); !few) return few;
  return at_most(spawn_bytes_, wire::kMaxFenceOfHost, "bytes of requests for ranks");
}

ValidationResult AttemptProtocolValidator::validate(const wire::Added& m) {
  if (added_state_ != AddedState::Asked || m.first != added_->first) {
    return broken("sent an answer about ranks that it was not asked about");
  }
  added_state_ = AddedState::Waits;
  return at_most(m.errors.size(), added_->apps.size() + wire::kMostPreflightErrors, "preflight errors");
}

ValidationResult AttemptProtocolValidator::validate(const wire::HostUsed& m) {
  constexpr std::size_t kLongestName = 64;
  if (!looks_) return broken("sent how much of it is in use, which nobody had asked for");
  const auto is_long = [](const AcceleratorUse& one) { return one.name.size() > kLongestName; };
  if (!std::any_of(m.use.accelerators.begin(), m.use.accelerators.end(), is_long)) return {};
  return broken("sent an accelerator's name that is longer than allowed");
}

ValidationResult AttemptProtocolValidator::validate(const wire::RankFault& m) {
  if (m.code >= 1 && m.code <= 255) return {};
  return broken("sent a status that no process can have");
}

ValidationResult AttemptProtocolValidator::validate(const wire::Trace& m) {
  const auto asked = traces_asked_.find(m.id);
  if (asked == traces_asked_.end()) return broken("sent where a worker is, which nobody had asked for");
  if (!asked->second.insert(m.rank).second) {
    return broken("sent twice where rank " + number(m.rank.value()) + " is");
  }
  return {};
}

ValidationResult AttemptProtocolValidator::validate(const wire::Traced& m) {
  if (traces_asked_.erase(m.id) == 1) return {};
  return broken("sent where its workers are, which nobody had asked for");
}

ValidationResult AttemptProtocolValidator::validate(const wire::Recorded& m) {
  const auto asked = records_asked_.find(m.id);
  if (asked == records_asked_.end() || !records_) return broken("sent what was recorded, that nobody had asked for");
  if (m.bytes.size() > wire::kMaxRecordedPiece) return broken("sent more of what was recorded than a message may have");
  Records& records = asked->second;
  const std::size_t of_rank_so_far = records.bytes[m.rank] += m.bytes.size();
  records.of_all += m.bytes.size();
  if (of_rank_so_far <= wire::kMaxRecorded && records.of_all <= wire::kMaxRecordedOfHost) return {};
  return broken("sent more of what was recorded than it may");
}

ValidationResult AttemptProtocolValidator::validate(const wire::RecordedAll& m) {
  if (records_asked_.erase(m.id) == 1) return {};
  return broken("sent the end of a recording that nobody had asked for");
}

}  // namespace sml::transport
