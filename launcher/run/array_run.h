// --array-all: runs every line of an array file, several at the same time. Each run is another sml-run process with one
// --array-index; this class only starts the runs, merges their output, forwards signals and counts.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "launcher/options/job_options.h"
#include "launcher/os/child.h"
#include "launcher/os/last_signals.h"
#include "launcher/plan/array_file.h"
#include "launcher/report/outcome/array_summary.h"
#include "launcher/run/console.h"

namespace sml::run {

class ArrayRun {
 public:
  struct Settings {
    std::vector<std::string> names;
    std::vector<plan::ArrayTask> tasks;
    std::string called;  // name by which this launcher was called: selects whose options `arguments` are
    std::vector<std::string> arguments;
    plan::Environment environment;
    std::uint32_t at_once = 1;
    OutputOptions output;  // the options that do not depend on ranks; an empty tag: no tags
  };
  explicit ArrayRun(Settings settings);
  ~ArrayRun();

  // Runs all tasks, even if some fail, and returns the exit status. Prints a table after the last has ended. The first
  // signal that stops a job is forwarded to the active runs, and no more are started. The runs die with the calling
  // thread.
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
