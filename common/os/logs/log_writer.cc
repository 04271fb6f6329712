#include "common/os/logs/log_writer.h"

namespace sml::os {

namespace {

void note(std::vector<Error>& faults, const Result<void>& done) {
  if (!done) faults.push_back(done.error());
}

}  // namespace

LogWriter::LogWriter(boost::asio::any_io_executor loop, LogFiles files, Events events)
    : events_(std::move(events)),
      files_(std::make_shared<LogFiles>(std::move(files))),
      count_(files_->count()),
      side_(std::move(loop)) {}

void LogWriter::post(std::function<std::vector<Error>(LogFiles&)> work, std::function<void()> then) {
  ++under_way_;
  const auto faults = std::make_shared<std::vector<Error>>();
  side_.post([files = files_, faults, work = std::move(work)] { *faults = work(*files); },
             [this, faults, then = std::move(then)] {
               --under_way_;
               for (const Error& fault : *faults) events_.failed(fault);
               then();
               events_.caught_up();
             });
}

void LogWriter::create(std::function<void()> then) {
  post(
      [](LogFiles& files) {
        std::vector<Error> faults;
        note(faults, files.create());
        return faults;
      },
      std::move(then));
}

void LogWriter::add(std::vector<std::string> paths) {
  count_ += paths.size();
  post(
      [paths = std::move(paths)](LogFiles& files) {
        std::vector<Error> faults;
        note(faults, files.add(paths));
        return faults;
      },
      [] {});
}

void LogWriter::write(LogFiles::Index file, std::string_view bytes) {
  pending_ += bytes.size();
  if (gathered_.empty() || gathered_.back().first != file) gathered_.emplace_back(file, std::string());
  gathered_.back().second += bytes;
  if (!writing_) hand_over();
}

void LogWriter::hand_over() {
  if (gathered_.empty()) return;
  writing_ = true;
  const auto pieces = std::make_shared<const std::vector<Piece>>(std::exchange(gathered_, {}));
  post(
      [pieces](LogFiles& files) {
        std::vector<Error> faults;
        for (const auto& [file, bytes] : *pieces) note(faults, files.write(file, bytes));
        return faults;
      },
      [this, pieces] {
        for (const auto& [file, bytes] : *pieces) pending_ -= bytes.size();
        writing_ = false;
        hand_over();
      });
}

void LogWriter::flush(Duration limit) {
  hand_over();
  static_cast<void>(side_.finish(limit));
}

}  // namespace sml::os
