#include "launcher/agent/diagnosis/record_service.h"

#include <cstdio>
#include <utility>

#include <unistd.h>

#include "launcher/agent/core/waits.h"

namespace sml::agent {

namespace {

constexpr Duration kServerLimit = std::chrono::seconds(2);  // the server answers from memory; one that is slower hangs

}  // namespace

RecordService::RecordService(const ServiceContext& context, std::vector<Member> members)
    : context_(context), members_(std::move(members)), poll_(context.system.loop), limit_(context.system.loop) {}

// False if the user has chosen another place.
bool RecordService::records_here(const Member& member) const {
  const std::string& folder = context_.system.scratch.path();
  return !folder.empty() && member.torch.dump.starts_with(folder);
}

void RecordService::worker_started(Rank rank, pid_t) {
  for (Member& member : members_) {
    if (member.rank == rank) member.runs = true;
  }
}

// A dump that torch wrote by itself, as it does when a collective has taken too long, is kept: in the folder where it
// would be without sml-run.
void RecordService::worker_ended(Rank rank, const ExitStatus& status) {
  const std::string& folder = context_.system.scratch.path();
  for (Member& member : members_) {
    if (member.rank != rank) continue;
    member.runs = false;
    if (succeeded(status) || !records_here(member)) continue;
    const std::string kept = folder.substr(0, folder.rfind('/')) + "/nccl_trace_rank_" + std::to_string(rank.value());
    if (::rename(member.torch.dump.c_str(), kept.c_str()) != 0) continue;
    context_.warn("what torch has recorded of rank " + std::to_string(rank.value()) + " is in " + kept);
  }
}

void RecordService::handle(const wire::ToAgent& message) {
  if (const auto* m = std::get_if<wire::AskRecorded>(&message)) begin(*m);
}

void RecordService::begin(const wire::AskRecorded& m) {
  finish();
  sources_.clear();
  asked_ = m;
  sent_ = 0;
  limit_.expires_after(std::chrono::milliseconds(m.limit_ms));
  when_due(limit_, request_.guard([this] { finish(); }));
  std::vector<std::shared_ptr<FlightRecorder>> recorders;
  for (const Member& member : members_) {
    if (!member.runs) continue;
    sources_.push_back(std::make_unique<Source>(context_.system.loop, member));
    recorders.push_back(sources_.back()->recorder);
  }
  const auto trigger_all = [recorders = std::move(recorders)] {
    for (const auto& recorder : recorders) recorder->trigger();
  };
  context_.system.file_work(trigger_all, request_.guard([this] {
    server_due_ = Clock::now() + kServerLimit;
    for (const auto& source : sources_) {
      if (!source->recorder->awaited()) ask_server(*source);
    }
    look();
  }));
}

// For a worker without a recorder pipe: Gloo has none, but its server reports the records.
void RecordService::ask_server(Source& source) {
  const auto done = [this, &source](const std::optional<std::string>& bytes) {
    source.asks = false;
    if (bytes && bytes->find("\"entries\":[{") != std::string::npos) send(source.member, *bytes);
  };
  source.asks = source.server.ask(source.member.torch.socket, "fr_trace_json", wire::kMaxRecorded, done);
}

// The user may have placed the dumps on a file server.
void RecordService::look() {
  struct Dump {
    Source& source;
    std::shared_ptr<FlightRecorder> recorder;
    std::string to_remove;
    std::optional<std::string> bytes{};
  };
  const auto dumps = std::make_shared<std::vector<Dump>>();
  for (const auto& source : sources_) {
    if (!awaits_dump(*source)) continue;
    const Member& member = source->member;
    dumps->push_back({*source, source->recorder, records_here(member) ? member.torch.dump : std::string()});
  }
  if (dumps->empty()) return await_dumps();
  const auto fetch = [dumps] {
    for (Dump& one : *dumps) {
      one.bytes = one.recorder->poll(wire::kMaxRecorded);
      if (one.bytes && !one.to_remove.empty()) ::unlink(one.to_remove.c_str());
    }
  };
  context_.system.file_work(fetch, request_.guard([this, dumps] {
    for (const Dump& one : *dumps) {
      if (one.bytes) send(one.source.member, *one.bytes);
    }
    await_dumps();
  }));
}

// Repeats until no answer is pending.
void RecordService::await_dumps() {
  const TimePoint now = Clock::now();
  bool awaits = false;
  for (const auto& source : sources_) {
    if (now >= server_due_ && std::exchange(source->asks, false)) source->server.give_up();
    awaits = awaits || source->asks || awaits_dump(*source);
  }
  if (!awaits) return finish();
  poll_.expires_after(FlightRecorder::kPoll);
  when_due(poll_, request_.guard([this] { look(); }));
}

void RecordService::send(const Member& member, const std::string& bytes) {
  if (!asked_ || bytes.size() > wire::kMaxRecordedOfHost - sent_) return;
  sent_ += bytes.size();
  for (std::size_t at = 0; at < bytes.size(); at += wire::kMaxRecordedPiece) {
    context_.send(wire::Recorded{asked_->id, member.rank, bytes.substr(at, wire::kMaxRecordedPiece)});
  }
}

void RecordService::finish() {
  if (!asked_) return;
  request_ = Lifetime();
  poll_.cancel();
  limit_.cancel();
  for (const auto& source : sources_) source->server.give_up();
  context_.send(wire::RecordedAll{asked_->id});
  asked_.reset();
}

}  // namespace sml::agent
