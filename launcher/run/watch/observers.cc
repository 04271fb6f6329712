#include "launcher/run/watch/observers.h"

#include <utility>

#include "common/core/clock.h"

namespace sml::run {

namespace {

constexpr Duration kLastWrite = std::chrono::seconds(1);

}  // namespace

Observers::Observers(const boost::asio::any_io_executor& loop, Deps deps)
    : loop_(loop),
      deps_(deps),
      notifier_(loop, deps_.options.observers, [this](const std::string& text) { deps_.printer.print(text); }),
      metrics_(deps_.progress.so_far(), deps_.progress.goodput()),
      file_timer_(loop),
      writer_(loop) {}

void Observers::begin(report::EventFeed& feed, metrics::Outlets outlets) {
  if (!deps_.options.observers.notify.empty()) feed.add(notifier_);
  begin_pushes(feed);
  if (!outlets.endpoint.is_open() && !outlets.file) return;
  feed.add(metrics_);
  if (outlets.endpoint.is_open()) {
    if (deps_.options.verbosity != Verbosity::Quiet) deps_.printer.print("metrics are at " + outlets.endpoint.url());
    server_ = std::make_unique<metrics::MetricsServer>(
        loop_, std::move(outlets.endpoint),
        [this](metrics::Format format, std::function<void(std::string)> done) { render(format, std::move(done)); });
  }
  file_ = std::move(outlets.file);
  if (file_) arm_timer();
}

void Observers::begin_pushes(report::EventFeed& feed) {
  const ObserverOptions& options = deps_.options.observers;
  const bool is_quiet = deps_.options.verbosity == Verbosity::Quiet;
  const ProgressLines lines = is_quiet ? ProgressLines::No : options.progress_lines;
  const report::Goodput* goodput = deps_.progress.goodput();
  if (goodput == nullptr || (options.status_server.url.empty() && lines == ProgressLines::No)) return;
  pusher_ = std::make_unique<notify::ProgressPusher>(
      loop_, notify::ProgressPusher::Deps{options.status_server, lines, *goodput,
                                          [this](const std::string& text) { deps_.printer.print(text); }});
  feed.add(*pusher_);
  pusher_->begin();
}

void Observers::render(metrics::Format format, std::function<void(std::string)> done) {
  deps_.usage.ask_sums([this, format, done = std::move(done)](const report::LiveUses& uses) {
    uses_ = uses;
    looked_ = Clock::now();
    looked_attempt_ = deps_.progress.so_far().attempt();
    done(metrics_.text(format, *looked_, uses_));
  });
}

void Observers::arm_timer() {
  file_timer_.expires_after(kFileInterval);
  file_timer_.async_wait([this](boost::system::error_code error) {
    if (error) return;
    renew_file();
    arm_timer();
  });
}

// Not while a slow file system still writes the one before.
void Observers::renew_file() {
  if (file_is_written_) return;
  file_is_written_ = true;
  const TimePoint now = Clock::now();
  const bool is_recent = looked_ && now - *looked_ < kFileInterval / 2;
  if (is_recent && looked_attempt_ == deps_.progress.so_far().attempt()) {
    return write_file(metrics_.text(metrics::Format::Text, now, uses_));
  }
  render(metrics::Format::Text, [this](std::string text) { write_file(std::move(text)); });
}

void Observers::write_file(std::string text) {
  file_is_written_ = true;
  auto outcome = std::make_shared<Result<void>>();
  writer_.post([file = file_, text = std::move(text), outcome] { *outcome = file->renew(text); },
               [this, outcome] {
                 file_is_written_ = false;
                 if (*outcome || std::exchange(told_of_file_, true)) return;
                 deps_.printer.print("--metrics-file: " + outcome->error().message() + "; the job goes on");
               });
}

void Observers::send_end() {
  server_.reset();
  if (pusher_) pusher_->send_end();
  if (!file_) return;
  file_timer_.cancel();
  write_file(metrics_.text(metrics::Format::Text, Clock::now(), {}));
}

void Observers::finish() {
  if (pusher_) pusher_->finish();
  if (file_) writer_.finish(kLastWrite);
  notifier_.finish();
}

}  // namespace sml::run
