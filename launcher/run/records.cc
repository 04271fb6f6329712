#include "launcher/run/records.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <map>

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/core/clock.h"
#include "common/core/text.h"
#include "common/os/own_file.h"
#include "launcher/notify/notifier.h"
#include "launcher/os/own_start.h"

namespace sml::run {

namespace {

constexpr int kLastLinesMs = 1000;
constexpr mode_t kReportMode = 0600;

constexpr Duration kForReaders = std::chrono::seconds(10);

// Writes to a non-blocking descriptor. Error (Io) names the file.
Result<void> write_within(int fd, std::string_view text, Duration limit, const std::string& path) {
  const TimePoint end = Clock::now() + limit;
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n > 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
      pollfd ready{fd, POLLOUT, 0};
      if (left > 0 && ::poll(&ready, 1, static_cast<int>(left)) != 0) continue;
      return sys_error(ErrorKind::Io, "cannot write " + path, ETIMEDOUT);
    } else if (errno != EINTR) {
      return sys_error(ErrorKind::Io, "cannot write " + path, errno);
    }
  }
  return {};
}

Result<os::UniqueFd> open_named(const std::string& option, const std::string& path, mode_t mode = 0666) {
  if (path.empty()) return os::UniqueFd();
  Result<os::UniqueFd> file = os::open_own_file(path, {.mode = mode});
  if (!file) return Error(ErrorKind::Usage, option + ": " + file.error().message());
  return file;
}

std::string drawing_for(const std::string& path, const report::Timeline& timeline) {
  return path.ends_with(".html") ? report::timeline_html(timeline) : report::timeline_trace(timeline);
}

// Equal for all names of a file, which need not exist yet; empty for what several may write to, such as /dev/null.
std::string identity(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) {
    return S_ISREG(found.st_mode) ? fmt::format("{} {}", found.st_dev, found.st_ino) : std::string();
  }
  const std::size_t name = path.rfind('/') + 1;
  const std::string folder = name == 0 ? "." : path.substr(0, name);
  if (::stat(folder.c_str(), &found) != 0) return path;
  return fmt::format("{} {} {}", found.st_dev, found.st_ino, path.substr(name));
}

class Names {
 public:
  Result<void> add(const std::string& option, const std::string& path) {
    const std::string name = path.empty() ? path : identity(path);
    if (name.empty()) return {};
    paths_.emplace(whole(path), option);
    const auto [earlier, is_new] = seen_.emplace(name, option);
    return is_new ? Result<void>() : taken(option, path, earlier->second);
  }
  // By their absolute paths alone: there may be very many.
  Result<void> check_logs(const std::vector<std::string>& paths) const {
    for (const std::string& path : paths) {
      const auto earlier = path.empty() ? paths_.end() : paths_.find(whole(path));
      if (earlier != paths_.end()) return taken("--log-dir", path, earlier->second);
    }
    return {};
  }

 private:
  static std::string whole(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::absolute(path, ignored).lexically_normal();
  }
  static Error taken(const std::string& option, const std::string& path, const std::string& earlier) {
    return {ErrorKind::Usage,
            fmt::format("{}: {} is the file of {} already; give each a file of its own", option, show(path), earlier)};
  }

  std::map<std::string, std::string> seen_;   // to the option of each
  std::map<std::string, std::string> paths_;  // absolute ones, likewise
};

Result<void> check_names(const JobOptions& options, const plan::LaunchPlan& plan) {
  Names names;
  Result<void> added = names.add("--report", options.report_file);
  if (added) added = names.add("--results", options.results.file);
  if (added) added = names.add("--events", options.events_file);
  if (added) added = names.add("--trace-protocol", options.protocol_file);
  for (const std::string& path : options.timeline_files) {
    if (added) added = names.add("--timeline", path);
  }
  if (added) added = names.add("--trace", options.observers.trace_file);
  if (added) added = names.add("--metrics-file", options.observers.metrics_file);
  if (added) added = names.add("--failure-file", options.failure.path);
  if (added) added = names.add("--error-file", options.failure.json_path);
  if (added) added = names.add("--exclude-file", options.restart.exclude.file);
  if (added && !options.logs.directory.empty() && options.logs.place != LogPlace::Hosts) {
    const Result<std::vector<std::string>> logs = log_paths(options.logs, options.output.routes, plan);
    if (logs) added = names.check_logs(*logs);
  }
  if (added) added = names.add("--progress-file", options.restart.progress_file);  // which may be a log
  return added;
}

}  // namespace

Result<Records> Records::open(const JobOptions& options, const plan::LaunchPlan& plan) {
  Records records;
  Result<RankLogs> logs = RankLogs::plan(options.logs, options.output, plan);
  if (!logs) return logs.error();
  records.logs_ = std::move(*logs);
  if (Result<void> different = check_names(options, plan); !different) return different.error();
  Result<os::UniqueFd> report = open_named("--report", options.report_file, kReportMode);
  if (!report) return report.error();
  records.report_file_ = {options.report_file, std::move(*report)};
  Result<os::UniqueFd> results = open_named("--results", options.results.file, kReportMode);
  if (!results) return results.error();
  records.results_ = ResultsFile(std::move(*results), options.results.limit);
  Result<HangFolder> hang_folder = HangFolder::open(options.progress.hang_folder);
  if (!hang_folder) return hang_folder.error();
  records.hang_folder_ = std::make_shared<const HangFolder>(std::move(*hang_folder));
  Result<os::UniqueFd> events = open_named("--events", options.events_file);
  if (!events) return events.error();
  records.events_file_ = std::move(*events);
  Result<os::UniqueFd> protocol = open_named("--trace-protocol", options.protocol_file, kReportMode);
  if (!protocol) return protocol.error();
  records.protocol_file_ = std::move(*protocol);
  for (const std::string& path : options.timeline_files) {
    Result<os::UniqueFd> file = open_named("--timeline", path);
    if (!file) return file.error();
    Result<os::RenewedFile> drawn = os::RenewedFile::open(path);
    if (drawn) {
      records.drawn_files_->push_back(std::move(*drawn));
    } else {
      records.timeline_files_.push_back({path, std::move(*file)});
    }
  }
  if (!options.observers.trace_file.empty()) {
    Result<os::RenewedFile> trace = os::RenewedFile::open(options.observers.trace_file);
    if (!trace) return Error(ErrorKind::Usage, "--trace: " + trace.error().message());
    records.trace_file_ = std::make_shared<const os::RenewedFile>(std::move(*trace));
  }
  if (Result<void> told = notify::Notifier::check(options.observers); !told) return told.error();
  Result<metrics::Outlets> outlets = metrics::Outlets::open(options.observers);
  if (!outlets) return outlets.error();
  records.metrics_ = std::move(*outlets);
  return records;
}

Result<void> Records::renew_logs(const JobOptions& options, const plan::LaunchPlan& plan) {
  logs_ = {};
  Result<RankLogs> logs = RankLogs::plan_unchecked(options.logs, options.output, plan);
  if (!logs) return logs.error();
  logs_ = std::move(*logs);
  return {};
}

void Records::begin(const boost::asio::any_io_executor& loop, report::EventFeed& feed, const report::Goodput* goodput,
                    Printer& printer) {
  goodput_ = goodput;
  if (!timeline_files_.empty() || !drawn_files_->empty()) {
    timeline_ = std::make_unique<report::Timeline>();
    feed.add(*timeline_);
  }
  if (!drawn_files_->empty()) {
    drawing_ = std::make_unique<Drawing>(loop);
    arm_drawing(kFirstDrawing);
  }
  if (trace_file_) {
    trace_ = std::make_unique<report::StartTrace>(os::own_start());
    feed.add(*trace_);
  }
  const auto open_stream = [&](const os::UniqueFd& file, const std::string& option) {
    const auto broken = [&printer, option](int sys_errno) {
      printer.print(option + ": cannot write any more: " + errno_text(sys_errno) + "; the job goes on without");
    };
    return std::make_unique<os::OutStream>(loop, file.get(), os::OutStream::Events{[] {}, broken});
  };
  if (protocol_file_) {
    protocol_stream_ = open_stream(protocol_file_, "--trace-protocol");
    protocol_trace_ = std::make_unique<transport::ProtocolTrace>(
        [stream = protocol_stream_.get()](std::string& line) { stream->write(line); });
  }
  if (!events_file_) return;
  events_stream_ = open_stream(events_file_, "--events");
  events_ =
      std::make_unique<report::EventLines>([stream = events_stream_.get()](std::string& line) { stream->write(line); });
  feed.add(*events_);
}

Result<void> Records::start_over(const JobOptions& options, const plan::LaunchPlan& plan) {
  if (timeline_) *timeline_ = report::Timeline();
  if (events_stream_) events_stream_->empty();
  return renew_logs(options, plan);
}

void Records::arm_drawing(Duration after) {
  drawing_->timer.expires_after(after);
  drawing_->timer.async_wait([this](boost::system::error_code error) {
    if (!error) draw();
  });
}

// The side thread gets a copy. A failure is named at the end, if it comes again.
void Records::draw() {
  const TimePoint now = Clock::now();
  if (timeline_->events() == drawing_->events && now - drawing_->at < kIdleDrawing) return arm_drawing(kDrawing);
  drawing_->events = timeline_->events();
  drawing_->at = now;
  const auto copy = std::make_shared<report::Timeline>(*timeline_);
  const auto took = std::make_shared<Duration>();
  if (goodput_ != nullptr) copy->set_goodput(report::goodput_text(goodput_->sums(Clock::now())));
  drawing_->thread.post(
      [copy, took, files = drawn_files_] {
        const TimePoint begin = Clock::now();
        copy->runs_on(begin);
        for (const os::RenewedFile& file : *files) {
          if (!file.renew(drawing_for(file.path(), *copy))) continue;
        }
        *took = Clock::now() - begin;
      },
      [this, took] { arm_drawing(std::max(kDrawing, *took * kLeisure)); });
}

// The side thread may still be busy with a drawing of before.
void Records::draw_last(Printer& printer) {
  drawing_->timer.cancel();
  const auto outcome = std::make_shared<Result<void>>();
  drawing_->thread.post(
      [outcome, copy = *timeline_, files = drawn_files_] {
        for (const os::RenewedFile& file : *files) {
          if (Result<void> drawn = file.renew(drawing_for(file.path(), copy)); !drawn) *outcome = drawn;
        }
      },
      [] {});
  if (!drawing_->thread.finish(kForReaders)) {
    printer.print("--timeline: the file system does not take the last drawing; it is left out");
  } else if (!*outcome) {
    printer.print("--timeline: " + outcome->error().message());
  }
}

// Closes the file on that thread, too: only then does a file server have to take all of it.
void Records::write(NamedFile file, std::string text, const std::string& option, FileWork& files) {
  const auto shared = std::make_shared<NamedFile>(std::move(file));
  files.write(option, [shared, text = std::move(text)] {
    const os::UniqueFd fd = std::move(shared->fd);
    return write_within(fd.get(), text, kForReaders, shared->path);
  });
}

void Records::write_report(std::string text, FileWork& files) {
  write(std::move(report_file_), std::move(text), "--report", files);
}

void Records::finish(FileWork& files, Printer& printer) {
  if (timeline_ && goodput_ != nullptr) timeline_->set_goodput(report::goodput_text(goodput_->sums(Clock::now())));
  for (NamedFile& file : timeline_files_) {
    std::string drawing = drawing_for(file.path, *timeline_);
    write(std::move(file), std::move(drawing), "--timeline", files);
  }
  if (trace_) {
    files.write("--trace", [file = trace_file_, text = trace_->json(Clock::now())] { return file->renew(text); });
  }
  if (drawing_) draw_last(printer);
  results_.flush(kLastLinesMs);
  if (events_stream_) events_stream_->flush(kLastLinesMs);
  if (protocol_stream_) protocol_stream_->flush(kLastLinesMs);
  logs_.flush(std::chrono::milliseconds(kLastLinesMs));
}

}  // namespace sml::run
