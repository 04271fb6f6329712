#include "launcher/agent/stores/torch_store.h"

#include <algorithm>
#include <utility>

namespace sml::agent {

namespace {

using torch::Op;
using torch::Request;

constexpr std::string_view kJoinKey = "init/";
constexpr std::size_t kKeptInput = std::size_t{64} << 10;  // memory for requests that a client without one may keep
constexpr std::string_view kGroupKeys = "default_pg/";     // begins the keys of process groups, after prefixes

std::string number_answer(std::int64_t value) {
  std::string out;
  torch::put_number(out, value);
  return out;
}

std::string bytes_answer(std::string_view bytes) {
  std::string out;
  torch::put_bytes(out, bytes);
  return out;
}

bool joins(const Request& request) {
  return request.op == Op::Add && request.keys[0] == kJoinKey && request.number > 0;
}

bool uses_group(const Request& request) {
  return std::any_of(request.keys.begin(), request.keys.end(),
                     [](std::string_view key) { return key.find(kGroupKeys) != std::string_view::npos; });
}

}  // namespace

TorchStore::TorchStore(std::uint32_t world_size, TorchStoreLimits limits)
    : world_size_(world_size),
      limits_(limits),
      common_(sender(), memory_),
      newest_(std::make_shared<Group>(sender(), memory_)) {}

TorchSpace::Send TorchStore::sender() {
  return [this](ClientId id, std::string bytes) { send(id, std::move(bytes)); };
}

void TorchStore::opened(ClientId id, TimePoint now) { clients_[id].progress = now; }

bool TorchStore::proved(ClientId id) const {
  const auto found = clients_.find(id);
  return found != clients_.end() && found->second.proved;
}

bool TorchStore::takes_input(ClientId id) const {
  const auto found = clients_.find(id);
  return found != clients_.end() && !found->second.given_up && found->second.unsent < limits_.unsent;
}

void TorchStore::received(ClientId id, std::string_view bytes, TimePoint now) {
  const auto found = clients_.find(id);
  if (found == clients_.end() || found->second.given_up) return;
  Client& client = found->second;
  const std::size_t before = memory_;
  if (!client.proved && client.in.empty()) client.begun = now;
  client.in += bytes;
  client.progress = now;
  work(id, client, now);
  bound(id, client, before);
}

// Counts the capacity of the buffer, not its size.
void TorchStore::count_input(Client& client) {
  if (client.in.empty() && client.in.capacity() > kKeptInput) client.in = {};
  memory_ -= client.in_memory;
  client.in_memory = client.in.empty() ? 0 : client.in.capacity();
  memory_ += client.in_memory;
}

void TorchStore::bound(ClientId id, Client& client, std::size_t before) {
  while (memory_ > limits_.memory && memory_ > before && !client.given_up) {
    if (!give_up_slowest()) give_up(id, client, "the store is full");
  }
}

bool TorchStore::give_up_slowest() {
  const auto slowest = std::max_element(clients_.begin(), clients_.end(),
                                        [](const auto& a, const auto& b) { return a.second.unsent < b.second.unsent; });
  if (slowest == clients_.end() || slowest->second.unsent < limits_.unsent) return false;
  give_up(slowest->first, slowest->second, "it does not take its answers, and the store is full");
  return true;
}

void TorchStore::sent(ClientId id, std::size_t bytes, TimePoint now) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  Client& client = found->second;
  const std::size_t before = memory_;
  memory_ -= std::min(bytes, client.unsent);
  client.unsent -= std::min(bytes, client.unsent);
  client.progress = now;
  if (client.given_up) return;
  work(id, client, now);
  bound(id, client, before);
}

std::string TorchStore::closed(ClientId id) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return {};
  Client& client = found->second;
  memory_ -= client.in_memory + client.unsent;
  const bool amid = !client.given_up && !client.in.empty();
  forget(id, client);
  clients_.erase(found);
  return amid ? "it ended in the middle of a request" : "";
}

// Handles all complete requests, as long as the client reads the replies.
void TorchStore::work(ClientId id, Client& client, TimePoint now) {
  std::size_t done = 0;
  while (!client.given_up && client.unsent < limits_.unsent && client.in.size() - done >= client.wanted) {
    torch::Parsed parsed = torch::parse(client.dialect, std::string_view(client.in).substr(done), client.scan);
    client.wanted = 1;
    if (parsed.state == torch::Parsed::State::Bad) {
      give_up(id, client, std::move(parsed.fault));
    } else if (parsed.state == torch::Parsed::State::Incomplete) {
      client.wanted = parsed.size;
    } else {
      client.proved = true;
      perform(id, client, parsed.request, now);
      done += parsed.size;
      client.scan = {};
    }
  }
  if (client.given_up) return;
  client.in.erase(0, done);
  count_input(client);
  if (client.stalls()) check_later(std::max(client.due(), now));
}

// A client that sends a request while it waits has given up the wait: torch up to 2.0 does not cancel it at its
// timeout.
void TorchStore::perform(ClientId id, Client& client, const Request& request, TimePoint now) {
  if (request.op == Op::Validate) return;
  std::string bytes;
  if (request.op == Op::Ping) {
    torch::put_word(bytes, request.word);
    return send(id, std::move(bytes));
  }
  if (joins(request)) count_join(client, now);
  common_.stop_waiting(id);
  if (client.group) client.group->space.stop_waiting(id);
  bytes = answer(id, client, request);
  if (!bytes.empty()) send(id, std::move(bytes));
}

void TorchStore::count_join(Client& client, TimePoint now) {
  client.joined = true;
  ++joined_;
  if (!first_joined_) first_joined_ = now;
}

// Does not check whether a rank has left: others may leave while this one joins, and the store may learn of both in any
// order. It is only certain that a rank joins each group once.
void TorchStore::enter_group(Client& client) {
  if (client.joined && newest_->ranks >= world_size_) newest_ = std::make_shared<Group>(sender(), memory_);
  client.group = newest_;
  if (client.joined) ++newest_->ranks;
}

TorchSpace& TorchStore::space_of(Client& client, const Request& request) {
  if (!uses_group(request)) return common_;
  if (!client.group) enter_group(client);
  return client.group->space;
}

const TorchSpace& TorchStore::group_space(const Client& client) const {
  return (client.group ? client.group : newest_)->space;
}

void TorchStore::forget(ClientId id, const Client& client) {
  common_.forget(id);
  if (client.group) client.group->space.forget(id);
}

std::string TorchStore::answer(ClientId id, Client& client, const Request& request) {
  TorchSpace& space = space_of(client, request);
  const std::string_view key = request.keys.empty() ? std::string_view() : request.keys[0];
  switch (request.op) {
    case Op::Set: space.set(key, request.values[0]); return {};
    case Op::Append:
      if (space.get(key).size() + request.values[0].size() > limits_.answer) {
        return refuse(id, client, "APPEND: the value is too long");
      }
      space.append(key, request.values[0]);
      return {};
    case Op::QueuePush: space.push(key, request.values[0]); return {};
    case Op::CompareSet: return bytes_answer(space.compare_set(key, request.values[0], request.values[1]));
    case Op::Get: return bytes_answer(space.get(key));
    case Op::DeleteKey: return number_answer(space.erase(key) ? 1 : 0);
    case Op::NumKeys: return number_answer(static_cast<std::int64_t>(common_.size() + group_space(client).size()));
    case Op::QueueLen: return number_answer(static_cast<std::int64_t>(space.queue_length(key)));
    case Op::Check: return std::string(1, space.has_all(request.keys) ? torch::kReady : torch::kNotReady);
    case Op::Wait: return space.wait(id, request.keys) ? std::string(1, torch::kWaitOver) : std::string();
    case Op::CancelWait: return std::string(1, torch::kWaitCancelled);
    case Op::WatchKey: space.watch(id, key); return std::string(1, static_cast<char>(torch::Watch::Registered));
    default: return longer_answer(id, client, request, space);
  }
}

// Operations whose request can be invalid, or whose reply too long.
std::string TorchStore::longer_answer(ClientId id, Client& client, const Request& request, TorchSpace& space) {
  std::string out;
  if (request.op == Op::Add) {
    const std::optional<std::int64_t> sum = space.add(request.keys[0], request.number);
    if (!sum) return refuse(id, client, "ADD: the value of the key is no number");
    torch::put_number(out, *sum);
  } else if (request.op == Op::Barrier) {
    const std::optional<bool> complete = space.barrier(id, request.keys[0], request.number);
    if (!complete) return refuse(id, client, "BARRIER: the value of the key is no number");
    if (*complete) out += torch::kWaitOver;
  } else if (request.op == Op::MultiSet) {
    for (std::size_t i = 0; i < request.keys.size(); ++i) space.set(request.keys[i], request.values[i]);
  } else if (request.op == Op::QueuePop) {
    torch::put_number(out, static_cast<std::int64_t>(space.queue_length(request.keys[0])));
    if (const std::optional<std::string> item = space.pop(request.keys[0])) torch::put_bytes(out, *item);
  } else if (request.op == Op::MultiGet) {
    std::size_t size = 0;
    for (const std::string_view key : request.keys) size += sizeof(std::uint64_t) + space.get(key).size();
    if (size > limits_.answer) return refuse(id, client, "MULTI_GET: the answer is too long");
    for (const std::string_view key : request.keys) torch::put_bytes(out, space.get(key));
  } else if (request.op == Op::ListKeys) {
    return list_keys(id, client);
  }
  return out;
}

std::string TorchStore::list_keys(ClientId id, Client& client) {
  const TorchSpace& group = group_space(client);
  if (common_.memory() + group.memory() > limits_.answer)
    return refuse(id, client, "LIST_KEYS: the answer is too long");
  std::string out = number_answer(static_cast<std::int64_t>(common_.size() + group.size()));
  for (const TorchSpace* space : {static_cast<const TorchSpace*>(&common_), &group}) {
    for (const auto& [key, value] : space->values()) torch::put_bytes(out, key);
  }
  return out;
}

std::string TorchStore::refuse(ClientId id, Client& client, std::string fault) {
  give_up(id, client, std::move(fault));
  return {};
}

void TorchStore::send(ClientId id, std::string bytes) {
  const auto found = clients_.find(id);
  if (found == clients_.end() || found->second.given_up) return;
  found->second.unsent += bytes.size();
  memory_ += bytes.size();
  effects_.push_back({.client = id, .bytes = std::move(bytes), .then = Effect::Then::Stay, .fault = {}});
}

void TorchStore::give_up(ClientId id, Client& client, std::string fault) {
  if (client.given_up) return;
  client.given_up = true;
  memory_ -= std::exchange(client.in_memory, 0) + std::exchange(client.unsent, 0);
  client.in = {};
  forget(id, client);
  effects_.push_back({.client = id, .bytes = {}, .then = Effect::Then::Fault, .fault = std::move(fault)});
}

// ---- time

void TorchStore::check_later(TimePoint due) { next_check_ = std::min(next_check_.value_or(due), due); }

void TorchStore::pass(TimePoint now) {
  if (!next_check_ || *next_check_ > now) return;
  next_check_.reset();
  for (auto& [id, client] : clients_) {
    if (!client.stalls()) continue;
    if (client.due() > now) {
      check_later(client.due());
    } else {
      give_up(id, client, client.unsent > 0 ? "it does not take its answers" : "its request makes no progress");
    }
  }
}

void TorchStore::restart_clocks(TimePoint now) {
  for (auto& [id, client] : clients_) client.progress = client.begun = now;
  next_check_.reset();
  for (const auto& [id, client] : clients_) {
    if (client.stalls()) check_later(client.due());
  }
}

}  // namespace sml::agent
