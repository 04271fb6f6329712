// The contents of a torch store: values and queues by key, and the clients that wait for keys. Pure; does not parse
// requests, but sends the replies that one client's request causes for others.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "launcher/agent/core/string_map.h"
#include "launcher/agent/stores/engine.h"
#include "launcher/agent/stores/torch_protocol.h"

namespace sml::agent {

class TorchSpace {
 public:
  using Send = std::function<void(ClientId, std::string)>;

  // `send` receives replies for clients that have waited or watch. `memory` is a sum over several spaces and outlives
  // this one: the cost of stored values, waits and watches is added to it, and subtracted when they are gone.
  TorchSpace(Send send, std::size_t& memory);
  ~TorchSpace();
  TorchSpace(const TorchSpace&) = delete;
  TorchSpace& operator=(const TorchSpace&) = delete;

  void set(std::string_view key, std::string_view value);
  void append(std::string_view key, std::string_view value);
  // If the key is absent and nothing is expected, stores `desired`. If it is absent and something is expected, stores
  // nothing and returns `expected`.
  std::string compare_set(std::string_view key, std::string_view expected, std::string_view desired);
  std::string_view get(std::string_view key) const;  // empty if absent
  // Numbers are decimal text. Returns nullopt if the value is no number.
  std::optional<std::int64_t> add(std::string_view key, std::int64_t delta);
  bool erase(std::string_view key);
  bool has_all(const std::vector<std::string_view>& keys) const;  // a queue that is not empty counts
  std::size_t size() const { return values_.size(); }
  std::size_t memory() const { return bytes_; }
  const StringMap<std::string>& values() const { return values_; }

  void push(std::string_view key, std::string_view value);
  std::optional<std::string> pop(std::string_view key);
  std::size_t queue_length(std::string_view key) const;

  // Returns true if all keys exist; otherwise kWaitOver is sent as soon as each key that is missing now has been set
  // once.
  bool wait(ClientId client, const std::vector<std::string_view>& keys);
  // Increments the count of the key; true if it has reached `size`, otherwise kWaitOver is sent when it does. Returns
  // nullopt if the key holds no number.
  std::optional<bool> barrier(ClientId client, std::string_view key, std::int64_t size);
  void watch(ClientId client, std::string_view key);
  void stop_waiting(ClientId client);
  void forget(ClientId client);  // its waits and watches

 private:
  struct Waiting {
    std::size_t missing = 0;
    std::size_t cost = 0;  // in memory
    std::vector<std::string> keys;
  };
  using Waits = std::unordered_map<ClientId, Waiting>;
  struct Parked {
    ClientId client;
    std::int64_t size;
  };

  void put(std::string_view key, std::string value);
  void wake(std::string_view key);
  void wake_one(std::string_view key);
  void end_wait(Waits::iterator wait);
  void tell_watchers(std::string_view key, torch::Watch kind, std::string_view before, std::string_view now);
  bool has(std::string_view key) const;
  void count(std::size_t added) { bytes_ += added, memory_ += added; }
  void uncount(std::size_t removed) { bytes_ -= removed, memory_ -= removed; }

  Send send_;
  std::size_t& memory_;
  std::size_t bytes_ = 0;
  StringMap<std::string> values_;
  StringMap<std::deque<std::string>> queues_;
  StringMap<std::vector<ClientId>> waiters_;  // by key, in order of arrival
  StringMap<std::vector<Parked>> barriers_;
  StringMap<std::vector<ClientId>> watchers_;
  std::unordered_map<ClientId, std::vector<std::string>> watched_;
  Waits waiting_;
  std::unordered_map<ClientId, std::string> parked_;  // at which barrier
};

}  // namespace sml::agent
