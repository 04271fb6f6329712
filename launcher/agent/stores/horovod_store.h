// The key-value store for the rendezvous of Horovod's processes: HTTP, one request per connection. Pure. Source:
// horovod/runner/http/http_server.py and horovod/common/gloo/http_store.cc of Horovod 0.28.
//
//   PUT /SCOPE/KEY     stores the body
//   GET /SCOPE/KEY     returns the stored body; 404 if there is none
//   DELETE /SCOPE/R    rank R is done with the scope: deletes its keys "R" and "rank_R"
//
// Ranks send DELETE after a barrier of all members, so no one needs the keys any more, and a program that makes its
// communicators again finds no old ones. Clients repeat a GET for the addresses of a rank, the key "R", every 10 ms:
// the store holds such a request for a moment instead of returning 404.
//
// Workers of an elastic job (horovod/runner/elastic) send more; ElasticWorkers receives these requests and decides on
// their ranks:
//
//   PUT /worker_addresses/SLOT   a worker can go on without others; the body describes how to notify it of new hosts
//   GET /rank_and_size/SLOT      the worker requests its new rank and sizes; the reply is held until the next round
//
// SLOT is "HOST:LOCAL_RANK".
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "launcher/agent/core/string_map.h"
#include "launcher/agent/stores/engine.h"
#include "launcher/agent/stores/http_request.h"

namespace sml::agent {

struct HorovodStoreLimits {
  std::size_t memory = std::size_t{1} << 30;  // bytes of all values, requests and replies together
  std::size_t value = std::size_t{16} << 20;  // bytes of one value; the addresses of 8192 ranks need 1.1 MB
};

// Receives the requests of an elastic job's workers. `slot` is the name that a worker gives itself.
class ElasticWorkers {
 public:
  virtual ~ElasticWorkers() = default;
  // A worker has registered. Neither function may call back into the store.
  virtual void registered(std::string_view slot, std::string_view body) = 0;
  // A worker requests its numbers: HorovodStore::number() replies, later.
  virtual void wants_numbers(std::string_view slot) = 0;
};

class HorovodStore final : public Engine {
 public:
  static constexpr Duration kHold = std::chrono::milliseconds(500);  // how long a GET for a rank's addresses is held
  // The longest time between two pieces of a request; kStall limits the time of the whole request.
  static constexpr Duration kRequestStall = std::chrono::seconds(3);

  explicit HorovodStore(HorovodStoreLimits limits = {}) : limits_(limits) {}

  // Marks the job as elastic: `workers`, which outlives this, receives its requests from now on. Call before the first
  // client.
  void set_elastic_workers(ElasticWorkers& workers) { elastic_ = &workers; }
  // Replies with `numbers` (in Horovod's format) to the held requests of this slot for its numbers; does nothing if
  // there is none.
  void number(std::string_view slot, const std::string& numbers);
  // A round begins: deletes the values of the round before, which are invalid now, but not the registrations.
  void forget();

  void opened(ClientId client, TimePoint now) override;
  void received(ClientId client, std::string_view bytes, TimePoint now) override;
  void sent(ClientId client, std::size_t bytes, TimePoint now) override;
  std::string closed(ClientId client) override;
  bool proved(ClientId client) const override;
  bool takes_input(ClientId client) const override;
  std::vector<Effect> take_effects() override { return std::exchange(effects_, {}); }
  std::optional<TimePoint> deadline() const override;
  void pass(TimePoint now) override;
  void restart_clocks(TimePoint now) override;

  std::size_t memory() const { return memory_; }  // in use, in bytes

 private:
  // Silent: nothing was received; Asking: a part of a request was; Held: its GET is held; Answered: the reply is being
  // sent.
  enum class State : std::uint8_t { Silent, Asking, Held, Answered };
  struct Client {
    explicit Client(std::size_t most_body) : reader(most_body) {}
    HttpRequestReader reader;
    State state = State::Silent;
    std::size_t memory = 0;  // of its request, its held GET, or its unsent reply
    TimePoint begun;         // the start of its request
    std::string held_for;    // the target of its held GET
    TimePoint due;           // when expire() ends its request or drops it; max(): never
  };

  void serve(ClientId id, Client& client, TimePoint now);
  void put(ClientId id, Client& client, HttpRequest& request);
  void get(ClientId id, Client& client, const HttpRequest& request, TimePoint now);
  void remove(std::string_view target);
  void erase(const std::string& target);
  void give(ClientId id, Client& client, const std::string& value);
  void recount(Client& client, std::size_t memory);
  void answer(ClientId id, Client& client, int status, std::string_view body = {}, std::string fault = {});
  void expire(ClientId id, Client& client);
  void set_due(ClientId id, Client& client, TimePoint due);
  void hold(ClientId id, Client& client, const std::string& target, TimePoint until);

  HorovodStoreLimits limits_;
  ElasticWorkers* elastic_ = nullptr;  // null: the job is not elastic
  std::size_t memory_ = 0;
  StringMap<std::string> values_;          // by target
  StringMap<std::vector<ClientId>> held_;  // by target
  std::map<ClientId, Client> clients_;
  std::set<std::pair<TimePoint, ClientId>> dues_;  // Client::due of all clients
  std::vector<Effect> effects_;
};

}  // namespace sml::agent
