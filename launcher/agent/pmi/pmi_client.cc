#include "launcher/agent/pmi/pmi_client.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sml::agent {

namespace {

constexpr std::size_t kMostThreads = 64;    // that wait at the same time
constexpr std::size_t kLongestThread = 64;  // bytes of a client's name for a thread

}  // namespace

Result<void> PmiClient::may_come(const PmiRow& row, const wire::PmiMessage& message) const {
  const auto broken = [](std::string why) { return Error(ErrorKind::Protocol, std::move(why)); };
  const std::string what = "\"" + std::string(row.name) + "\"";
  const bool begins = row.verb == PmiVerb::Init;
  if (state_ == State::Left && !begins) return broken("sent " + what + " by PMI after MPI_Finalize");
  // MPICH begins a session of MPI 4 after the last one has ended so, and sends nothing in between.
  const bool again = state_ == State::Left || (state_ == State::Joined && dialect_ == wire::PmiDialect::One);
  if (begins && state_ != State::Silent && !again) return broken("sent a second " + what + " by PMI");
  if (!begins && state_ == State::Silent) return broken("sent " + what + " before \"init\"");
  const bool joins = begins || row.verb == PmiVerb::FullInit || row.verb == PmiVerb::Abort;
  if (state_ == State::Greeted && !joins) return broken("sent " + what + " before \"fullinit\"");
  if (row.verb == PmiVerb::FullInit && state_ == State::Joined) return broken("sent a second " + what + " by PMI");
  if (row.verb == PmiVerb::Abort) return {};
  const std::string thread = pmi_thread(message);
  if (thread.size() > kLongestThread || !wire::has_pmi_form(thread)) return broken("names a thread as PMI cannot");
  if (waiting_.contains(thread)) return broken("sent " + what + " while it waited for an answer");
  if (waiting_.size() == kMostThreads) {
    return broken("waits in more than " + std::to_string(kMostThreads) + " threads");
  }
  if (row.verb == PmiVerb::Fence && waits(PmiVerb::Fence)) {
    return broken("sent " + what + " while it waited at the fence before");
  }
  return {};
}

void PmiClient::greet(wire::PmiDialect dialect) {
  dialect_ = dialect;
  if (dialect == wire::PmiDialect::One) return join();
  state_ = State::Greeted;
}

void PmiClient::join() {
  state_ = State::Joined;
  joined_ = true;
}

void PmiClient::leave() {
  state_ = State::Left;
  dialect_ = wire::PmiDialect::One;
}

void PmiClient::give_up() {
  state_ = State::Over;
  waiting_.clear();
  reader_ = {};
  spawns_ = {};
}

void PmiClient::wait(const PmiRow& row, const wire::PmiMessage& message, std::string_view key) {
  Call call{.thread = pmi_thread(message), .row = &row, .key = std::string(key)};
  waiting_[call.thread] = std::move(call);
}

bool PmiClient::waits(PmiVerb verb) const {
  return std::any_of(waiting_.begin(), waiting_.end(), [&](const auto& one) { return one.second.row->verb == verb; });
}

std::vector<PmiClient::Call> PmiClient::take(PmiVerb verb, std::string_view key) {
  std::vector<Call> out;
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    const Call& call = at->second;
    const bool is_it = call.row->verb == verb && call.key == key;
    if (is_it) out.push_back(call);
    at = is_it ? waiting_.erase(at) : std::next(at);
  }
  return out;
}

const PmiClient::Call* PmiClient::call_of(const std::string& thread) const {
  const auto found = waiting_.find(thread);
  return found == waiting_.end() ? nullptr : &found->second;
}

}  // namespace sml::agent
