// Sends the progress of the job to Kubeflow's status server, and prints it in lines for SageMaker's algorithm metrics.
// The job never waits for the server while it runs. Belongs to the loop's thread; a side thread sends.
//
// The server gets new progress at most once in kLeastBetween, and also the end of the job, unless the last message has
// failed. The token's file is read for each message, and the authorities' file is read again when the platform has
// renewed it. Sends only over TLS (https).
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
  static constexpr Duration kLeastBetween = std::chrono::seconds(15);       // messages to the server
  static constexpr Duration kLeastBetweenLines = std::chrono::seconds(60);  // lines
  static constexpr Duration kLastTimeout = std::chrono::seconds(2);         // for the last message

  // `server` and `goodput` must outlive this object. An empty URL of `server`: sends to no server. `print` gets the
  // lines for SageMaker, and a message if sending fails for the first time.
  struct Deps {
    const StatusServer& server;
    ProgressLines lines = ProgressLines::No;
    const report::Goodput& goodput;
    std::function<void(const std::string&)> print;
  };
  ProgressPusher(const boost::asio::any_io_executor& loop, Deps job);

  // Begins to look for new progress, at most once a second.
  void begin();
  void on_event(const report::Event& event) override;
  // Call after the last event: begins to send the end of the job, and prints the last line. Does not wait.
  void send_end();
  // Call when the loop no longer runs. Blocks until the server has taken the end, at most until kLastTimeout after
  // send_end().
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
  std::shared_ptr<Result<void>> end_;  // the outcome of the message about the end; null: none was sent
  TimePoint end_due_{};
  os::SideThread thread_;
};

// Reads the server's token and posts `body` with it. Blocks, for about `limit`. Any thread, but `kept` must not be used
// by two calls at once; null: the certificates are read for this call alone. The error message is a part of a sentence.
Result<void> push_status(const StatusServer& server, const std::string& body, Duration limit,
                         const std::shared_ptr<ReadAuthorities>& kept = nullptr);

}  // namespace sml::notify
