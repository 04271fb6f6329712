// The pause of --checkpoint-signal, in which workers may save their state before they are asked to end.
#pragma once
#include <functional>
#include <memory>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "launcher/fleet/fleet.h"
#include "launcher/options/job_options.h"

namespace sml::attempt {

class PreStopCheckpoint {
 public:
  // The arguments outlive this.
  PreStopCheckpoint(const boost::asio::any_io_executor& loop, const StopOptions& options, fleet::Fleet& fleet)
      : options_(options), fleet_(fleet), timer_(loop) {}

  // The longest pause; zero: no pause.
  Duration most() const { return options_.checkpoint ? options_.checkpoint->most : Duration::zero(); }
  // Sends the signal of the options to all workers; calls `over`, from the loop, after most(), unless end() is called
  // first. Call only if most() is above zero.
  void begin(std::function<void()> over);
  bool is_on() const { return over_ != nullptr; }
  // Ends the pause without calling `over`; returns the time that was left, zero if there is no pause.
  Duration end();

 private:
  const StopOptions& options_;
  fleet::Fleet& fleet_;
  boost::asio::steady_timer timer_;
  std::function<void()> over_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sml::attempt
