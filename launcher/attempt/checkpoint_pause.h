// --checkpoint-signal: the time that workers have to save what they have, before they are told to end.
#pragma once
#include <functional>
#include <memory>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "launcher/fleet/fleet.h"
#include "launcher/options/job_options.h"

namespace sml::attempt {

class CheckpointPause {
 public:
  // What is given outlives this.
  CheckpointPause(const boost::asio::any_io_executor& loop, const StopOptions& options, fleet::Fleet& fleet)
      : options_(options), fleet_(fleet), timer_(loop) {}

  // How long it may be; zero: there is to be none.
  Duration most() const { return options_.checkpoint ? options_.checkpoint->most : Duration::zero(); }
  // All workers get the signal; `over` is called when the time has passed, unless end() comes first.
  void begin(std::function<void()> over);
  bool is_on() const { return over_ != nullptr; }
  // It need not be waited for any more; what was left of it.
  Duration end();

 private:
  const StopOptions& options_;
  fleet::Fleet& fleet_;
  boost::asio::steady_timer timer_;
  std::function<void()> over_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sml::attempt
