#include "launcher/job/records.h"

#include "common/os/small_file.h"

namespace sml::job {

namespace {

constexpr int kLastLinesMs = 1000;

Result<os::UniqueFd> open_named(const std::string& option, const std::string& path) {
  if (path.empty()) return os::UniqueFd();
  Result<os::UniqueFd> file = os::open_for_output(path);
  if (!file) return Error(ErrorKind::Usage, option + ": " + file.error().message());
  return file;
}

}  // namespace

Result<Records> Records::open(const Options& options, const plan::LaunchPlan& plan) {
  Records records;
  Result<RankLogs> logs = RankLogs::plan(options.logs, plan);
  if (!logs) return logs.error();
  records.logs_ = std::move(*logs);
  Result<os::UniqueFd> events = open_named("--events", options.events_file);
  if (!events) return events.error();
  records.events_file_ = std::move(*events);
  return records;
}

void Records::begin(const boost::asio::any_io_executor& loop, report::EventFeed& feed, const Say& say) {
  if (!events_file_) return;
  const auto broken = [say](int sys_errno) {
    say("--events: cannot write any more: " + errno_text(sys_errno) + "; the job goes on without");
  };
  events_stream_ = std::make_unique<os::OutStream>(loop, events_file_.get(), os::OutStream::Handlers{[] {}, broken});
  events_ =
      std::make_unique<report::EventLines>([stream = events_stream_.get()](std::string& line) { stream->write(line); });
  feed.add(*events_);
}

void Records::finish() {
  if (events_stream_) events_stream_->flush(kLastLinesMs);
}

}  // namespace sml::job
