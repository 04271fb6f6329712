// Starts steps on the hosts that are awaited, accepts the calls of these hosts, and hands each call to the StepAwaiter
// that waits for that host.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/error.h"
#include "common/os/fd.h"
#include "launcher/dialin/coordinator/connection_limiter.h"
#include "launcher/dialin/step/step_call.h"
#include "launcher/dialin/step/step_caller.h"
#include "launcher/os/acceptor.h"
#include "launcher/transport/agent_transport.h"

namespace sml::dialin {

// Waits for the call of a host. Called on the loop, never from within a call into StepCalls.
class StepAwaiter {
 public:
  virtual ~StepAwaiter() = default;
  virtual const std::string& awaited_host() const = 0;
  virtual void awaited_step(const std::string& text) = 0;  // progress, as TransportEvents::transport_step()
  // Each of the following is the last call. The awaiter shares ownership of the caller, whose begin() it is to call.
  virtual void host_calls(const std::shared_ptr<StepCaller>& caller) = 0;
  // This program is not on the host, or cannot be trusted there (words_of_step()).
  virtual void host_lacks_program() = 0;
  // The step has ended before the host called, or the host could not call.
  virtual void host_fails(const Error& why) = 0;
};

// All calls and callbacks are on the loop's thread.
class StepCalls final : private StepCallerOwner {
 public:
  // Makes the process of the starter's tool, for a step that runs the command `words` once on each of those hosts.
  using Start = std::function<std::unique_ptr<transport::AgentTransport>(std::vector<std::string> hosts,
                                                                         std::vector<std::string> words)>;
  struct Plan {
    os::UniqueFd listener;
    std::unique_ptr<Credentials> credentials;
    std::string file;                // the path of this program, the same on all hosts
    std::string secret_variable;     // StepCall::secret_variable
    std::size_t most_hosts = 1;      // the largest number of hosts of one step
    std::vector<std::string> hosts;  // the hosts of the job
  };
  StepCalls(boost::asio::any_io_executor loop, Plan plan, Start start);
  ~StepCalls() override;

  // Waits for a call of the awaiter's host, and starts a step there unless one runs there. One step serves all hosts
  // that are awaited in the same turn of the loop. The awaiter must stay valid until its last call or forget().
  void await(StepAwaiter& awaiter);
  // The awaiter gets no further call.
  void forget(const StepAwaiter& awaiter);
  // The program that was started on the host has ended, and its step serves it no longer: the next await() starts
  // another.
  void has_left(const std::string& host) { hosts_[host].step = nullptr; }
  // For a host whose connection has broken: finds out whether only the connection has broken, or its step has ended,
  // and with the step the programs that it has started. Calls `known` once: with the reason if the step has ended or
  // ends within 3 s; with nullopt if the host calls again or neither happens. May call it at once.
  using Fate = std::function<void(const std::optional<Error>& end_of_step)>;
  void find_fate(const std::string& host, Fate known);
  // Dismisses the hosts that have called and those that call later without being awaited. Calls `done` when all steps
  // have ended, or after 5 s. Returns false, and does not call it, if no step runs. await() can still be called
  // afterwards, to clean up.
  [[nodiscard]] bool end(std::function<void()> done);

 private:
  class Step;
  struct Host {
    Step* step = nullptr;                // the running step that it belongs to; null: none
    std::shared_ptr<StepCaller> caller;  // a connection that no awaiter has got yet; null: none
    std::optional<Error> end;            // why its last step ended; nullopt: it has not, or there was none
    std::vector<Fate> lost{};            // callbacks of find_fate() that have not been called
  };

  void accept(os::UniqueFd fd);
  void caller_introduces(StepCaller& caller) override;
  void caller_is_gone(StepCaller& caller) override;
  void sweep();
  void match_soon();
  void match();
  void start_step(std::vector<std::string> hosts);
  void step_says(std::string_view line);
  void step_waits(const Step& step, std::string_view text);
  void step_ended(Step& step, const Error& why);
  StepAwaiter* take_awaiter(const std::string& host);
  Host* find(const std::string& name);
  static void tell_fate(Host& host, const std::optional<Error>& end);

  boost::asio::any_io_executor loop_;
  Plan plan_;
  Start start_;
  StepCall call_;
  ConnectionLimiter limiter_;
  std::vector<std::shared_ptr<StepCaller>> callers_;
  std::map<std::string, Host, std::less<>> hosts_;  // by name
  std::vector<StepAwaiter*> awaiters_;
  std::vector<std::unique_ptr<Step>> steps_;
  std::function<void()> done_;
  boost::asio::steady_timer done_timer_;
  bool matching_ = false;  // match() is posted
  bool ending_ = false;    // end() was called
  os::Acceptor acceptor_;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);  // expires with this; pending handlers check it
};

}  // namespace sml::dialin
