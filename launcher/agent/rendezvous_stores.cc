#include "launcher/agent/rendezvous_stores.h"

#include "common/os/fd.h"

namespace sml::agent {

Result<RendezvousStores> RendezvousStores::reserve(Reach reach) {
  Result<RendezvousPort> port = RendezvousPort::reserve(reach);
  if (!port) return port.error();
  Result<RendezvousPort> horovod_port = RendezvousPort::reserve(reach);
  if (!horovod_port) return horovod_port.error();
  RendezvousStores stores;
  stores.port_ = std::move(*port);
  stores.horovod_port_ = std::move(*horovod_port);
  return stores;
}

StoreServer::Settings RendezvousStores::settings(std::string name, const wire::Stores& stores) const {
  constexpr std::size_t kShare = 3;  // of the descriptors: a third for each store, the rest for the workers
  return {.name = std::move(name),
          .hosts = stores.hosts,
          .most_clients = os::descriptor_limit() / kShare,
          .report = report_};
}

void RendezvousStores::serve(boost::asio::io_context& loop, const wire::Stores& stores, LocalCallers& local,
                             Doorkeeper::Send ask, Report report) {
  report_ = std::move(report);
  door_ = std::make_unique<Doorkeeper>(loop, local, own_addresses(), std::move(ask));
  horovod_ =
      std::make_unique<Horovod>(loop, horovod_port_.take_listener(), *door_, settings("Horovod's store", stores));
  if (stores.torch == plan::TorchStore::OfRank0) return port_.stop_listening();
  torch_ = std::make_unique<Torch>(loop, port_.take_listener(), stores, *door_, settings("torch's store", stores));
}

void RendezvousStores::ruled(const wire::Ruled& m) {
  if (door_) door_->ruled(m);
}

void RendezvousStores::suspend() {
  if (torch_) torch_->server.suspend();
  if (horovod_) horovod_->server.suspend();
}

void RendezvousStores::resume() {
  if (torch_) torch_->server.resume();
  if (horovod_) horovod_->server.resume();
}

wire::Joined RendezvousStores::joined(TimePoint now) const {
  wire::Joined out;
  if (!torch_ || !torch_->store.first_joined()) return out;
  const Duration since = now - *torch_->store.first_joined();
  out.count = torch_->store.joined();
  out.since_first_ms = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
  return out;
}

void RendezvousStores::sum_up() const {
  for (const StoreServer* server : {torch_ ? &torch_->server : nullptr, horovod_ ? &horovod_->server : nullptr}) {
    if (server == nullptr) continue;
    if (const std::string summary = server->summary(); !summary.empty()) report_(summary);
  }
}

}  // namespace sml::agent
