#include "launcher/transport/background_task.h"

#include <utility>

#include <boost/asio/post.hpp>

namespace sml::launch {

BackgroundTask::BackgroundTask(const boost::asio::any_io_executor& loop, PreLaunchTask& chore,
                               std::function<void(Result<void>)> done)
    : chore_(chore), thread_([loop, &chore, here = here_, done = std::move(done)] {
        Result<void> result = chore.run();
        boost::asio::post(loop, [here, done, result = std::move(result)] {
          if (*here) done(result);
        });
      }) {}

BackgroundTask::~BackgroundTask() {
  *here_ = false;
  chore_.cancel();
  thread_.join();
}

}  // namespace sml::launch
