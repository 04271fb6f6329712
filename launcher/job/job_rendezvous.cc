// What a Job does for the rendezvous of the workers: who serves it, for whom, and until when.
#include <algorithm>

#include "launcher/job/job.h"

namespace sml::job {

// Every address from which a worker may call rank 0's host.
std::vector<std::string> Job::job_addresses() const {
  std::vector<std::string> out = rank0_addresses();
  for (const HostEntry& host : hosts_) {
    out.insert(out.end(), host.info.addresses.begin(), host.info.addresses.end());
    if (!host.session->peer_address().empty()) out.push_back(host.session->peer_address());
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// On every host; the first serves the stores.
void Job::start_workers() {
  const plan::Rendezvous rendezvous{.address = master_address_,
                                    .port = master_port_,
                                    .horovod_port = horovod_port_,
                                    .torch_store = options_.torch_store};
  wire::Start start{.rendezvous = plan::rendezvous_environment(rendezvous)};
  for (std::size_t i = 1; i < hosts_.size(); ++i) hosts_[i].session->start_workers(start);
  start.stores = {options_.torch_store, plan_.map.world_size(), job_addresses()};
  if (hosts_.size() > 1) start.leave = wire::Leave::WhenReleased;
  hosts_.front().session->start_workers(start);
}

// The stores on rank 0's host are needed until every other host is done.
void Job::release_stores() {
  const auto ended = [](const HostEntry& h) { return h.session->ended(); };
  if (std::all_of(hosts_.begin() + 1, hosts_.end(), ended)) hosts_.front().session->send(wire::Release{});
}

}  // namespace sml::job
