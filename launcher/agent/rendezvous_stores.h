// What the agent of rank 0's host keeps for the rendezvous of all workers: the port, and torch's store behind it.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "common/core/error.h"
#include "common/rendezvous/torch_store.h"
#include "common/wire/messages.h"
#include "launcher/agent/rendezvous_port.h"
#include "launcher/agent/store_server.h"

namespace sml::agent {

class RendezvousStores {
 public:
  using Report = std::function<void(const std::string&)>;

  // Reserves the port; other hosts can reach it from now on.
  static Result<RendezvousStores> reserve();
  std::uint16_t port() const { return port_.port(); }

  // Begins to serve, or leaves the port to the workers. `report` gets sentences about callers who break the rules; it
  // and the loop outlive this.
  void serve(boost::asio::io_context& loop, const wire::Stores& stores, Report report);
  void suspend();
  void resume();
  // Reports what has only been counted so far.
  void sum_up() const;

 private:
  struct Torch {
    Torch(boost::asio::io_context& loop, os::UniqueFd listener, const wire::Stores& stores,
          StoreServer::Settings settings)
        : store(stores.world_size), server(loop, std::move(listener), store, std::move(settings)) {}
    rendezvous::TorchStore store;
    StoreServer server;
  };

  RendezvousPort port_;
  Report report_;
  std::unique_ptr<Torch> torch_;
};

}  // namespace sml::agent
