#include "launcher/transport/blocking_threads.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace sml::transport {

BlockingThreads::~BlockingThreads() {
  if (pool_) pool_->stop();
  for (std::thread& thread : threads_) thread.join();
}

boost::asio::thread_pool& BlockingThreads::pool(std::size_t hosts) {
  if (!pool_) pool_ = std::make_unique<boost::asio::thread_pool>(0);
  const auto attach = [pool = pool_.get()] { pool->attach(); };
  try {
    while (threads_.size() < std::min<std::size_t>(most_, hosts)) threads_.emplace_back(attach);
  } catch (const std::system_error&) {  // no more processes or memory
    if (threads_.empty()) throw;
  }
  return *pool_;
}

void BlockingThreads::abandon() {
  if (!pool_) return;
  pool_->stop();
  static_cast<void>(pool_.release());
  for (std::thread& thread : std::exchange(threads_, {})) thread.detach();
}

}  // namespace sml::transport
