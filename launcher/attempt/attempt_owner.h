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

  // Adds to a session plan what only the run knows, such as the workers' log files. Called before the session begins.
  virtual void complete(transport::AgentSession::Plan& session) = 0;
  // The workers are about to start: the owner calls `then`, which starts them, unless something else has ended the
  // attempt before.
  virtual void begin_logs(std::function<void()> then) = 0;
  // Some ranks have not joined the others within the time of --join-warn.
  virtual void ranks_missing() = 0;
  // Called before workers that hang, or have used up their time, are ended, so that the owner can record where they
  // are. The owner calls `then`, which ends them, soon and exactly once.
  virtual void before_end(std::function<void()> then) = 0;
  // A host could not write its workers' log files.
  virtual void host_log_failed(const Error& why) = 0;

  // Called if another attempt may follow: no process of this attempt is left on any host, and the agents wait.
  virtual void attempt_cleared() = 0;
  // A host was lost after attempt_cleared().
  virtual void host_lost_at_rest() = 0;
  // For a job whose workers may outlive others (hvd.elastic): returns the map that follows `round` without the hosts
  // `out`; see ElasticRounds::Following.
  virtual Result<plan::JobMap> next_round(const plan::JobMap& round, const std::vector<HostId>& out) const = 0;
  enum class End : std::uint8_t { Seen, GivenUp };  // Seen: all hosts have confirmed the end; GivenUp: some have not
  // Called once, as the last call.
  virtual void attempt_over(End end) = 0;
};

}  // namespace sml::attempt
