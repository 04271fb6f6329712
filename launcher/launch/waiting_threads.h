// Threads for what waits: log-ins and name look-ups.
#pragma once
#include <cstdint>
#include <memory>

#include <boost/asio/thread_pool.hpp>

namespace sml::launch {

class WaitingThreads {
 public:
  // At most one for each of `hosts`, and no more than `fanout`.
  WaitingThreads(std::uint32_t fanout, std::size_t hosts) : fanout_(fanout), hosts_(hosts) {}

  // Made when it is first needed.
  boost::asio::thread_pool& pool();
  // A name look-up that is still under way goes on, on a thread that nobody waits for: joining it could take as long as
  // a name server does.
  void leave();

 private:
  std::uint32_t fanout_;
  std::size_t hosts_;
  std::unique_ptr<boost::asio::thread_pool> pool_;
};

}  // namespace sml::launch
