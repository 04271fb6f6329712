#include "launcher/transport/waiting_threads.h"

#include <algorithm>

namespace sml::transport {

namespace {
constexpr std::uint32_t kMaxThreads = 64;
}

boost::asio::thread_pool& WaitingThreads::pool() {
  if (!pool_) pool_ = std::make_unique<boost::asio::thread_pool>(std::min<std::size_t>({fanout_, kMaxThreads, hosts_}));
  return *pool_;
}

void WaitingThreads::leave() {
  if (!pool_) return;
  pool_->stop();
  static_cast<void>(pool_.release());
}

}  // namespace sml::transport
