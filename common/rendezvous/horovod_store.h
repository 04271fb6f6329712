// The key-value store in which Horovod's processes meet: HTTP, one request a connection. Pure. Source:
// horovod/runner/http/http_server.py and horovod/common/gloo/http_store.cc of Horovod 0.28.
//
//   PUT /SCOPE/KEY     keeps the body
//   GET /SCOPE/KEY     answers it; 404 when there is none
//   DELETE /SCOPE/R    rank R is done with the scope: its keys "R" and "rank_R" go
//
// The deletion comes after a barrier of all members, so nobody needs the keys any more, and a program that makes its
// communicators again finds none of the old. Clients ask again every 10 ms for the addresses of a rank, the key "R":
// such a question waits here for a moment instead, unless there is an answer.
//
// Workers of an elastic job (horovod/runner/elastic) say more; whoever wants to hear of it decides on their numbers:
//
//   PUT /worker_addresses/SLOT   a worker can go on without others; the body says how it is told of new hosts
//   GET /rank_and_size/SLOT      it wants its numbers anew, and waits until there is a next round
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "common/rendezvous/engine.h"
#include "common/rendezvous/http_request.h"
#include "common/rendezvous/string_map.h"

namespace sml::rendezvous {

struct HorovodStoreLimits {
  std::size_t memory = std::size_t{1} << 30;  // of what is kept, of requests and of answers
  std::size_t value = std::size_t{16} << 20;  // addresses of 8192 ranks need 1.1 MB
};

class ElasticWorkers {
 public:
  virtual ~ElasticWorkers() = default;
  // Calls nobody.
  virtual void registered(std::string_view slot, std::string_view body) = 0;
  virtual void wants_numbers(std::string_view slot) = 0;
};

class HorovodStore final : public Engine {
 public:
  static constexpr Duration kHold = std::chrono::milliseconds(500);  // a question for a rank's addresses
  static constexpr Duration kHalf = std::chrono::seconds(3);  // a request that does not get on; kStall: that does

  explicit HorovodStore(HorovodStoreLimits limits = {}) : limits_(limits) {}

  // Before the first client: the job is elastic. `workers` outlives this.
  void hear_of(ElasticWorkers& workers) { elastic_ = &workers; }
  // Its numbers for who waits for them.
  void number(std::string_view slot, const std::string& numbers);
  // A round begins: what the workers of the one before have put down misleads.
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

  std::size_t memory() const { return memory_; }

 private:
  // Silent: nothing has come; Asking: part of a request has; Held: its question waits; Answered: the answer is on its
  // way.
  enum class State : std::uint8_t { Silent, Asking, Held, Answered };
  struct Client {
    explicit Client(std::size_t most_body) : reader(most_body) {}
    HttpRequestReader reader;
    State state = State::Silent;
    std::size_t memory = 0;  // of its request, of its question that waits, or of its answer that it has not taken
    TimePoint begun;         // its request
    std::string held_for;    // target
    TimePoint due;
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
  ElasticWorkers* elastic_ = nullptr;  // null: the job is not
  std::size_t memory_ = 0;
  StringMap<std::string> values_;          // by target
  StringMap<std::vector<ClientId>> held_;  // by target
  std::map<ClientId, Client> clients_;
  std::set<std::pair<TimePoint, ClientId>> dues_;
  std::vector<Effect> effects_;
};

}  // namespace sml::rendezvous
