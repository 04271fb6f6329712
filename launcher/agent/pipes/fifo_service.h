// The channels of a host that workers read from FIFOs, each record by one of them: makes the folders of the FIFOs and
// runs the process that fills these (fifo_feeder.h). Reports its failure to the launcher (FifoFailed).
#pragma once
#include <array>
#include <string>
#include <vector>

#include <sys/types.h>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "common/os/fd.h"
#include "common/plan/fifos.h"
#include "launcher/agent/core/host_service.h"
#include "launcher/agent/core/lifetime.h"
#include "launcher/agent/pipes/fifo_feeder.h"

namespace sml::agent {

// The FIFOs that ranks read are in the scratch folder; the platform's FIFOs, whose data they get, are in the platform's
// folder.
//
// The feeder is a child of the agent. It dies with the agent, and exits by itself when its control pipe closes. It
// blocks all signals, so that workers that are asked to stop by whichever do not see the end of their data first.
class FifoService final : public HostService {
 public:
  // `environment`: of a worker; it determines the platform's folder.
  FifoService(const ServiceContext& context, plan::FifoPlan plan, const plan::Environment& environment);

  // Errors: there is no scratch folder (Spawn), or no folder of the platform (Config). Makes nothing.
  Result<void> check(wire::Prepared& answer) override;
  // Makes the folders and starts the feeder.
  void start(const wire::Start&) override;
  // SML_PIPE_DIR and SM_CHANNEL_*; empty for a rank that reads no channel.
  plan::Environment variables(Rank rank) const override;
  void worker_ended(Rank rank, const ExitStatus& status) override;
  void end() override;
  bool process_ended(pid_t pid, const ExitStatus& status) override;

 private:
  Result<void> check_source(const plan::FifoChannel& channel) const;
  Result<void> make_folders() const;
  Result<void> fork_feeder();
  std::string reader_folder(std::size_t reader) const;
  std::vector<FifoFeed> feeds() const;
  void listen();
  void note(std::string_view line);
  void fail(const std::string& why) const { context_.send(wire::FifoFailed{why}); }

  const ServiceContext& context_;
  boost::asio::posix::stream_descriptor report_;  // lines of the feeder, see feed_fifos()
  std::string folder_;                            // the folder of the ranks' FIFOs; empty if there is no scratch folder
  plan::FifoPlan plan_;
  std::string data_folder_;  // the platform's folder, whether it exists or not
  pid_t feeder_ = -1;        // -1: not running
  os::UniqueFd control_;     // DeadReader messages to the feeder, which exits when it is closed
  bool ending_ = false;      // the end of the feeder is no failure any more, or has been reported
  std::string unread_;       // the incomplete last line of report_
  std::array<char, 1024> buffer_{};
  Lifetime lifetime_;
};

}  // namespace sml::agent
