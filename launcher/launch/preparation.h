// What a host has to do before its agent may start, such as an installation: on a thread of its own, so that whoever
// waits for it hears everything else meanwhile.
#pragma once
#include <functional>
#include <memory>
#include <thread>

#include <boost/asio/any_io_executor.hpp>

#include "common/core/error.h"

namespace sml::launch {

class Chore {
 public:
  virtual ~Chore() = default;
  // Blocks. Called once.
  virtual Result<void> run() = 0;
  // From another thread, at any time: run() returns soon, and what it has started has ended.
  virtual void cancel() = 0;
};

// Destroying it cancels the chore.
class Preparation {
 public:
  // `chore` outlives this. `done` is called once, on the loop thread; not after this has gone.
  Preparation(const boost::asio::any_io_executor& loop, Chore& chore, std::function<void(Result<void>)> done);
  ~Preparation();
  Preparation(const Preparation&) = delete;
  Preparation& operator=(const Preparation&) = delete;

 private:
  Chore& chore_;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
  std::thread thread_;
};

}  // namespace sml::launch
