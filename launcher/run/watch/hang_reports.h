// Makes reports of where the ranks are (their stacks), at the request of `sml-run stacks` or when ranks hang. Prints
// them, or returns them to the process that requested them.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "launcher/control/messages.h"
#include "launcher/report/hosts/hang_report.h"
#include "launcher/report/live/job_progress.h"
#include "launcher/run/watch/file_work.h"
#include "launcher/run/watch/hang_folder.h"
#include "launcher/run/watch/printer.h"
#include "launcher/run/watch/watched_job.h"

namespace sml::run {

class HangReports {
 public:
  // Everything here must outlive this.
  struct Deps {
    WatchedJob& job;
    const report::JobProgress& progress;
    Printer& printer;
    std::shared_ptr<const HangFolder> folder;
    FileWork& files;
  };
  explicit HangReports(Deps deps) : deps_(std::move(deps)) {}

  // Makes a report for another process; does not print or keep it. Calls `done` once, from within this call or later
  // from the loop. Error (Usage): no worker runs.
  void make(control::Form form, std::function<void(Result<std::string>)> done) const;
  // Prints the report as soon as the agents have replied, and begins to write it to the folder once torch's recordings
  // have arrived, too. `why` is the reason in words. `then` is called afterwards, once, and waits for no file.
  void print(
      const std::string& why, TraceTools tools, std::function<void()> then = [] {});
  // Prints the report if the workers run, without stopping them.
  void print_while_running(const std::string& why) {
    if (deps_.job.workers_run()) print(why, TraceTools::NonStopping);
  }

 private:
  struct Printed {  // a printed report, and what the folder is to keep of it
    std::vector<std::string> table{};
    report::Traces traces{};
    std::vector<report::Recording> recordings{};
    int awaited = 0;  // queries whose replies have not come yet
    std::function<void()> then;
  };

  report::Traces with_silence(report::Traces traces) const;
  bool keeps() const { return deps_.folder->keeps() && !folder_failed_; }
  void answered(const std::shared_ptr<Printed>& report);
  void keep(const std::shared_ptr<const Printed>& report);
  void kept(const Result<std::string>& path);
  std::vector<std::string> table(const std::string& why, const report::Traces& traces) const;

  Deps deps_;
  bool is_keeping_ = false;     // a report is being written
  bool folder_failed_ = false;  // no further report is kept
};

}  // namespace sml::run
