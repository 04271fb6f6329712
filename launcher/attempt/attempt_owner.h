// What an attempt needs of the run that it belongs to.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "common/core/clock.h"
#include "common/core/error.h"
#include "common/core/stream.h"
#include "common/core/strong.h"
#include "launcher/launch/agent_session.h"

namespace sml::attempt {

class AttemptOwner {
 public:
  virtual ~AttemptOwner() = default;
  // To people, on a line of its own.
  virtual void say(const std::string& text) = 0;

  // Completes what the agents are told before they are.
  virtual void complete(launch::AgentSession::Plan& session) = 0;
  // The workers are about to be started; Attempt::log_failed() may come from within.
  virtual void begin_logs() = 0;
  // All of them run: what they are sent arrives.
  virtual void workers_run() = 0;
  // `read_at`: by our clock.
  virtual void worker_output(Rank rank, Stream stream, std::string_view bytes, TimePoint read_at) = 0;
  // No more output of it follows. May come twice.
  virtual void worker_drained(Rank rank) = 0;
  virtual void worker_ended(Rank rank) = 0;
  virtual void input_taken(Rank rank, std::uint64_t bytes) = 0;
  // Output that our reader has not taken.
  virtual std::size_t pending_output() const = 0;
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
  enum class End : std::uint8_t { Seen, GivenUp };  // GivenUp: hosts have not confirmed it
  // Once, and then nothing more.
  virtual void attempt_over(End end) = 0;
};

}  // namespace sml::attempt
