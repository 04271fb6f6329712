// Copies the workers' output to log files on their own host. A thread of the LogWriter writes them; the destructor
// waits some seconds for it. A file that cannot be written is given up and reported to the launcher (LogFailed).
#pragma once
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/os/logs/log_writer.h"
#include "launcher/agent/core/host_service.h"

namespace sml::agent {

class LogService final : public HostService {
 public:
  // `workers` are those whose output is logged: each has one file for stdout and one for stderr.
  LogService(const ServiceContext& context, const wire::WorkerLogs& rules,
             const std::vector<const wire::Worker*>& workers);
  ~LogService() override;
  Result<void> check(wire::Prepared&) override { return files_->check(); }
  void start(const wire::Start&) override;
  bool reads_output() const override { return true; }
  bool takes_output() const override;
  bool is_busy() const override { return writer_ && writer_->is_busy(); }
  bool add_world(const wire::AddWorkers& m, std::span<const ResourceAssignment> shares, const WorldReady&) override;
  void handle(const wire::ToAgent& message) override;
  void output(Rank rank, Stream stream, std::string_view bytes) override;

 private:
  const ServiceContext& context_;
  std::unordered_map<Rank, os::LogFiles::Index> index_;  // file of the rank's stdout; that of stderr is the next
  std::optional<os::LogFiles> files_;                    // from the constructor to start(); then writer_ has them
  std::optional<os::LogWriter> writer_;                  // from start() on
  std::vector<wire::Worker> to_come_;                    // workers of an AddWorkers, until its StartAdded
};

}  // namespace sml::agent
