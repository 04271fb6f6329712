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

  // `send` receives the bytes for clients that wait, for keys or at a barrier, or watch a key. `memory` is a sum over
  // several spaces and outlives this one: the cost of stored values, waits and watches is added to it, and subtracted
  // when they are gone.
  TorchSpace(Send send, std::size_t& memory);
  ~TorchSpace();
  TorchSpace(const TorchSpace&) = delete;
  TorchSpace& operator=(const TorchSpace&) = delete;

  void set(std::string_view key, std::string_view value);
  void append(std::string_view key, std::string_view value);
  // Stores `desired` if the value equals `expected`, or if the key is absent and `expected` is empty. Returns the value
  // that the key then has; `expected` if it is still absent.
  std::string compare_set(std::string_view key, std::string_view expected, std::string_view desired);
  std::string_view get(std::string_view key) const;  // empty if absent
  // Adds `delta` to the key's value, which is 0 if absent, and returns the sum. Numbers are decimal text. nullopt: the
  // value is no number, and stays.
  std::optional<std::int64_t> add(std::string_view key, std::int64_t delta);
  bool erase(std::string_view key);  // false: it was absent; leaves queues alone
  // Whether each key has a value or a queue that is not empty.
  bool has_all(const std::vector<std::string_view>& keys) const;
  std::size_t size() const { return values_.size(); }  // number of values, without queues
  std::size_t memory() const { return bytes_; }        // bytes of this space
  const StringMap<std::string>& values() const { return values_; }

  void push(std::string_view key, std::string_view value);
  std::optional<std::string> pop(std::string_view key);  // nullopt: the queue is empty
  std::size_t queue_length(std::string_view key) const;

  // Returns true if all keys exist. Otherwise sends the client kWaitOver as soon as each key that is missing now has
  // been set once, even if it has been deleted since. A push() to its queue counts, too, for one client that waits.
  bool wait(ClientId client, const std::vector<std::string_view>& keys);
  // Increments the count that is the key's value. Returns true if it has reached `size`; otherwise sends the client
  // kWaitOver when it does. nullopt: the key holds no number.
  std::optional<bool> barrier(ClientId client, std::string_view key, std::int64_t size);
  // Sends the client all later changes of the key.
  void watch(ClientId client, std::string_view key);
  // Ends the client's wait for keys or at a barrier, without a reply; keeps its watches.
  void stop_waiting(ClientId client);
  void forget(ClientId client);  // ends its waits and watches

 private:
  struct Waiting {
    std::size_t missing = 0;  // number of keys that have not been set since
    std::size_t cost = 0;     // in memory
    std::vector<std::string> keys;
  };
  using Waits = std::unordered_map<ClientId, Waiting>;
  // A client at a barrier, until its count reaches `size`.
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
  std::size_t& memory_;    // of all spaces
  std::size_t bytes_ = 0;  // the part of this space in memory_
  StringMap<std::string> values_;
  StringMap<std::deque<std::string>> queues_;
  StringMap<std::vector<ClientId>> waiters_;  // by key, in order of arrival
  StringMap<std::vector<Parked>> barriers_;
  StringMap<std::vector<ClientId>> watchers_;
  std::unordered_map<ClientId, std::vector<std::string>> watched_;  // the keys that a client watches
  Waits waiting_;
  std::unordered_map<ClientId, std::string> parked_;  // the key of the barrier at which a client waits
};

}  // namespace sml::agent
