// Tells the progress of the job to Kubeflow's status server, and prints it in lines for SageMaker's algorithm metrics.
// Nothing waits for it while the job runs. Lives on the loop's thread.
//
// The server gets what is new at most once in kLeastBetween, and the end of the job besides. The token is read for each
// message, and the authorities are read again when the platform has renewed their file. The server is believed only
// with TLS.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/error.h"
#include "common/os/side_thread.h"
#include "launcher/notify/deliver.h"
#include "launcher/notify/progress_facts.h"
#include "launcher/notify/push_machine.h"
#include "launcher/options/observer_options.h"
#include "launcher/report/events/event_feed.h"
#include "launcher/report/live/goodput.h"

namespace sml::notify {

class ProgressPusher final : public report::EventListener {
 public:
  static constexpr Duration kLeastBetween = std::chrono::seconds(15);
  static constexpr Duration kLeastBetweenLines = std::chrono::seconds(60);
  static constexpr Duration kLastPatience = std::chrono::seconds(2);  // for the last message

  // `options` and `goodput` must outlive this.
  struct Deps {
    const StatusServer& server;
    ProgressLines lines = ProgressLines::No;
    const report::Goodput& goodput;
    std::function<void(const std::string&)> print;
  };
  ProgressPusher(const boost::asio::any_io_executor& loop, Deps job);

  // Begins to look for progress.
  void begin();
  void on_event(const report::Event& event) override;
  // After the last event: begins to tell the end.
  void tell_end();
  // Waits for the server to take it, until kLastPatience after tell_end().
  void finish();

 private:
  void arm();
  void look();
  void push();
  void complain(const std::string& why);
  ProgressFacts facts() const;

  Deps deps_;
  std::uint32_t attempt_ = 1;
  ProgressFacts::Job job_ = ProgressFacts::Job::Runs;
  PushMachine server_pace_{kLeastBetween};
  PushMachine line_pace_{kLeastBetweenLines};
  boost::asio::steady_timer timer_;
  std::shared_ptr<ReadAuthorities> authorities_ = keep_authorities();  // used on the thread
  std::shared_ptr<Result<void>> end_;                                  // of the last message; null: none was sent
  TimePoint end_due_{};
  os::SideThread thread_;
};

// Reads the token and posts the body. Blocks, for about the limit; any thread, one at a time for `kept`. Error: a
// clause.
Result<void> push_status(const StatusServer& server, const std::string& body, Duration limit,
                         const std::shared_ptr<ReadAuthorities>& kept = nullptr);

}  // namespace sml::notify
