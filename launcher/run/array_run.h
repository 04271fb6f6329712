// --array-all: every line of an array file as a run of its own, some of them at the same time. A run is sml-run once
// more, for one --array-index; this only starts them, merges what they print, passes signals on and counts.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/os/child.h"
#include "common/os/last_signals.h"
#include "common/plan/array_file.h"
#include "launcher/options/job_options.h"
#include "launcher/report/array_summary.h"
#include "launcher/run/console.h"

namespace sml::run {

class ArrayRun {
 public:
  struct Settings {
    std::vector<std::string> names;
    std::vector<plan::ArrayTask> tasks;
    std::string called;  // our own name: whose options the arguments are
    std::vector<std::string> arguments;
    plan::Environment environment;
    std::uint32_t at_once = 1;
    OutputOptions output;  // what is not about ranks; an empty tag: none
  };
  explicit ArrayRun(Settings settings);
  ~ArrayRun();

  // Runs them all, also when some fail; answers the exit status. Prints a table when the last has ended. The first
  // signal that stops a job is passed on to those that run, and no more are started. They die with this thread.
  int run();

 private:
  struct Run;

  void start_more();
  void start(std::size_t task);
  void read(Run& run, Stream stream);
  void read_all();
  void ended(Run& run, const ExitStatus& status);
  void check_done(Run& run);
  void stop(int signo);
  void await_signals();

  Settings settings_;
  boost::asio::io_context loop_{1};
  os::LastSignals signals_;
  Console console_;
  report::ArrayFacts facts_;
  std::size_t next_ = 0;
  std::vector<std::unique_ptr<Run>> running_;
  std::vector<int> ignored_signals_;
};

}  // namespace sml::run
