// --notify: tells commands and URLs what happens to the job. Nothing waits for them while the job runs.
//
// Each target has a side thread, so that one that hangs delays no other, and gets one notification at a time, in order.
// Lives on the loop's thread.
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
  static constexpr std::size_t kMostWaiting = 64;                     // for one target; further ones are dropped
  static constexpr Duration kLastPatience = std::chrono::seconds(3);  // for all that is left when the job is over

  using Print = std::function<void(const std::string&)>;

  // Checks the targets. Error (Usage): names the option, the target and why.
  static Result<void> check(const ObserverOptions& options);

  // `options` must outlive this. The targets must have been checked.
  Notifier(const boost::asio::any_io_executor& loop, const ObserverOptions& options, Print print);
  ~Notifier() override;

  void on_event(const report::Event& event) override;
  // After the last event: waits for what is still to be delivered, for kLastPatience in all.
  void finish();

 private:
  struct Target;
  void told(Target& target, const Result<void>& outcome);
  void complain(Target& target, const std::string& why);

  Print print_;
  NoticeMaker maker_;
  std::vector<std::unique_ptr<Target>> targets_;
};

}  // namespace sml::notify
