#include "launcher/run/console.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include <termios.h>
#include <unistd.h>

#include "launcher/report/live/own_line.h"
#include "launcher/run/worker_tags.h"

namespace sml::run {

namespace {

constexpr Stream kStreams[] = {Stream::Stdout, Stream::Stderr};

bool wants_colour(Color color, bool terminal) {
  if (color != Color::Auto) return color == Color::Always;
  const char* no_color = std::getenv("NO_COLOR");  // see no-color.org
  const char* term = std::getenv("TERM");
  return terminal && (no_color == nullptr || *no_color == '\0') &&
         (term == nullptr || std::string_view(term) != "dumb");
}

output::Chain::Settings settings_for(int fd, const std::vector<output::TagSubject>& workers,
                                     const OutputOptions& options) {
  using output::Chain;
  const bool terminal = ::isatty(fd) == 1;
  const bool show = options.sanitize == Sanitize::Always || (options.sanitize == Sanitize::Auto && terminal);
  // without tags nobody would know whose the one line is
  const bool tagged = !options.tag || !options.tag->empty();
  const bool many_at_terminal = terminal && tagged && workers.size() > 1;
  const bool collapse = options.progress_bars == ProgressBars::Collapse
                            ? !terminal || many_at_terminal
                            : options.progress_bars == ProgressBars::Auto && many_at_terminal;
  const bool fold =
      options.equal_lines == EqualLines::Fold || (options.equal_lines == EqualLines::Auto && many_at_terminal);
  Chain::Settings settings = tag_settings(workers, options);
  settings.control = show ? Chain::Control::Show : Chain::Control::Pass;
  settings.colours = wants_colour(options.color, terminal) ? Chain::Colours::PerRank : Chain::Colours::None;
  settings.progress = collapse ? Chain::Progress::Collapse : Chain::Progress::Pass;
  settings.equal = fold ? Chain::Equal::Fold : Chain::Equal::Pass;
  return settings;
}

bool is_shown(const output::TagSubject& worker, Stream stream, const OutputOptions& options) {
  const bool rank = !options.shown_ranks || options.shown_ranks->contains(worker.ranks.largest());
  const bool local = !options.shown_local_ranks || options.shown_local_ranks->contains(worker.local_ranks.largest());
  return rank && local && options.routes.to_output(LocalRank(worker.local_ranks.largest()), stream);
}

}  // namespace

Console::Console(boost::asio::any_io_executor loop, const std::vector<output::TagSubject>& workers,
                 const OutputOptions& options, Listener& listener)
    : wants_time_(tags_have_time(options)), timer_(loop), sanitize_(options.sanitize) {
  const auto drained = [this, &listener] {
    flush();
    listener.reader_caught_up();
  };
  const auto broken = [drained, &listener](int sys_errno) {
    listener.output_gone(sys_errno);
    drained();  // pending bytes have been dropped
  };
  out_ = std::make_unique<Sink>(loop, STDOUT_FILENO, settings_for(STDOUT_FILENO, workers, options),
                                os::OutStream::Events{drained, broken});
  if (!os::same_file(STDOUT_FILENO, STDERR_FILENO)) {
    separate_err_ = std::make_unique<Sink>(loop, STDERR_FILENO, settings_for(STDERR_FILENO, workers, options),
                                           os::OutStream::Events{drained, [drained](int) { drained(); }});
  }
  add_targets(workers, options);
}

void Console::add_targets(std::span<const output::TagSubject> workers, const OutputOptions& options) {
  for (const output::TagSubject& worker : workers) {
    for (const Stream stream : kStreams) {
      Target& to = targets_.emplace_back();
      if (!is_shown(worker, stream, options)) continue;
      to.sink = stream == Stream::Stdout ? out_.get() : &err();
      to.source = to.sink->chain.add_source(tagged(worker, stream, options));
    }
  }
}

// Begins the workers from `first` on. Some are known from an earlier attempt, and write once more.
void Console::begin_targets(std::span<const output::TagSubject> workers, std::size_t first,
                            const OutputOptions& options) {
  const std::size_t known = std::min(workers.size(), targets_.size() / std::size(kStreams));
  for (std::size_t i = first; i < known; ++i) {
    for (std::size_t s = 0; s < std::size(kStreams); ++s) {
      const Target& target = targets_[i * std::size(kStreams) + s];
      if (target.sink != nullptr)
        target.sink->chain.begin_again(target.source, tagged(workers[i], kStreams[s], options));
    }
  }
  add_targets(workers.subspan(known), options);  // the job has grown
}

void Console::begin_again(const std::vector<output::TagSubject>& workers, const OutputOptions& options) {
  begin_targets(workers, 0, options);
}

void Console::grow(const std::vector<output::TagSubject>& workers, Rank first, const OutputOptions& options) {
  begin_targets(workers, first.value(), options);
}

Console::Target& Console::target(Rank rank, Stream stream) {
  return targets_[std::size_t{rank.value()} * 2 + (stream == Stream::Stderr ? 1 : 0)];
}

void Console::worker_output(Rank rank, Stream stream, std::string_view bytes, TimePoint read_at) {
  const Target& to = target(rank, stream);
  if (to.sink == nullptr) return;
  to.sink->chain.add(to.source, bytes, {Clock::now(), wants_time_ ? wall_time(read_at) : output::WallTime()});
  arm_timer();
}

void Console::arm_timer() {
  std::optional<TimePoint> first = out_->chain.deadline();
  if (separate_err_) {
    const std::optional<TimePoint> other = separate_err_->chain.deadline();
    if (other && (!first || *other < *first)) first = other;
  }
  if (!first || (timer_due_ && *timer_due_ <= *first)) return;
  timer_due_ = first;
  timer_.expires_at(*first);
  timer_.async_wait([this](boost::system::error_code error) {
    if (error) return;
    timer_due_.reset();
    for (Sink* sink : {out_.get(), separate_err_.get()}) {
      if (sink != nullptr) sink->chain.on_time(Clock::now());
    }
    flush();
    arm_timer();
  });
}

void Console::worker_done(Rank rank) {
  for (const Stream stream : kStreams) {
    const Target& to = target(rank, stream);
    if (to.sink != nullptr) to.sink->chain.finish(to.source);
  }
}

void Console::set_prompts(Rank rank, output::Chain::Prompts prompts) {
  if (std::size_t{rank.value()} * std::size(kStreams) >= targets_.size()) return;
  for (const Stream stream : kStreams) {
    const Target& to = target(rank, stream);
    if (to.sink != nullptr && !to.sink->is_file) to.sink->chain.set_prompts(to.source, prompts);
  }
}

void Console::line_typed() {
  termios settings{};
  if (::tcgetattr(STDIN_FILENO, &settings) != 0 || (settings.c_lflag & ECHO) == 0) return;
  if (os::same_file(STDIN_FILENO, STDOUT_FILENO)) out_->chain.line_typed();
  if (separate_err_ && os::same_file(STDIN_FILENO, STDERR_FILENO)) separate_err_->chain.line_typed();
}

void Console::print(std::string_view text) {
  err().chain.add_own_line(report::own_line(text));
  flush();
  arm_timer();
}

void Console::flush() {
  for (Sink* sink : {out_.get(), separate_err_.get()}) {
    // While the system accepts nothing, further output stays in the chain, where it is not copied again.
    if (sink == nullptr || sink->stream.pending() > 0 || sink->chain.output().empty()) continue;
    if (status_) status_->let_pass(sink->chain.output());
    sink->stream.write(sink->chain.output());
  }
}

void Console::workers_done() {
  for (Sink* sink : {out_.get(), separate_err_.get()}) {
    if (sink != nullptr) sink->chain.finish_all();
  }
  flush();
}

// Not if workers may move the cursor: then the terminal is theirs alone.
void Console::show_status(StatusLine::Text text) {
  if (separate_err_ || sanitize_ == Sanitize::Never || !StatusLine::can_be_drawn_on(STDOUT_FILENO)) return;
  status_ =
      std::make_unique<StatusLine>(timer_.get_executor(), STDOUT_FILENO, out_->stream, out_->chain, std::move(text));
}

void Console::end_status() {
  if (status_) status_->hide();
  status_.reset();
}

std::size_t Console::pending() const {
  std::size_t size = 0;
  for (const Sink* sink : {out_.get(), separate_err_.get()}) {
    if (sink != nullptr) size += sink->stream.pending() + sink->chain.output().size();
  }
  return size;
}

void Console::flush_last(int limit_ms) {
  workers_done();
  for (Sink* sink : {out_.get(), separate_err_.get()}) {
    if (sink == nullptr) continue;
    sink->stream.write(sink->chain.output());
    sink->stream.flush(limit_ms);
  }
}

}  // namespace sml::run
