#include "launcher/agent/rendezvous_stores.h"

#include "common/os/fd.h"

namespace sml::agent {

Result<RendezvousStores> RendezvousStores::reserve() {
  Result<RendezvousPort> port = RendezvousPort::reserve();
  if (!port) return port.error();
  RendezvousStores stores;
  stores.port_ = std::move(*port);
  return stores;
}

void RendezvousStores::serve(boost::asio::io_context& loop, const wire::Stores& stores, Report report) {
  report_ = std::move(report);
  if (stores.torch == plan::TorchStore::OfRank0) return port_.stop_listening();
  torch_ = std::make_unique<Torch>(
      loop, port_.take_listener(), stores,
      StoreServer::Settings{.name = "torch's store",
                            .hosts = stores.hosts,
                            .most_clients = os::descriptor_limit() / 2,  // the rest is for workers
                            .report = report_});
}

void RendezvousStores::suspend() {
  if (torch_) torch_->server.suspend();
}

void RendezvousStores::resume() {
  if (torch_) torch_->server.resume();
}

void RendezvousStores::sum_up() const {
  const std::string summary = torch_ ? torch_->server.summary() : "";
  if (!summary.empty()) report_(summary);
}

}  // namespace sml::agent
