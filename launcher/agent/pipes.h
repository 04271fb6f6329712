// The channels of a host as its agent has them: where their FIFOs are, and the process that feeds them.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "common/core/error.h"
#include "common/core/exit_status.h"
#include "common/os/fd.h"
#include "common/plan/pipes.h"
#include "common/plan/worker_env.h"
#include "launcher/agent/pipe_feeder.h"
#include "launcher/agent/scratch_folder.h"

namespace sml::agent {

// FIFOs for ranks lie in the scratch folder. Those for all ranks of the host, which we feed as the platform would, lie
// where the platform's would if that folder is there and can be written, else in the scratch folder.
//
// The feeder is a child of the agent: it dies with it, and leaves by itself when told to end. It ignores SIGTERM, so
// that workers that are asked to end do not see the end of their data first.
class Pipes {
 public:
  struct Owner {
    std::function<void(const Error&)> failed;           // the job cannot go on
    std::function<void(const std::string& text)> warn;  // once for each cause
  };
  // `environment` is that of a worker; `scratch` outlives this.
  Pipes(boost::asio::io_context& loop, const ScratchFolder& scratch, plan::PipePlan plan,
        const plan::Environment& environment, Owner owner);

  // What can be known before the start: kind Config.
  Result<void> check() const;
  // SML_PIPE_DIR and SM_CHANNEL_*; nothing for a rank that reads no channel.
  plan::Environment variables(Rank rank) const;

  // Makes the folders, starts the feeder. Before the workers start; a failure comes as Owner::failed.
  void start();
  void worker_ended(Rank rank);
  void end();  // no worker is left
  bool is_feeder(pid_t pid) const { return pid == feeder_; }
  void feeder_ended(const ExitStatus& status);

 private:
  Result<void> check_source(const plan::PipeChannel& channel) const;
  Result<void> make_folders() const;
  Result<void> fork_feeder();
  std::string reader_folder(std::size_t reader) const;
  std::string host_folder() const;
  std::vector<PipeFeed> feeds() const;
  void remove_old() const;
  void listen();
  void hear(std::string_view line);

  boost::asio::posix::stream_descriptor report_;
  std::string folder_;  // of ours; empty: there is none
  plan::PipePlan plan_;
  std::string data_folder_;  // the platform's, whether it is there or not
  Owner owner_;
  pid_t feeder_ = -1;
  os::UniqueFd control_;
  bool ending_ = false;
  std::string heard_;
  std::array<char, 1024> buffer_{};
};

}  // namespace sml::agent
