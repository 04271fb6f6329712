// What the agent of rank 0's host keeps for the rendezvous of all workers: two ports, with torch's store and Horovod's
// behind them.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "common/core/error.h"
#include "common/rendezvous/horovod_store.h"
#include "common/rendezvous/torch_store.h"
#include "common/wire/messages.h"
#include "launcher/agent/doorkeeper.h"
#include "launcher/agent/rendezvous_port.h"
#include "launcher/agent/store_server.h"

namespace sml::agent {

class RendezvousStores {
 public:
  using Report = std::function<void(const std::string&)>;

  // Reserves the ports; those whom `reach` names can connect to them from now on.
  static Result<RendezvousStores> reserve(Reach reach);
  std::uint16_t port() const { return port_.port(); }
  std::uint16_t horovod_port() const { return horovod_port_.port(); }

  // Begins to serve; torch's port may be left to the workers instead. `report` gets sentences about callers who break
  // the rules; it, the loop and `local` outlive this. `ask` is for the launcher.
  void serve(boost::asio::io_context& loop, const wire::Stores& stores, LocalCallers& local, Doorkeeper::Send ask,
             Report report);
  void ruled(const wire::Ruled& m);
  void suspend();
  void resume();
  // How many have come to torch's store, and when.
  wire::Joined joined(TimePoint now) const;
  // Reports what has only been counted so far.
  void sum_up() const;

 private:
  struct Torch {
    Torch(boost::asio::io_context& loop, os::UniqueFd listener, const wire::Stores& stores, Doorkeeper& door,
          StoreServer::Settings settings)
        : store(stores.world_size), server(loop, std::move(listener), store, door, std::move(settings)) {}
    rendezvous::TorchStore store;
    StoreServer server;
  };
  struct Horovod {
    Horovod(boost::asio::io_context& loop, os::UniqueFd listener, Doorkeeper& door, StoreServer::Settings settings)
        : server(loop, std::move(listener), store, door, std::move(settings)) {}
    rendezvous::HorovodStore store;
    StoreServer server;
  };

  StoreServer::Settings settings(std::string name, const wire::Stores& stores) const;

  RendezvousPort port_;
  RendezvousPort horovod_port_;
  Report report_;
  std::unique_ptr<Doorkeeper> door_;
  std::unique_ptr<Torch> torch_;
  std::unique_ptr<Horovod> horovod_;
};

}  // namespace sml::agent
