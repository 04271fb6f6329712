#include "launcher/attempt/rendezvous/mpi_singleton_watch.h"

#include <utility>

#include "launcher/attempt/rendezvous/mpi_singleton.h"

namespace sml::attempt {

// All hosts report the same for one program, so only one of them is named.
bool MpiSingletonWatch::refuses(HostIndex host, const wire::Prepared& message) {
  for (const wire::MpiUse& use : message.mpi) {
    if (!found_ || use.rank < found_->use.rank) found_ = Found{host, use};
  }
  return !message.mpi.empty() && options_.mpi_singleton == MpiSingleton::Refused;
}

void MpiSingletonWatch::starts() {
  if (found_) static_cast<void>(found(plan_.map.hosts[found_->host.value()].host.name, found_->use));
}

std::optional<Error> MpiSingletonWatch::found(const std::string& host, const wire::MpiUse& use) {
  if (options_.mpi_singleton != MpiSingleton::Warned) return mpi_singleton_refusal(use, host, plan_.mpi);
  const bool told = std::exchange(has_warned_, true) || options_.verbosity == Verbosity::Quiet;
  if (!told) owner_.print("warning: " + mpi_singleton_warning(use, host, plan_.mpi));
  return std::nullopt;
}

std::optional<MpiSingletonWatch::Refusal> MpiSingletonWatch::refusal() const {
  if (!found_ || options_.mpi_singleton != MpiSingleton::Refused) return std::nullopt;
  return Refusal{found_->host, mpi_singleton_refusal(found_->use, {}, plan_.mpi)};
}

}  // namespace sml::attempt
