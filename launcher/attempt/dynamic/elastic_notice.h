// How to notify a worker of hvd.elastic that hosts have come or gone: the protocol of Horovod's notification service.
// Pure. Source: horovod/runner/elastic/worker.py and horovod/runner/common/util/network.py of Horovod 0.28: a request
// and its reply are 32 bytes of HMAC-SHA256 over the bytes after the length, that length in 4 bytes, and a pickle.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "common/core/error.h"

namespace sml::attempt {

// Where a worker listens on its host, and the secret that authenticates notices to it.
struct NotificationEndpoint {
  std::uint16_t port = 0;
  std::string secret;
};

// `text`: the worker's value under /worker_addresses, base64 of a pickle of its addresses by interface and its secret.
// Accepts plain data only: a pickle that would call or construct anything is refused. Error (Protocol): what is wrong
// with it, as a part of a sentence.
Result<NotificationEndpoint> read_registration(std::string_view text);

// Returns the bytes of the notice "since `timestamp` (seconds) the hosts are others: some were removed, some added". At
// its next commit a worker acts on it if `timestamp` is later than that of its previous notice. The notice never
// reports only removals: a worker would then go on without the broadcast of the state, for which hosts added since
// would wait forever.
std::string notice(const NotificationEndpoint& endpoint, std::int64_t timestamp);
// Whether `answer` is authentic and acknowledges the notice.
bool is_heard(const NotificationEndpoint& endpoint, std::string_view answer);

}  // namespace sml::attempt
