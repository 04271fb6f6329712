// What an attempt needs of the run that it belongs to.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/core/strong.h"
#include "common/plan/job_map.h"
#include "launcher/launch/agent_session.h"

namespace sml::attempt {

class AttemptOwner {
 public:
  virtual ~AttemptOwner() = default;
  // To people, on a line of its own.
  virtual void say(const std::string& text) = 0;

  // Completes what the agents are told before they are.
  virtual void complete(launch::AgentSession::Plan& session) = 0;
  // The workers are about to be started: by `then`, unless something else has ended the attempt before it is called.
  virtual void begin_logs(std::function<void()> then) = 0;
  // Ranks have not joined the others in time.
  virtual void ranks_missing() = 0;
  // The workers, which hang or have had their time, are to be ended: by `then`, to be called soon, and once. For who
  // wants to see where they are.
  virtual void before_end(std::function<void()> then) = 0;
  // Of a host.
  virtual void host_log_failed(const Error& why) = 0;

  // Of an attempt that another may follow: nothing of it is left on any host, and the agents wait.
  virtual void attempt_cleared() = 0;
  // A host has been lost since then.
  virtual void host_lost_at_rest() = 0;
  // Of a job whose workers may outlive others (hvd.elastic): which hosts are to have workers after those of `round`,
  // without the hosts `out`; see ElasticRounds::Following.
  virtual Result<plan::JobMap> next_round(const plan::JobMap& round, const std::vector<HostId>& out) const = 0;
  enum class End : std::uint8_t { Seen, GivenUp };  // GivenUp: hosts have not confirmed it
  // Once, and then nothing more.
  virtual void attempt_over(End end) = 0;
};

}  // namespace sml::attempt
