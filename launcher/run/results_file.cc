#include "launcher/run/results_file.h"

#include <fmt/format.h>

#include <utility>

#include "common/core/error.h"

namespace sml::run {

void ResultsFile::begin(const boost::asio::any_io_executor& loop, Printer& printer,
                        const std::function<void()>& caught_up) {
  if (!file_) return;
  printer_ = &printer;
  const auto broken = [&printer, caught_up](int sys_errno) {
    printer.print("--results: cannot write any more: " + errno_text(sys_errno) + "; the job goes on without");
    caught_up();
  };
  stream_ = std::make_unique<os::OutStream>(loop, file_.get(), os::OutStream::Events{caught_up, broken});
}

void ResultsFile::write(std::uint32_t attempt, Rank rank, std::string_view bytes) {
  if (!stream_) return;
  output::ResultRecords::Piece piece = records_.add(attempt, rank, bytes);
  if (piece.goes_beyond) {
    printer_->print(
        fmt::format("rank {} has written more than {} bytes of results (--results-limit); the rest is dropped",
                    rank.value(), records_.limit()));
  }
  stream_->write(piece.record);
}

void ResultsFile::flush(int limit_ms) {
  if (stream_) stream_->flush(limit_ms);
}

}  // namespace sml::run
