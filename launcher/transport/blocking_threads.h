// Threads for blocking work: log-ins and name look-ups. Used on the loop thread.
#pragma once
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <boost/asio/thread_pool.hpp>

namespace sml::transport {

class BlockingThreads {
 public:
  // At most `most` threads.
  explicit BlockingThreads(std::uint32_t most) : most_(most) {}
  // Waits for the threads, unless abandon() was called.
  ~BlockingThreads();
  BlockingThreads(const BlockingThreads&) = delete;
  BlockingThreads& operator=(const BlockingThreads&) = delete;

  // The pool, with a thread for each of so many hosts, or as many as are permitted: makes those that are missing. If
  // the system refuses one, those that there are do the work.
  boost::asio::thread_pool& pool(std::size_t hosts);
  // Stops the pool without joining its threads, and leaks it: a pending name look-up goes on, and joining its thread
  // could take as long as the name server does.
  void abandon();

 private:
  std::uint32_t most_;
  std::unique_ptr<boost::asio::thread_pool> pool_;  // null before first use, and after abandon()
  std::vector<std::thread> threads_;                // attached to the pool
};

}  // namespace sml::transport
