// Credentials of MUNGE, the authentication service of a cluster, as a peer proof: they show which user, on which host,
// is at the other end of a connection.
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

// A credential is accepted only if this user has made it, on one of these hosts.
struct Credentialed {
  uid_t user = 0;
  // The job's hosts, as names or addresses; only the first label of a name counts. Empty: any host of the cluster.
  std::vector<std::string> hosts;
};

// Checks the output of unmunge: whether the credential is valid, was made for `claim` and is one of `maker`. Pure.
// Error (Auth): as PeerProof::check().
Result<void> check_unmunged(std::string_view output, std::string_view claim, const Credentialed& maker);

// A proof that runs munge and unmunge, as found in the PATH of the environment. Null if this host has no such programs
// that this user can trust, or if MUNGE's service does not answer; blocks while it tries that.
std::shared_ptr<PeerProof> find_munge(const plan::Environment& environment, Credentialed maker);

}  // namespace sml::dialin
