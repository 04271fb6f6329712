#include "launcher/job/console.h"

#include <unistd.h>

namespace sml::job {

namespace {

bool must_filter(int fd, Sanitize sanitize) {
  return sanitize == Sanitize::Always || (sanitize == Sanitize::Auto && ::isatty(fd) == 1);
}

}  // namespace

Console::Sink::Sink(boost::asio::any_io_executor loop, int fd, Sanitize sanitize, os::OutStream::Handlers handlers)
    : filters(must_filter(fd, sanitize)),
      merger(filters ? output::LineMerger::For::Terminal : output::LineMerger::For::File),
      stream(std::move(loop), fd, std::move(handlers)) {}

Console::Console(boost::asio::any_io_executor loop, const std::vector<std::string>& tags, Sanitize sanitize,
                 const Handlers& handlers) {
  const auto drained = [this, on_drained = handlers.drained] {
    if (pending() == 0) on_drained();
  };
  const auto broken = [drained, on_gone = handlers.gone](int sys_errno) {
    on_gone(sys_errno);
    drained();  // what was pending has been dropped
  };
  out_ = std::make_unique<Sink>(loop, STDOUT_FILENO, sanitize, os::OutStream::Handlers{drained, broken});
  if (!os::same_file(STDOUT_FILENO, STDERR_FILENO)) {
    separate_err_ = std::make_unique<Sink>(loop, STDERR_FILENO, sanitize,
                                           os::OutStream::Handlers{drained, [drained](int) { drained(); }});
  }
  for (const std::string& tag : tags) {
    for (Sink* sink : {out_.get(), &err()}) {
      const bool plain = tags.size() == 1 && tag.empty();
      targets_.push_back({sink, plain ? sink->merger.add_plain_source() : sink->merger.add_source(tag),
                          sink->filters ? std::make_unique<output::TerminalFilter>() : nullptr});
    }
  }
}

Console::Target& Console::target(Rank rank, Stream stream) {
  return targets_[std::size_t{rank.value()} * 2 + (stream == Stream::Stderr ? 1 : 0)];
}

void Console::worker_output(Rank rank, Stream stream, std::string_view bytes) {
  const Target& to = target(rank, stream);
  if (!to.filter) return to.sink->merger.add(to.source, bytes);
  filtered_.clear();
  to.filter->add(bytes, filtered_);
  to.sink->merger.add(to.source, filtered_);
}

void Console::worker_done(Rank rank) {
  for (const Stream stream : {Stream::Stdout, Stream::Stderr}) {
    const Target& to = target(rank, stream);
    if (to.filter) {
      filtered_.clear();
      to.filter->finish(filtered_);
      to.sink->merger.add(to.source, filtered_);
    }
    to.sink->merger.finish(to.source);
  }
}

void Console::say(std::string_view text) {
  err().merger.add_own_line("sml-run: " + std::string(text));
  flush();
}

void Console::flush() {
  for (Sink* sink : {out_.get(), separate_err_.get()}) {
    if (sink != nullptr && !sink->merger.output().empty()) sink->stream.write(sink->merger.output());
  }
}

std::size_t Console::pending() const {
  return out_->stream.pending() + (separate_err_ ? separate_err_->stream.pending() : 0);
}

void Console::flush_last(int limit_ms) {
  flush();
  out_->stream.flush(limit_ms);
  if (separate_err_) separate_err_->stream.flush(limit_ms);
}

std::vector<std::string> default_tags(std::uint32_t world_size) {
  if (world_size == 1) return {""};
  std::vector<std::string> tags;
  for (std::uint32_t rank = 0; rank < world_size; ++rank) tags.push_back("[" + std::to_string(rank) + "] ");
  return tags;
}

}  // namespace sml::job
