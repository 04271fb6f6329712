// Starts steps on hosts, accepts their calls, and gives each call to the one who waits for that host.
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
#include "launcher/dialin/coordinator/acceptor.h"
#include "launcher/dialin/coordinator/connection_limiter.h"
#include "launcher/dialin/step/step_call.h"
#include "launcher/dialin/step/step_caller.h"
#include "launcher/transport/agent_transport.h"

namespace sml::dialin {

// Waits for the call of a host. Called on the loop, never from within a call into StepCalls.
class StepAwaiter {
 public:
  virtual ~StepAwaiter() = default;
  virtual const std::string& awaited_host() const = 0;
  virtual void awaited_step(const std::string& text) = 0;  // as TransportEvents::transport_step()
  // Each of the others is the last call.
  virtual void host_calls(const std::shared_ptr<StepCaller>& caller) = 0;
  // The program is not there, or not to be trusted.
  virtual void host_lacks_program() = 0;
  virtual void host_fails(const Error& why) = 0;
};

// One thread, the loop's.
class StepCalls final : private StepCallerOwner {
 public:
  // Makes the process of a step on those hosts; the words are run on each.
  using Start = std::function<std::unique_ptr<transport::AgentTransport>(std::vector<std::string> hosts,
                                                                         std::vector<std::string> words)>;
  struct Plan {
    os::UniqueFd listener;
    std::unique_ptr<Credentials> credentials;
    std::string file;                // this program, on all hosts
    std::string secret_variable;     // StepCall::secret_variable
    std::size_t most_hosts = 1;      // of one step
    std::vector<std::string> hosts;  // that can be started
  };
  StepCalls(boost::asio::any_io_executor loop, Plan plan, Start start);
  ~StepCalls() override;

  // A step is started on the host, unless one runs there; together with those on other hosts that are awaited now.
  void await(StepAwaiter& awaiter);
  void forget(const StepAwaiter& awaiter);
  // The program that the step has started on the host has ended: another step serves it from now on.
  void has_left(const std::string& host) { hosts_[host].step = nullptr; }
  // The connection of a host has broken: calls `known` with the reason, if the step that it belongs to has ended or
  // does so soon, and what it has started with it; with nothing, if the host calls again or nothing of that happens.
  using Fate = std::function<void(const std::optional<Error>& end_of_step)>;
  void find_fate(const std::string& host, Fate known);
  // No further call is awaited: dismisses the hosts that have called, and calls `told` when all steps have ended, or
  // after 5 s. Returns false if there are none; await() can be called afterwards, all the same.
  [[nodiscard]] bool end(std::function<void()> told);

 private:
  class Step;
  struct Host {
    Step* step = nullptr;                // the running step that it belongs to; null: none
    std::shared_ptr<StepCaller> caller;  // that has called and waits
    std::optional<Error> end;            // of its last step
    std::vector<Fate> lost{};            // who wants to know
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
  std::function<void()> told_;
  boost::asio::steady_timer told_timer_;
  bool matching_ = false;
  bool ending_ = false;
  Acceptor acceptor_;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

}  // namespace sml::dialin
