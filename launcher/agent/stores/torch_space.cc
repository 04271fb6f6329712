#include "launcher/agent/stores/torch_space.h"

#include <algorithm>

#include "common/core/text_cursor.h"

namespace sml::agent {

namespace {

constexpr std::size_t kPerEntry = 96;  // approximate overhead of the containers

std::size_t cost(std::string_view key, std::string_view value) { return kPerEntry + key.size() + value.size(); }

// The memory of a client that waits for a key, watches it, or is at a barrier: the key and the client refer to each
// other.
std::size_t interest_cost(std::string_view key) { return 2 * (kPerEntry + key.size()); }

std::string wait_over() { return std::string(1, torch::kWaitOver); }

}  // namespace

TorchSpace::TorchSpace(Send send, std::size_t& memory) : send_(std::move(send)), memory_(memory) {}
TorchSpace::~TorchSpace() { memory_ -= bytes_; }

bool TorchSpace::has(std::string_view key) const { return values_.contains(key) || queue_length(key) > 0; }

bool TorchSpace::has_all(const std::vector<std::string_view>& keys) const {
  return std::all_of(keys.begin(), keys.end(), [this](std::string_view key) { return has(key); });
}

void TorchSpace::put(std::string_view key, std::string value) {
  const auto found = values_.find(key);
  count(cost(key, value));
  if (found == values_.end()) {
    tell_watchers(key, torch::Watch::Created, {}, value);
    values_.emplace(key, std::move(value));
  } else {
    uncount(cost(key, found->second));
    tell_watchers(key, torch::Watch::Updated, found->second, value);
    found->second = std::move(value);
  }
  wake(key);
}

void TorchSpace::set(std::string_view key, std::string_view value) { put(key, std::string(value)); }

void TorchSpace::append(std::string_view key, std::string_view value) {
  const auto found = values_.find(key);
  if (found == values_.end() || watchers_.contains(key)) {
    std::string whole(get(key));
    return put(key, whole.append(value));
  }
  count(value.size());
  found->second.append(value);
}

std::string TorchSpace::compare_set(std::string_view key, std::string_view expected, std::string_view desired) {
  const auto found = values_.find(key);
  if (found == values_.end() && !expected.empty()) return std::string(expected);
  if (found == values_.end() || found->second == expected) put(key, std::string(desired));
  return std::string(get(key));
}

std::string_view TorchSpace::get(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<std::int64_t> TorchSpace::add(std::string_view key, std::int64_t delta) {
  std::int64_t before = 0;
  if (const auto found = values_.find(key); found != values_.end()) {
    const std::optional<std::int64_t> number = leading_number<std::int64_t>(found->second);
    if (!number) return std::nullopt;
    before = *number;
  }
  // Wraps as the clients' own arithmetic does.
  const auto sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(before) + static_cast<std::uint64_t>(delta));
  put(key, std::to_string(sum));
  return sum;
}

bool TorchSpace::erase(std::string_view key) {
  const auto found = values_.find(key);
  if (found == values_.end()) return false;
  uncount(cost(key, found->second));
  tell_watchers(key, torch::Watch::Deleted, found->second, {});
  values_.erase(found);
  return true;
}

// ---- queues

void TorchSpace::push(std::string_view key, std::string_view value) {
  auto queue = queues_.find(key);
  if (queue == queues_.end()) queue = queues_.emplace(key, std::deque<std::string>()).first;
  queue->second.emplace_back(value);
  count(cost(key, value));
  wake_one(key);
}

std::optional<std::string> TorchSpace::pop(std::string_view key) {
  const auto queue = queues_.find(key);
  if (queue == queues_.end()) return std::nullopt;
  std::string value = std::move(queue->second.front());
  queue->second.pop_front();
  uncount(cost(key, value));
  if (queue->second.empty()) queues_.erase(queue);
  return value;
}

std::size_t TorchSpace::queue_length(std::string_view key) const {
  const auto queue = queues_.find(key);
  return queue == queues_.end() ? 0 : queue->second.size();
}

// ---- waiting

bool TorchSpace::wait(ClientId client, const std::vector<std::string_view>& keys) {
  Waiting waiting;
  for (const std::string_view key : keys) {
    if (has(key)) continue;
    auto waiters = waiters_.find(key);
    if (waiters == waiters_.end()) waiters = waiters_.emplace(key, std::vector<ClientId>()).first;
    waiters->second.push_back(client);
    waiting.keys.emplace_back(key);
    waiting.cost += interest_cost(key);
    ++waiting.missing;
  }
  if (waiting.missing == 0) return true;
  count(waiting.cost);
  waiting_[client] = std::move(waiting);
  return false;
}

void TorchSpace::end_wait(Waits::iterator wait) {
  uncount(wait->second.cost);
  waiting_.erase(wait);
}

void TorchSpace::wake(std::string_view key) {
  const auto found = waiters_.find(key);
  if (found == waiters_.end()) return;
  const std::vector<ClientId> clients = std::move(found->second);
  waiters_.erase(found);
  for (const ClientId client : clients) {
    const auto waiting = waiting_.find(client);
    if (waiting == waiting_.end() || --waiting->second.missing > 0) continue;
    end_wait(waiting);
    send_(client, wait_over());
  }
}

// An item is for one client: the first that waits for nothing else.
void TorchSpace::wake_one(std::string_view key) {
  const auto found = waiters_.find(key);
  if (found == waiters_.end()) return;
  std::vector<ClientId>& clients = found->second;
  auto chosen = std::find_if(clients.begin(), clients.end(), [this](ClientId c) { return waiting_[c].missing == 1; });
  if (chosen == clients.end()) chosen = clients.begin();
  const ClientId client = *chosen;
  clients.erase(chosen);
  if (clients.empty()) waiters_.erase(found);
  const auto waiting = waiting_.find(client);
  if (--waiting->second.missing > 0) return;
  end_wait(waiting);
  send_(client, wait_over());
}

std::optional<bool> TorchSpace::barrier(ClientId client, std::string_view key, std::int64_t size) {
  const std::optional<std::int64_t> come = add(key, 1);
  if (!come) return std::nullopt;
  if (const auto found = barriers_.find(key); found != barriers_.end()) {
    const auto done = std::stable_partition(found->second.begin(), found->second.end(),
                                            [&](const Parked& parked) { return parked.size > *come; });
    for (auto i = done; i != found->second.end(); ++i) {
      parked_.erase(i->client);
      uncount(interest_cost(key));
      send_(i->client, wait_over());
    }
    found->second.erase(done, found->second.end());
    if (found->second.empty()) barriers_.erase(found);
  }
  if (*come >= size) return true;
  count(interest_cost(key));
  barriers_[std::string(key)].push_back({client, size});
  parked_[client] = key;
  return false;
}

void TorchSpace::stop_waiting(ClientId client) {
  if (const auto waiting = waiting_.find(client); waiting != waiting_.end()) {
    for (const std::string& key : waiting->second.keys) {
      const auto waiters = waiters_.find(key);
      if (waiters == waiters_.end()) continue;
      std::erase(waiters->second, client);
      if (waiters->second.empty()) waiters_.erase(waiters);
    }
    end_wait(waiting);
  }
  const auto parked = parked_.find(client);
  if (parked == parked_.end()) return;
  const auto barrier = barriers_.find(parked->second);
  std::erase_if(barrier->second, [&](const Parked& p) { return p.client == client; });
  if (barrier->second.empty()) barriers_.erase(barrier);
  uncount(interest_cost(parked->second));
  parked_.erase(parked);
}

void TorchSpace::forget(ClientId client) {
  stop_waiting(client);
  const auto watched = watched_.find(client);
  if (watched == watched_.end()) return;
  for (const std::string& key : watched->second) {
    const auto watchers = watchers_.find(key);
    std::erase(watchers->second, client);
    if (watchers->second.empty()) watchers_.erase(watchers);
    uncount(interest_cost(key));
  }
  watched_.erase(watched);
}

// ---- watching

void TorchSpace::watch(ClientId client, std::string_view key) {
  std::vector<ClientId>& clients = watchers_[std::string(key)];
  if (std::find(clients.begin(), clients.end(), client) != clients.end()) return;
  clients.push_back(client);
  watched_[client].emplace_back(key);
  count(interest_cost(key));
}

void TorchSpace::tell_watchers(std::string_view key, torch::Watch kind, std::string_view before, std::string_view now) {
  const auto found = watchers_.find(key);
  if (found == watchers_.end()) return;
  std::string event(1, static_cast<char>(kind));
  for (const std::string_view field : {key, before, now}) torch::put_bytes(event, field);
  for (const ClientId client : found->second) send_(client, event);
}

}  // namespace sml::agent
