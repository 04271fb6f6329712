// Queries the list of hosts repeatedly: from a script, the file of --hostfile, or the hosts that have called.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/error.h"
#include "common/core/exit_status.h"
#include "common/plan/machine/host.h"
#include "launcher/options/restart_options.h"
#include "launcher/os/child.h"
#include "launcher/os/leash.h"

namespace sml::run {

// Single-threaded: used on the loop's thread only.
class HostDiscovery {
 public:
  static constexpr Duration kLimit = std::chrono::seconds(30);  // time limit of a script

  struct Events {
    std::function<void(std::vector<plan::Host>)> listed;
    std::function<void(const Error& why)> failed;        // the query failed
    std::function<std::vector<plan::Host>()> callers{};  // the hosts that have called and are connected
  };
  // `options` must outlive this.
  HostDiscovery(boost::asio::io_context& loop, const DiscoveryOptions& options, Events events);

  // Makes the first query after `after`, then one at each interval of the options; does nothing if they ask for no
  // discovery.
  void begin(Duration after);
  // Stops; kills a script that runs.
  void end();

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 20;  // bytes of the script's output

  // A stream of the script.
  struct Output {
    explicit Output(boost::asio::io_context& loop) : pipe(loop) {}
    boost::asio::posix::stream_descriptor pipe;
    std::string text;
  };

  void arm(Duration after);
  void ask();
  Result<void> run_script();
  void read(Output& output);
  void script_ended(const ExitStatus& status);
  void take(Result<std::string> text);

  boost::asio::io_context& loop_;
  const DiscoveryOptions& options_;
  Events events_;
  boost::asio::steady_timer timer_;
  Output answer_;
  Output complaints_;
  std::unique_ptr<os::Child> child_;
  std::optional<os::Leash> leash_;  // a script that hangs does not outlive us
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace sml::run
