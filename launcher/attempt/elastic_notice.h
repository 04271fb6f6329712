// How a worker of hvd.elastic is told that hosts have come, or go: the words of Horovod's notification service. Pure.
// Source: horovod/runner/elastic/worker.py and horovod/runner/common/util/network.py of Horovod 0.28: a request and its
// answer are 32 bytes of HMAC-SHA256 over what follows the length, that length in 4 bytes, and a pickle.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "common/core/error.h"

namespace sml::attempt {

// Where a worker listens on its host, and by what it knows who may tell it something.
struct NoticeDoor {
  std::uint16_t port = 0;
  std::string secret;
};

// `text`: what the worker puts under /worker_addresses, base64 of a pickle of its addresses by interface and its
// secret. Plain data only: what would call or make anything is refused. Error (Protocol): a clause that says what it is
// not.
Result<NoticeDoor> read_registration(std::string_view text);

// "Since `timestamp` (seconds) other hosts are there: some have gone, some have come." A worker heeds it when that is
// later than the last that it was told, at its next commit. It is not told that some have only gone: then it would go
// on without taking part in the broadcast of the state, for which those that have come since would wait for ever.
std::string notice(const NoticeDoor& door, std::int64_t timestamp);
// Whether that answer is the worker's, and says that it has heard.
bool is_heard(const NoticeDoor& door, std::string_view answer);

}  // namespace sml::attempt
