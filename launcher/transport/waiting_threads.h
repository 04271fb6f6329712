// Threads for blocking work: log-ins and name look-ups.
#pragma once
#include <cstdint>
#include <memory>

#include <boost/asio/thread_pool.hpp>

namespace sml::transport {

class WaitingThreads {
 public:
  // At most one thread per host, and at most `fanout`.
  WaitingThreads(std::uint32_t fanout, std::size_t hosts) : fanout_(fanout), hosts_(hosts) {}

  // Created on first use.
  boost::asio::thread_pool& pool();
  // Abandons the threads: a pending name look-up goes on, on a thread that is not joined, because joining could take as
  // long as a name server does.
  void leave();

 private:
  std::uint32_t fanout_;
  std::size_t hosts_;
  std::unique_ptr<boost::asio::thread_pool> pool_;
};

}  // namespace sml::transport
