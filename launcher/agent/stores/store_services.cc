#include "launcher/agent/stores/store_services.h"

#include "common/os/fd.h"
#include "common/wire/limits.h"

namespace sml::agent {

void StoreAuthorization::start(const wire::Start&) {
  authorizer_ = std::make_unique<ConnectionAuthorizer>(
      context_.system.loop, context_.callers, [this] { return context_.system.network.own_addresses(); },
      context_.attempt, [this](const wire::AskPeerOwnership& ask) { context_.send(ask); });
}

void StoreAuthorization::handle(const wire::ToAgent& message) {
  if (const auto* take_verdicts = std::get_if<wire::PeerVerdicts>(&message); take_verdicts != nullptr && authorizer_)
    authorizer_->take_verdicts(*take_verdicts);
}

Result<void> StoreService::check(wire::Prepared& answer) {
  Result<RendezvousPort> port = context_.system.network.reserve_port(reach_);
  if (!port) return port.error();
  port_ = std::move(*port);
  answer.services.push_back({kind(), port_.port()});
  return {};
}

void StoreService::others_start(const wire::Start& message) {
  if (leaves_port(message.stores)) port_.stop_listening();
}

void StoreService::start(const wire::Start& message) {
  constexpr std::size_t kShare = 3;  // of the descriptors: a third for each store, the rest for the workers
  if (leaves_port(message.stores)) return;
  server_.emplace(context_.system.loop, port_.take_listener(), open(message.stores), authorization_.authorizer(),
                  StoreServer::Settings{.name = name(),
                                        .hosts = message.stores.hosts,
                                        .most_clients = os::descriptor_limit() / kShare,
                                        .report = [this](const std::string& text) { context_.warn(text); }});
}

void StoreService::suspend() {
  if (server_) server_->suspend();
}

void StoreService::resume() {
  if (server_) server_->resume();
}

void StoreService::engine_changed() {
  if (server_) server_->look();
}

void StoreService::admit(const std::vector<std::string>& hosts) {
  if (server_) server_->admit(hosts);
}

void StoreService::sum_up() {
  if (!server_) return;
  if (const std::string summary = server_->summary(); !summary.empty()) context_.warn(summary);
}

Engine& TorchStoreService::open(const wire::Stores& stores) { return store_.emplace(stores.world_size); }

Engine& HorovodStoreService::open(const wire::Stores& stores) {
  if (stores.rounds == wire::HorovodRounds::Yes) store_.set_elastic_workers(*this);
  return store_;
}

void HorovodStoreService::registered(std::string_view slot, std::string_view body) {
  const bool fits = body.size() <= wire::kMaxRegistration;
  send_news(wire::HorovodStep::Registered, slot, fits ? body : std::string_view());
}

void HorovodStoreService::send_news(wire::HorovodStep step, std::string_view slot,
                                    std::string_view registration) const {
  constexpr std::size_t kLongest = 512;  // of a host's name and a number
  if (slot.size() > kLongest) return;
  context().send(wire::HorovodNews{context().attempt, step, std::string(slot), std::string(registration)});
}

void HorovodStoreService::handle(const wire::ToAgent& message) {
  const auto* round = std::get_if<wire::HorovodRound>(&message);
  if (round == nullptr || round->attempt != context().attempt) return;
  admit(round->hosts);
  if (round->keys == wire::HorovodKeys::Forgotten) store_.forget();
  for (const wire::HorovodPlace& place : round->places) store_.number(place.slot, place.numbers);
  engine_changed();
}

std::optional<HostService::Joiners> TorchStoreService::joiners() const {
  if (!store_ || !store_->first_joined()) return std::nullopt;
  return Joiners{store_->joined(), *store_->first_joined()};
}

}  // namespace sml::agent
