// Where the workers' output and our own words go: our stdout and stderr.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/clock.h"
#include "common/core/stream.h"
#include "common/core/strong.h"
#include "common/os/out_stream.h"
#include "common/output/chain.h"
#include "common/plan/job_map.h"
#include "launcher/options/job_options.h"
#include "launcher/run/status_line.h"

namespace sml::run {

class Console {
 public:
  struct Handlers {
    std::function<void()> drained;            // pending() has become less
    std::function<void(int sys_errno)> gone;  // our stdout takes nothing any more: EPIPE, ENOSPC, ...
  };
  // `workers` by rank; their streams are of no matter.
  Console(boost::asio::any_io_executor loop, const std::vector<output::TagSubject>& workers,
          const OutputOptions& options, const Handlers& handlers);

  // `read_at`: when the worker's host read it, by our clock.
  void worker_output(Rank rank, Stream stream, std::string_view bytes, TimePoint read_at);
  void worker_done(Rank rank);
  // All of them, which are done, are there once more, perhaps on other hosts.
  void begin_again(const std::vector<output::TagSubject>& workers, const OutputOptions& options);
  // There are more of them, those from `first` on.
  void grow(const std::vector<output::TagSubject>& workers, Rank first, const OutputOptions& options);
  // The rank has our input, or has it no more. No prompt is shown where all output goes to a file.
  void set_prompts(Rank rank, output::Chain::Prompts prompts);
  // Our input had a line. Where the terminal that shows the output has echoed it, the line below is a new one.
  void line_typed();
  // A line of the launcher's own, "sml-run: " before it, on stderr.
  void say(std::string_view text);
  // Hands what has been gathered to the system, as far as it takes it; the rest follows when it takes more.
  void flush();
  std::size_t pending() const;
  // Nothing more comes from any worker, lost ones included.
  void workers_done();
  // From here on a line with `text` stands below the output, if that goes to one terminal and TERM tells that it can.
  void show_status(StatusLine::Text text);
  // That line; null: there is none.
  StatusLine* status() { return status_.get(); }
  // It is gone for good.
  void end_status();
  // Waits for slow readers of our last words, but not for ever.
  void flush_last(int limit_ms);

 private:
  // One destination; stdout and stderr share it when they are the same file.
  struct Sink {
    Sink(boost::asio::any_io_executor loop, int fd, const output::Chain::Settings& settings,
         os::OutStream::Handlers handlers)
        : chain(settings), stream(std::move(loop), fd, std::move(handlers)), is_file(os::is_regular_file(fd)) {}
    output::Chain chain;
    os::OutStream stream;
    const bool is_file;
  };
  struct Target {
    Sink* sink = nullptr;  // null: not shown
    output::Chain::Source source = 0;
  };
  void begin_targets(std::span<const output::TagSubject> workers, std::size_t first, const OutputOptions& options);
  void add_targets(std::span<const output::TagSubject> workers, const OutputOptions& options);
  void arm_timer();
  Target& target(Rank rank, Stream stream);
  Sink& err() { return separate_err_ ? *separate_err_ : *out_; }

  std::unique_ptr<Sink> out_;
  std::unique_ptr<Sink> separate_err_;
  std::vector<Target> targets_;  // two per rank
  const bool wants_time_;        // of day, for the tags
  boost::asio::steady_timer timer_;
  std::optional<TimePoint> timer_due_{};  // nothing: not armed
  const Sanitize sanitize_;
  std::unique_ptr<StatusLine> status_;
};

std::vector<output::TagSubject> tag_subjects(const plan::JobMap& map);

}  // namespace sml::run
