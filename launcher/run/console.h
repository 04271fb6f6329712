// Writes the workers' output and the launcher's own messages to the launcher's stdout and stderr. Never waits for a
// slow reader, except in flush_last(): what the system does not accept at once is kept, and counts as pending(). Used
// on the loop's thread.
#pragma once
#include <cstdint>
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
#include "launcher/options/job_options.h"
#include "launcher/os/out_stream.h"
#include "launcher/output/chain.h"
#include "launcher/run/status_line.h"
#include "launcher/run/watch/printer.h"

namespace sml::run {

class Console final : public Printer {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void reader_caught_up() = 0;          // pending() has decreased
    virtual void output_gone(int sys_errno) = 0;  // stdout accepts no more data: EPIPE, ENOSPC, ...
  };
  // `workers`: by rank; the `stream` of each is ignored. `listener` must outlive this.
  Console(boost::asio::any_io_executor loop, const std::vector<output::TagSubject>& workers,
          const OutputOptions& options, Listener& listener);

  // `read_at` is when the worker's host read the bytes, on this process's clock.
  // Collects the bytes; flush() writes them.
  void worker_output(Rank rank, Stream stream, std::string_view bytes, TimePoint read_at);
  // No more output comes from this rank: ends a line that it has not finished.
  void worker_done(Rank rank);
  // A new attempt begins: all its workers, of which the earlier ones are done, write anew, perhaps from other hosts.
  void begin_again(const std::vector<output::TagSubject>& workers, const OutputOptions& options);
  // The job has grown: the workers from rank `first` on are new.
  void grow(const std::vector<output::TagSubject>& workers, Rank first, const OutputOptions& options);
  // Sets whether an unfinished line of the rank may be a prompt, which is shown at once: it may if the rank reads the
  // launcher's input. Has no effect on output that goes to a file.
  void set_prompts(Rank rank, output::Chain::Prompts prompts);
  // A line was read from the launcher's input. If the terminal that shows the output has echoed it, the cursor is now
  // on a new line.
  void line_typed();
  // Writes a line of the launcher's own, prefixed with "sml-run: ", to stderr.
  void print(std::string_view text) override;
  // Passes the collected bytes to the system, as many as it accepts; the rest follows when it accepts more. Does not
  // wait.
  void flush();
  std::size_t pending() const;  // bytes that the system has not accepted yet
  // No more output comes from any worker, including lost ones: ends unfinished lines, and flushes.
  void workers_done();
  // From now on shows a line with `text` below the output, if all output goes to one terminal whose TERM allows it; not
  // with Sanitize::Never, with which workers may move the cursor.
  void show_status(StatusLine::Text text);
  // The status line, owned by this; null if there is none.
  StatusLine* status() { return status_.get(); }
  // Removes the status line for good.
  void end_status();
  // For the end of the program: writes the last output, and waits up to `limit_ms` for each slow reader.
  void flush_last(int limit_ms);

 private:
  // One destination; stdout and stderr share it if they are the same file.
  struct Sink {
    Sink(boost::asio::any_io_executor loop, int fd, const output::Chain::Settings& settings,
         os::OutStream::Events events)
        : chain(settings), stream(std::move(loop), fd, std::move(events)), is_file(os::is_regular_file(fd)) {}
    output::Chain chain;
    os::OutStream stream;
    const bool is_file;
  };
  struct Target {
    Sink* sink = nullptr;  // null: the stream is not shown
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
  const bool wants_time_;        // the tags contain the time of day
  boost::asio::steady_timer timer_;
  std::optional<TimePoint> timer_due_{};  // nullopt: the timer is not armed
  const Sanitize sanitize_;
  std::unique_ptr<StatusLine> status_;
};

}  // namespace sml::run
