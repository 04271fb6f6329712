// The stores that the agent of rank 0's host runs for the rendezvous of all workers, each on its own port.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "launcher/agent/core/host_service.h"
#include "launcher/agent/core/rendezvous_port.h"
#include "launcher/agent/stores/connection_authorizer.h"
#include "launcher/agent/stores/engine.h"
#include "launcher/agent/stores/horovod_store.h"
#include "launcher/agent/stores/store_server.h"
#include "launcher/agent/stores/torch_store.h"

namespace sml::agent {

// The service that authorizes the connections to all stores of this agent. It must start before them.
class StoreAuthorization final : public HostService {
 public:
  explicit StoreAuthorization(const ServiceContext& context) : context_(context) {}
  Result<void> check(wire::Prepared&) override { return {}; }
  void start(const wire::Start&) override;
  void handle(const wire::ToAgent& message) override;

  ConnectionAuthorizer& authorizer() { return *authorizer_; }  // call after start()

 private:
  const ServiceContext& context_;
  std::unique_ptr<ConnectionAuthorizer> authorizer_;
};

// The common part of the stores. check() reserves a port: processes within `reach` can connect to it from then on, and
// are served once the service has started. If the port is left to the workers, it refuses connections from
// others_start() on: a program whose connection is refused tries again, while a connection that the kernel had accepted
// here would be cut off when the port is closed.
class StoreService : public HostService {
 public:
  // `authorization` must outlive this object.
  StoreService(const ServiceContext& context, StoreAuthorization& authorization, wire::ServiceReach reach)
      : context_(context), authorization_(authorization), reach_(reach) {}

  Result<void> check(wire::Prepared& answer) override;
  void others_start(const wire::Start& message) override;
  void start(const wire::Start& message) override;
  void sum_up() override;
  void suspend() override;
  void resume() override;

 protected:
  virtual wire::ServiceKind kind() const = 0;
  virtual const char* name() const = 0;  // for messages
  // True if a worker serves the store at this port, and this agent does not.
  virtual bool leaves_port(const wire::Stores&) const { return false; }
  // Makes the engine; called once, if this agent serves.
  virtual Engine& open(const wire::Stores& stores) = 0;
  void close() { server_.reset(); }  // call before the engine is destroyed
  // Call after the engine has been changed other than by a client: it may have something to send.
  void engine_changed();
  // Lets workers of added hosts connect. `hosts`: their numeric addresses.
  void admit(const std::vector<std::string>& hosts);
  const ServiceContext& context() const { return context_; }

 private:
  const ServiceContext& context_;
  StoreAuthorization& authorization_;
  wire::ServiceReach reach_;
  RendezvousPort port_;
  std::optional<StoreServer> server_;
};

// Serves torch's TCPStore, unless the plan leaves the port to rank 0.
class TorchStoreService final : public StoreService {
 public:
  using StoreService::StoreService;
  ~TorchStoreService() override { close(); }
  std::optional<Joiners> joiners() const override;

 private:
  wire::ServiceKind kind() const override { return wire::ServiceKind::TorchStore; }
  const char* name() const override { return "torch's store"; }
  bool leaves_port(const wire::Stores& stores) const override { return stores.torch == plan::TorchStore::OfRank0; }
  Engine& open(const wire::Stores& stores) override;

  std::optional<TorchStore> store_;  // nullopt: not started, or not served here
};

// Serves Horovod's store. For an elastic job it reports the workers' requests to the launcher (HorovodNews) and gives
// them the numbers that the launcher sends (HorovodRound).
class HorovodStoreService final : public StoreService, private ElasticWorkers {
 public:
  using StoreService::StoreService;
  ~HorovodStoreService() override { close(); }
  void handle(const wire::ToAgent& message) override;

 private:
  // ElasticWorkers
  void registered(std::string_view slot, std::string_view body) override;
  void wants_numbers(std::string_view slot) override { send_news(wire::HorovodStep::Ready, slot, {}); }
  void send_news(wire::HorovodStep step, std::string_view slot, std::string_view registration) const;

  wire::ServiceKind kind() const override { return wire::ServiceKind::HorovodStore; }
  const char* name() const override { return "Horovod's store"; }
  Engine& open(const wire::Stores& stores) override;

  HorovodStore store_;
};

}  // namespace sml::agent
