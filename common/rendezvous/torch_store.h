// torch's TCPStore as a server: every dialect, many clients. Pure.
//
// The store outlives process groups: a worker may destroy its group and make a new one, and torch then uses the same
// keys again. So the clients of each new world get an empty space: when the whole world has taken part in one, and one
// of it has left, who joins next begins another. (A store that rank 0 hosts is a new one then, too.)
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "common/rendezvous/engine.h"
#include "common/rendezvous/torch_protocol.h"
#include "common/rendezvous/torch_space.h"

namespace sml::rendezvous {

struct TorchStoreLimits {
  std::size_t memory = std::size_t{1} << 30;   // values, and requests that are not whole yet
  std::size_t unsent = std::size_t{1} << 20;   // of one client: it is not heard beyond
  std::size_t answer = std::size_t{64} << 20;  // the longest
};

class TorchStore final : public Engine {
 public:
  // `world_size`: of the job; tells when a world is complete.
  explicit TorchStore(std::uint32_t world_size, TorchStoreLimits limits = {});

  void opened(ClientId client, TimePoint now) override;
  void received(ClientId client, std::string_view bytes, TimePoint now) override;
  void sent(ClientId client, std::size_t bytes, TimePoint now) override;
  std::string closed(ClientId client) override;
  bool takes_input(ClientId client) const override;
  std::vector<Effect> take_effects() override { return std::exchange(effects_, {}); }
  std::optional<TimePoint> deadline() const override { return next_check_; }
  void pass(TimePoint now) override;
  void restart_clocks(TimePoint now) override;

  // Clients of the present world that have joined: torch counts them under the key "init/".
  std::uint64_t joined() const { return newest_->joined; }
  // When the first of them did; nothing before.
  std::optional<TimePoint> first_joined() const { return newest_->first_joined; }
  std::size_t memory() const { return memory_; }

 private:
  struct World {
    World(TorchSpace::Send send, std::size_t& memory) : space(std::move(send), memory) {}
    TorchSpace space;
    std::uint64_t joined = 0;
    std::uint64_t members = 0;  // clients that have used a process group's keys
    bool member_left = false;
    std::optional<TimePoint> first_joined;
  };
  struct Client {
    std::string in;
    std::size_t wanted = 1;  // bytes of `in` without which nothing can be done
    torch::Dialect dialect = torch::Dialect::Unknown;
    std::shared_ptr<World> world;  // from its first request on
    bool member = false;
    bool given_up = false;
    std::size_t unsent = 0;
    TimePoint progress;  // of its request or its answer
    bool stalls() const { return !given_up && (!in.empty() || unsent > 0); }
  };

  void work(ClientId id, Client& client, TimePoint now);
  void perform(ClientId id, Client& client, const torch::Request& request, TimePoint now);
  std::string answer(ClientId id, Client& client, const torch::Request& request);
  std::string longer_answer(ClientId id, Client& client, const torch::Request& request);
  void join_world(Client& client, const torch::Request& request, TimePoint now);
  std::shared_ptr<World> new_world();
  void send(ClientId id, std::string bytes);
  void give_up(ClientId id, Client& client, std::string fault);
  std::string refuse(ClientId id, Client& client, std::string fault);  // gives up; there is no answer
  void check_later(TimePoint now);

  std::uint32_t world_size_;
  TorchStoreLimits limits_;
  std::size_t memory_ = 0;  // before the worlds, which count in it
  std::shared_ptr<World> newest_;
  std::map<ClientId, Client> clients_;  // ordered, so that what is done is the same each time
  std::vector<Effect> effects_;
  std::optional<TimePoint> next_check_;
};

}  // namespace sml::rendezvous
