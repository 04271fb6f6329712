#include "launcher/launch/preparation.h"

#include <utility>

#include <boost/asio/post.hpp>

namespace sml::launch {

Preparation::Preparation(const boost::asio::any_io_executor& loop, Chore& chore, std::function<void(Result<void>)> done)
    : chore_(chore), thread_([loop, &chore, here = here_, done = std::move(done)] {
        Result<void> result = chore.run();
        boost::asio::post(loop, [here, done, result = std::move(result)] {
          if (*here) done(result);
        });
      }) {}

Preparation::~Preparation() {
  *here_ = false;
  chore_.cancel();
  thread_.join();
}

}  // namespace sml::launch
