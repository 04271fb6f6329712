// Writes the file of --results: what each rank writes to its descriptor for results.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/any_io_executor.hpp>

#include "common/core/strong.h"
#include "common/os/fd.h"
#include "launcher/os/out_stream.h"
#include "launcher/output/result_records.h"
#include "launcher/run/watch/printer.h"

namespace sml::run {

// Used on the loop's thread. A file that can no longer be written causes one warning; the job goes on.
class ResultsFile {
 public:
  ResultsFile() = default;  // without a file: drops everything
  // `limit`: bytes that a rank may write in an attempt.
  ResultsFile(os::UniqueFd file, std::uint64_t limit) : file_(std::move(file)), records_(limit) {}

  // Never waits for a slow reader of a pipe. `printer`, which prints warnings, must outlive this. `caught_up` is called
  // when pending() is 0 again, or the file cannot be written any more.
  void begin(const boost::asio::any_io_executor& loop, Printer& printer, const std::function<void()>& caught_up);
  // `attempt` counts from 1. Bytes beyond the limit of the rank are dropped, with one message.
  void write(std::uint32_t attempt, Rank rank, std::string_view bytes);
  std::size_t pending() const { return stream_ ? stream_->pending() : 0; }  // bytes that are not yet in the file
  // For the end of the program: as OutStream::flush().
  void flush(int limit_ms);

 private:
  os::UniqueFd file_;
  output::ResultRecords records_{0};
  Printer* printer_ = nullptr;  // null before begin()
  std::unique_ptr<os::OutStream> stream_;
};

}  // namespace sml::run
