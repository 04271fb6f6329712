#include "launcher/transport/blocking_threads.h"

#include <condition_variable>
#include <mutex>
#include <set>

#include <boost/asio/post.hpp>

#include "tests/support/catch.h"
#include "tests/support/watchdog.h"

using namespace sml;

namespace {

// Returns the number of threads that do the work of so many hosts, where each piece of work waits until `together` have
// begun.
std::size_t threads_for(transport::BlockingThreads& threads, std::size_t hosts, std::size_t together) {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<std::thread::id> used;
  std::size_t begun = 0;
  std::size_t done = 0;
  std::unique_lock lock(mutex);
  for (std::size_t host = 0; host < hosts; ++host) {
    boost::asio::post(threads.pool(hosts), [&] {
      std::unique_lock own(mutex);
      used.insert(std::this_thread::get_id());
      ++begun;
      changed.notify_all();
      if (!changed.wait_for(own, fake::watchdog(), [&] { return begun >= together; })) together = 0;
      ++done;
      changed.notify_all();
    });
  }
  changed.wait(lock, [&] { return done == hosts; });
  CHECK(together > 0);
  return used.size();
}

}  // namespace

TEST_CASE("hosts that come later get threads of their own, up to the limit", "[threads]") {
  transport::BlockingThreads threads(80);
  CHECK(threads_for(threads, 1, 1) == 1);
  CHECK(threads_for(threads, 70, 70) == 70);
  CHECK(threads_for(threads, 100, 80) <= 80);
}
