#include "launcher/transport/background_task.h"

#include <utility>

#include <boost/asio/post.hpp>

namespace sml::transport {

BackgroundTask::BackgroundTask(const boost::asio::any_io_executor& loop, PreLaunchTask& task,
                               std::function<void(Result<void>)> done)
    : task_(task), thread_([loop, &task, here = here_, done = std::move(done)] {
        Result<void> result = task.run();
        boost::asio::post(loop, [here, done, result = std::move(result)] {
          if (*here) done(result);
        });
      }) {}

BackgroundTask::~BackgroundTask() {
  *here_ = false;
  task_.cancel();
  thread_.join();
}

}  // namespace sml::transport
