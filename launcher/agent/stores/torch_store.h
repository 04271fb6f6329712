// The server of torch's TCPStore: every dialect, many clients. Pure.
//
// The store outlives process groups: a worker may destroy its group and make a new one, and torch then uses the same
// keys again, over a new connection. So the keys of process groups are kept apart by group: a client that joins when
// the newest group has all its ranks begins another. (A store hosted by rank 0 would be new then, too.) All other keys
// stay, and every client sees them, as with torchrun's store. A request that names keys of both kinds uses its group's;
// torch makes none.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "launcher/agent/stores/engine.h"
#include "launcher/agent/stores/torch_protocol.h"
#include "launcher/agent/stores/torch_space.h"

namespace sml::agent {

struct TorchStoreLimits {
  std::size_t memory = std::size_t{1} << 30;   // of all that clients cause: values, waits, watches, incomplete
                                               // requests, and replies that they have not read
  std::size_t unsent = std::size_t{1} << 20;   // bytes to one client; beyond, no input is taken from it
  std::size_t answer = std::size_t{64} << 20;  // bytes of the longest reply
};

// Above the memory limit the client that has most unread replies is dropped or, if none has TorchStoreLimits::unsent
// bytes of them, the client whose request needs more memory.
class TorchStore final : public Engine {
 public:
  static constexpr Duration kFirst = std::chrono::seconds(30);  // for a client's first request, once it has begun

  // `world_size`: number of ranks in a group; determines when a group has all its ranks.
  explicit TorchStore(std::uint32_t world_size, TorchStoreLimits limits = {});

  void opened(ClientId client, TimePoint now) override;
  void received(ClientId client, std::string_view bytes, TimePoint now) override;
  void sent(ClientId client, std::size_t bytes, TimePoint now) override;
  std::string closed(ClientId client) override;
  bool proved(ClientId client) const override;
  bool takes_input(ClientId client) const override;
  std::vector<Effect> take_effects() override { return std::exchange(effects_, {}); }
  std::optional<TimePoint> deadline() const override { return next_check_; }
  void pass(TimePoint now) override;
  void restart_clocks(TimePoint now) override;

  // The number of joins so far: a client of torch joins by adding to the key "init/".
  std::uint64_t joined() const { return joined_; }
  // When the first client joined; nullopt before.
  std::optional<TimePoint> first_joined() const { return first_joined_; }
  std::size_t memory() const { return memory_; }  // in use, in bytes

 private:
  // The keys of one process group.
  struct Group {
    Group(TorchSpace::Send send, std::size_t& memory) : space(std::move(send), memory) {}
    TorchSpace space;
    // Clients that have joined and used its keys; other clients are further connections of a rank.
    std::uint64_t ranks = 0;
  };
  struct Client {
    std::string in;             // received, not handled yet
    std::size_t in_memory = 0;  // the memory counted for `in`
    std::size_t wanted = 1;     // bytes of `in` without which nothing can be done
    torch::Scan scan;
    torch::Dialect dialect = torch::Dialect::Unknown;
    bool joined = false;           // it has added to "init/"
    std::shared_ptr<Group> group;  // null until its first use of a group's keys
    bool proved = false;
    bool given_up = false;   // dropped: its Effect is Fault
    std::size_t unsent = 0;  // bytes of replies
    TimePoint progress;      // when its request or reply last made progress
    TimePoint begun;         // when its first request began
    TimePoint due() const { return proved ? progress + kStall : begun + kFirst; }
    bool stalls() const { return !given_up && (!in.empty() || unsent > 0); }
  };

  void work(ClientId id, Client& client, TimePoint now);
  void perform(ClientId id, Client& client, const torch::Request& request, TimePoint now);
  std::string answer(ClientId id, Client& client, const torch::Request& request);
  std::string longer_answer(ClientId id, Client& client, const torch::Request& request, TorchSpace& space);
  std::string list_keys(ClientId id, Client& client);
  void count_join(Client& client, TimePoint now);
  void enter_group(Client& client);
  TorchSpace& space_of(Client& client, const torch::Request& request);
  const TorchSpace& group_space(const Client& client) const;  // the group whose keys it sees when it requests all keys
  TorchSpace::Send sender();
  void forget(ClientId id, const Client& client);
  void send(ClientId id, std::string bytes);
  void give_up(ClientId id, Client& client, std::string fault);
  std::string refuse(ClientId id, Client& client, std::string fault);  // drops the client; returns no reply
  void count_input(Client& client);
  // Enforces the memory limit if a call for this client has increased the memory from `before`.
  void bound(ClientId id, Client& client, std::size_t before);
  bool give_up_slowest();  // false: no client has many unread replies
  void check_later(TimePoint due);

  std::uint32_t world_size_;
  TorchStoreLimits limits_;
  std::uint64_t joined_ = 0;
  std::optional<TimePoint> first_joined_;
  std::size_t memory_ = 0;  // declared before the spaces, which count in it
  TorchSpace common_;
  std::shared_ptr<Group> newest_;
  std::map<ClientId, Client> clients_;  // ordered, so that the order of actions is reproducible
  std::vector<Effect> effects_;
  std::optional<TimePoint> next_check_;
};

}  // namespace sml::agent
