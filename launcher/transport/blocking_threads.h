// Threads for blocking work: log-ins and name look-ups. Used on the loop thread.
#pragma once
#include <cstdint>
#include <memory>

#include <boost/asio/thread_pool.hpp>

namespace sml::transport {

class BlockingThreads {
 public:
  // As many threads as `hosts`, the number of hosts at the start, but at most `fanout`, and at most 64.
  BlockingThreads(std::uint32_t fanout, std::size_t hosts) : fanout_(fanout), hosts_(hosts) {}

  // Created on first use.
  boost::asio::thread_pool& pool();
  // Stops the pool without joining its threads, and leaks it: a pending name look-up goes on, and joining its thread
  // could take as long as the name server does.
  void abandon();

 private:
  std::uint32_t fanout_;
  std::size_t hosts_;
  std::unique_ptr<boost::asio::thread_pool> pool_;  // null before first use, and after abandon()
};

}  // namespace sml::transport
