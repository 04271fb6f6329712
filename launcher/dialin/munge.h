// Credentials of MUNGE, the authentication service of a cluster, as proof of who is at the other end of a connection.
// Source: munge(1), unmunge(1), munge_strerror(3).
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "common/core/error.h"
#include "common/plan/environment/worker_env.h"
#include "launcher/dialin/peer_proof.h"

namespace sml::dialin {

// The user and the hosts of whom a credential is believed.
struct Credentialed {
  uid_t user = 0;
  // The job's hosts, names of which the first label counts; empty: any host of the cluster.
  std::vector<std::string> hosts;
};

// Checks the output of unmunge for a credential that is valid. Pure. Error (Auth): as PeerProof::check().
Result<void> check_unmunged(std::string_view output, std::string_view claim, const Credentialed& maker);

// Runs munge and unmunge, as found in the PATH of the environment. Null if this host has none that this user can trust,
// or whose service does not answer.
std::shared_ptr<PeerProof> find_munge(const plan::Environment& environment, Credentialed maker);

}  // namespace sml::dialin
