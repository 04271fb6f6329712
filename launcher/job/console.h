// Where the workers' output and our own words go: our stdout and stderr.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "common/core/stream.h"
#include "common/core/strong.h"
#include "common/os/out_stream.h"
#include "common/output/line_merger.h"
#include "common/output/terminal_filter.h"
#include "launcher/options.h"

namespace sml::job {

class Console {
 public:
  struct Handlers {
    std::function<void()> drained;            // pending() has become 0
    std::function<void(int sys_errno)> gone;  // our stdout takes nothing any more: EPIPE, ENOSPC, ...
  };
  // One tag per rank; empty tags of a single rank mean that its bytes pass at once.
  Console(boost::asio::any_io_executor loop, const std::vector<std::string>& tags, Sanitize sanitize,
          const Handlers& handlers);

  void worker_output(Rank rank, Stream stream, std::string_view bytes);
  void worker_done(Rank rank);
  // A line of the launcher's own, "sml-run: " before it, on stderr.
  void say(std::string_view text);
  // Hands what has been gathered to the system, as far as it takes it.
  void flush();
  std::size_t pending() const;
  // Waits for slow readers of our last words, but not for ever.
  void flush_last(int limit_ms);

 private:
  // One destination; stdout and stderr share it when they are the same file.
  struct Sink {
    Sink(boost::asio::any_io_executor loop, int fd, Sanitize sanitize, os::OutStream::Handlers handlers);
    bool filters;
    output::LineMerger merger;
    os::OutStream stream;
  };
  struct Target {
    Sink* sink;
    output::LineMerger::Source source;
    std::unique_ptr<output::TerminalFilter> filter;  // null: bytes pass as they are
  };
  Target& target(Rank rank, Stream stream);
  Sink& err() { return separate_err_ ? *separate_err_ : *out_; }

  std::unique_ptr<Sink> out_;
  std::unique_ptr<Sink> separate_err_;
  std::vector<Target> targets_;  // two per rank
  std::string filtered_;         // kept for its memory
};

// "[RANK] " for every rank when there are several, else one empty tag.
std::vector<std::string> default_tags(std::uint32_t world_size);

}  // namespace sml::job
