#include "launcher/transport/blocking_threads.h"

#include <algorithm>

namespace sml::transport {

namespace {
constexpr std::uint32_t kMaxThreads = 64;
}

boost::asio::thread_pool& BlockingThreads::pool() {
  if (!pool_) pool_ = std::make_unique<boost::asio::thread_pool>(std::min<std::size_t>({fanout_, kMaxThreads, hosts_}));
  return *pool_;
}

void BlockingThreads::abandon() {
  if (!pool_) return;
  pool_->stop();
  static_cast<void>(pool_.release());
}

}  // namespace sml::transport
