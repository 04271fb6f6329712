// --notify: notifies commands and URLs of the events of the job. The job never waits for a delivery while it runs.
//
// Each target has a side thread, so that one that hangs delays no other. A target gets one notification at a time, in
// order. The Notifier belongs to the loop's thread.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "common/core/error.h"
#include "launcher/notify/notice.h"
#include "launcher/options/observer_options.h"
#include "launcher/report/events/event_feed.h"

namespace sml::notify {

class Notifier final : public report::EventListener {
 public:
  static constexpr std::size_t kMostWaiting = 64;  // notifications for one target; further ones are dropped
  static constexpr Duration kLastTimeout = std::chrono::seconds(3);  // for all deliveries left at the end of the job

  using Print = std::function<void(const std::string&)>;

  // Checks the targets. Error (Usage): names the option, the target and why.
  static Result<void> check(const ObserverOptions& options);

  // `options` must outlive this object; check() must have accepted it. `print` gets, in this call, a warning about each
  // program that comes first in PATH and is not run, and later about the first failed delivery of each target.
  Notifier(const boost::asio::any_io_executor& loop, const ObserverOptions& options, Print print);
  ~Notifier() override;

  void on_event(const report::Event& event) override;
  // Call after the last event, when the loop no longer runs. Blocks until everything is delivered, for at most
  // kLastTimeout in all; prints which targets have not taken everything then.
  void finish();

 private:
  struct Target;
  void on_outcome(Target& target, const Result<void>& outcome);
  void complain(Target& target, const std::string& why);

  Print print_;
  NoticeMaker maker_;
  std::vector<std::unique_ptr<Target>> targets_;
};

}  // namespace sml::notify
