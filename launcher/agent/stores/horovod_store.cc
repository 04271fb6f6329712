#include "launcher/agent/stores/horovod_store.h"

#include <algorithm>

#include "common/core/letters.h"

namespace sml::agent {

namespace {

constexpr std::string_view kRegistration = "/worker_addresses/";
constexpr std::string_view kNumbers = "/rank_and_size/";
constexpr std::size_t kPerValue = 96;  // approximate overhead of the containers

std::size_t entry_cost(std::string_view target, std::string_view value) {
  return kPerValue + target.size() + value.size();
}

// "/scope/key": the position of the key; npos for any other form.
std::size_t key_in(std::string_view target) {
  if (target.empty() || target.front() != '/') return std::string_view::npos;
  const std::size_t slash = target.find('/', 1);
  if (slash == std::string_view::npos || target.find('/', slash + 1) != std::string_view::npos) {
    return std::string_view::npos;
  }
  return slash + 1;
}

}  // namespace

// ---- connections

void HorovodStore::opened(ClientId id, TimePoint now) {
  const auto [client, is_new] = clients_.try_emplace(id, limits_.value);
  if (is_new) set_due(id, client->second, now + kStall);
}

void HorovodStore::set_due(ClientId id, Client& client, TimePoint due) {
  dues_.erase({client.due, id});
  client.due = due;
  dues_.insert({due, id});
}

bool HorovodStore::proved(ClientId id) const {
  const auto found = clients_.find(id);
  return found != clients_.end() && found->second.state > State::Asking;
}

bool HorovodStore::takes_input(ClientId id) const {
  const auto found = clients_.find(id);
  return found != clients_.end();  // also to notice that it has disconnected; see received()
}

std::string HorovodStore::closed(ClientId id) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return {};
  Client& client = found->second;
  const bool amid = client.state == State::Asking;
  recount(client, 0);
  dues_.erase({client.due, id});
  if (const auto held = held_.find(client.held_for); client.state == State::Held && held != held_.end()) {
    std::erase(held->second, id);
    if (held->second.empty()) held_.erase(held);
  }
  clients_.erase(found);
  return amid ? "it ended in the middle of a request" : "";
}

void HorovodStore::received(ClientId id, std::string_view bytes, TimePoint now) {
  const auto found = clients_.find(id);
  if (found == clients_.end() || found->second.state > State::Asking) return;  // one request per connection
  Client& client = found->second;
  if (client.state == State::Silent) client.begun = now;
  client.state = State::Asking;
  recount(client, client.memory + bytes.size());
  set_due(id, client, std::min(now + kRequestStall, client.begun + kStall));
  if (memory_ > limits_.memory) return answer(id, client, 507, {}, "the store is full");
  switch (client.reader.feed(bytes)) {
    case HttpRequestReader::State::Incomplete: return;
    case HttpRequestReader::State::Complete: return serve(id, client, now);
    case HttpRequestReader::State::TooLong: return answer(id, client, 413, {}, "a request is too long");
    case HttpRequestReader::State::Bad: return answer(id, client, 400, {}, "it sends no HTTP request");
  }
}

void HorovodStore::sent(ClientId id, std::size_t bytes, TimePoint now) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  recount(found->second, found->second.memory - std::min(bytes, found->second.memory));
  set_due(id, found->second, now + kStall);
}

void HorovodStore::recount(Client& client, std::size_t memory) {
  memory_ -= std::exchange(client.memory, memory);
  memory_ += memory;
}

void HorovodStore::answer(ClientId id, Client& client, int status, std::string_view body, std::string fault) {
  client.state = State::Answered;
  std::string bytes = http_answer(status, body);
  recount(client, bytes.size());
  effects_.push_back({.client = id, .bytes = std::move(bytes), .then = Effect::Then::Close, .fault = std::move(fault)});
}

void HorovodStore::give(ClientId id, Client& client, const std::string& value) {
  if (memory_ + value.size() > limits_.memory) return answer(id, client, 507, {}, "the store is full");
  answer(id, client, 200, value);
}

// ---- requests

void HorovodStore::serve(ClientId id, Client& client, TimePoint now) {
  HttpRequest request = client.reader.take();
  if (key_in(request.target) == std::string_view::npos) return answer(id, client, 400);
  switch (request.method) {
    case HttpRequest::Method::Put: return put(id, client, request);
    case HttpRequest::Method::Get: return get(id, client, request, now);
    case HttpRequest::Method::Delete: remove(request.target); return answer(id, client, 200);
    case HttpRequest::Method::Other: return answer(id, client, 405);
  }
}

void HorovodStore::put(ClientId id, Client& client, HttpRequest& request) {
  erase(request.target);
  memory_ += entry_cost(request.target, request.body);
  const std::string& value = values_[request.target] = std::move(request.body);
  answer(id, client, 200);
  if (elastic_ != nullptr && request.target.starts_with(kRegistration)) {
    elastic_->registered(std::string_view(request.target).substr(kRegistration.size()), value);
  }
  const auto held = held_.find(request.target);
  if (held == held_.end()) return;
  const std::vector<ClientId> waiting = std::move(held->second);
  held_.erase(held);
  for (const ClientId other : waiting) give(other, clients_.at(other), value);
}

void HorovodStore::get(ClientId id, Client& client, const HttpRequest& request, TimePoint now) {
  if (elastic_ != nullptr && request.target.starts_with(kNumbers)) {
    hold(id, client, request.target, TimePoint::max());
    return elastic_->wants_numbers(std::string_view(request.target).substr(kNumbers.size()));
  }
  if (const auto found = values_.find(request.target); found != values_.end()) {
    return give(id, client, found->second);
  }
  // Only a rank's addresses, the key "R", are waited for. "rank_R" is only looked up: its absence is a valid result,
  // and is returned at once.
  if (!all_digits(std::string_view(request.target).substr(key_in(request.target)))) return answer(id, client, 404);
  hold(id, client, request.target, now + kHold);
}

void HorovodStore::hold(ClientId id, Client& client, const std::string& target, TimePoint until) {
  client.state = State::Held;
  client.held_for = target;
  held_[target].push_back(id);
  recount(client, 2 * entry_cost(target, {}));
  set_due(id, client, until);
}

void HorovodStore::number(std::string_view slot, const std::string& numbers) {
  const auto held = held_.find(std::string(kNumbers) + std::string(slot));
  if (held == held_.end()) return;
  const std::vector<ClientId> waiting = std::move(held->second);
  held_.erase(held);
  for (const ClientId id : waiting) give(id, clients_.at(id), numbers);
}

// Keeps the registrations, since a worker registers only once.
void HorovodStore::forget() {
  std::erase_if(values_, [this](const auto& one) {
    const auto& [target, value] = one;
    if (target.starts_with(kRegistration)) return false;
    memory_ -= entry_cost(target, value);
    return true;
  });
}

void HorovodStore::remove(std::string_view target) {
  const std::size_t key = key_in(target);
  erase(std::string(target));
  erase(std::string(target.substr(0, key)) + "rank_" + std::string(target.substr(key)));
}

void HorovodStore::erase(const std::string& target) {
  const auto found = values_.find(target);
  if (found == values_.end()) return;
  memory_ -= entry_cost(target, found->second);
  values_.erase(found);
}

// ---- time

std::optional<TimePoint> HorovodStore::deadline() const {
  if (dues_.empty() || dues_.begin()->first == TimePoint::max()) return std::nullopt;
  return dues_.begin()->first;
}

void HorovodStore::pass(TimePoint now) {
  while (!dues_.empty() && dues_.begin()->first <= now) {
    const ClientId id = dues_.begin()->second;
    Client& client = clients_.at(id);
    set_due(id, client, now + kStall);
    expire(id, client);
  }
}

void HorovodStore::expire(ClientId id, Client& client) {
  switch (client.state) {
    case State::Asking: return answer(id, client, 408, {}, "its request makes no progress");
    case State::Held: {
      std::vector<ClientId>& waiting = held_[client.held_for];
      std::erase(waiting, id);
      if (waiting.empty()) held_.erase(client.held_for);
      return answer(id, client, 404);
    }
    case State::Silent:
    case State::Answered:  // it does not read its reply
      effects_.push_back({.client = id, .bytes = {}, .then = Effect::Then::Fault, .fault = "it stands still"});
  }
}

void HorovodStore::restart_clocks(TimePoint now) {
  for (auto& [id, client] : clients_) {
    if (client.due != TimePoint::max()) set_due(id, client, now + (client.state == State::Held ? kHold : kStall));
  }
}

}  // namespace sml::agent
