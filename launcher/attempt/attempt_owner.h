// The interface through which an attempt uses the run that it belongs to.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/plan/ranks/job_map.h"
#include "launcher/transport/session/agent_session.h"

namespace sml::attempt {

class AttemptOwner {
 public:
  virtual ~AttemptOwner() = default;
  // Prints a line for the user.
  virtual void print(const std::string& text) = 0;

  // Completes what is sent to an agent, before it is sent.
  virtual void complete(transport::AgentSession::Plan& session) = 0;
  // The workers are about to start: the owner calls `then`, which starts them, unless something else has ended the
  // attempt before.
  virtual void begin_logs(std::function<void()> then) = 0;
  // Some ranks have not joined the others in time.
  virtual void ranks_missing() = 0;
  // Called before workers that hang, or have used up their time, are ended, so that the owner can record where they
  // are. The owner calls `then`, which ends them, soon and exactly once.
  virtual void before_end(std::function<void()> then) = 0;
  // A host could not keep a log.
  virtual void host_log_failed(const Error& why) = 0;

  // Called for an attempt that another may follow: nothing of it is left on any host, and the agents wait.
  virtual void attempt_cleared() = 0;
  // A host was lost after attempt_cleared().
  virtual void host_lost_at_rest() = 0;
  // For a job whose workers may outlive others (hvd.elastic): the map that follows `round` without the hosts `out`; see
  // ElasticRounds::Following.
  virtual Result<plan::JobMap> next_round(const plan::JobMap& round, const std::vector<HostId>& out) const = 0;
  enum class End : std::uint8_t { Seen, GivenUp };  // GivenUp: some hosts have not confirmed the end
  // Called once, as the last call.
  virtual void attempt_over(End end) = 0;
};

}  // namespace sml::attempt
