#include "launcher/attempt/rendezvous/mpi_singleton_watch.h"

#include <utility>

#include "launcher/attempt/rendezvous/mpi_singleton.h"

namespace sml::attempt {

// All hosts report the same for one program, so only one of them is named.
bool LoneMpiWatch::refuses(HostIndex host, const wire::Prepared& message) {
  for (const wire::MpiUse& use : message.mpi) {
    if (!found_ || use.rank < found_->use.rank) found_ = Found{host, use};
  }
  return !message.mpi.empty() && options_.lone_mpi == MpiSingleton::Refused;
}

void LoneMpiWatch::starts() {
  if (found_) static_cast<void>(found(plan_.map.hosts[found_->host.value()].host.name, found_->use));
}

std::optional<Error> LoneMpiWatch::found(const std::string& host, const wire::MpiUse& use) {
  if (options_.lone_mpi != MpiSingleton::Warned) return lone_mpi_refusal(use, host, plan_.mpi);
  const bool told = std::exchange(has_warned_, true) || options_.verbosity == Verbosity::Quiet;
  if (!told) owner_.print("warning: " + lone_mpi_warning(use, host, plan_.mpi));
  return std::nullopt;
}

std::optional<LoneMpiWatch::Refusal> LoneMpiWatch::refusal() const {
  if (!found_ || options_.lone_mpi != MpiSingleton::Refused) return std::nullopt;
  return Refusal{found_->host, lone_mpi_refusal(found_->use, {}, plan_.mpi)};
}

}  // namespace sml::attempt
