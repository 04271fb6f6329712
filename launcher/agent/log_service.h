// Copies of the workers' output in files on their own host.
#pragma once
#include <unordered_map>
#include <vector>

#include "common/os/log_files.h"
#include "launcher/agent/host_service.h"

namespace sml::agent {

class LogService final : public HostService {
 public:
  // Of those workers that have files.
  LogService(const ServiceContext& context, const wire::WorkerLogs& rules,
             const std::vector<const wire::Worker*>& workers);
  Result<void> check(wire::Prepared&) override { return files_.check(); }
  void start(const wire::Start&) override { tell(files_.create()); }
  bool reads_output() const override { return true; }
  bool add_world(const wire::AddWorkers& m, std::span<const WorkerShare> shares, const WorldReady&) override;
  void hear(const wire::ToAgent& message) override;
  void output(Rank rank, Stream stream, std::string_view bytes) override;

 private:
  void tell(const Result<void>& result) const;

  const ServiceContext& context_;
  std::unordered_map<Rank, os::LogFiles::Index> index_;  // of a rank's stdout; its stderr follows
  os::LogFiles files_;
  std::vector<wire::Worker> to_come_;
};

}  // namespace sml::agent
