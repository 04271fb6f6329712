// --log-match-stdout, --log-match-stderr: writes those lines of the ranks that contain certain words, each with the tag
// of its rank, to files on this machine that ranks share, as torchrun's --duplicate-stdout-filters does
// (torch/distributed/elastic/multiprocessing/api.py, PContext). Without these options begin() calls `then` at once, and
// all other calls do nothing.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/os/logs/log_writer.h"
#include "common/plan/launch_plan.h"
#include "launcher/options/job_options.h"
#include "launcher/output/chain.h"
#include "launcher/output/line_filter.h"

namespace sml::run {

class MatchedLines {
 public:
  // Plans the files of one attempt and creates none. Error (Usage): --log-match-layout is not a template.
  static Result<MatchedLines> plan(const LogOptions& options, const OutputOptions& output,
                                   const plan::LaunchPlan& plan);

  // One path for each file.
  const std::vector<std::string>& paths() const { return paths_; }

  // As os::LogFiles::check(); to be called before listen().
  Result<void> check() const { return files_ ? files_->check() : Result<void>(); }
  // Sets the receivers of log events; to be called before begin().
  void listen(const boost::asio::any_io_executor& loop, os::LogWriter::Events events);
  // Creates the files; `then` is called once they exist.
  void begin(std::function<void()> then);
  // The job has grown: the ranks of `plan` from `first` on are new, and start.
  void add(const OutputOptions& output, const plan::LaunchPlan& plan, Rank first);
  // `read_at` is when the worker's host read the bytes, on this process's clock.
  void write(Rank rank, Stream stream, std::string_view bytes, TimePoint read_at);
  // No more output comes from this rank.
  void rank_done(Rank rank);
  std::size_t pending() const { return writer_ ? writer_->pending() : 0; }  // bytes not yet in their files
  bool is_busy() const { return writer_ && writer_->is_busy(); }
  // For the end of the program: waits up to `limit` for pending bytes.
  void flush(Duration limit);

 private:
  // One stream of one rank.
  struct Source {
    std::size_t file;
    output::Chain::Source in_chain;
    output::LineFilter filter{};
  };
  Result<void> plan_ranks(const OutputOptions& output, const plan::LaunchPlan& plan, Rank first);
  std::size_t file_at(const std::string& path, const output::Chain::Settings& settings);  // an index into paths_
  const std::vector<std::string>& words(Stream stream) const;
  void pass_on(const Source& source, const output::Moment& moment);

  LogOptions options_;
  bool with_time_ = false;  // the tags contain the time of day
  std::vector<std::string> paths_;
  std::map<std::string, std::size_t> by_path_;
  std::vector<std::unique_ptr<output::Chain>> chains_;  // by file
  std::vector<std::optional<Source>> sources_;          // two for each rank, stdout first; nullopt: not selected
  std::string matched_;                                 // empty between calls; a member so that its memory is reused
  std::optional<os::LogFiles> files_;                   // until listen() is called, which gives them to writer_
  std::unique_ptr<os::LogWriter> writer_;               // null: before listen(), or without these options
};

}  // namespace sml::run
