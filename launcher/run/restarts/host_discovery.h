// Reads the list of hosts at an interval: from the output of a script, from the file of --hostfile, or from the hosts
// that have called. Does not compare it with earlier lists; HostPool does.
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
#include "common/os/side_thread.h"
#include "common/plan/machine/host.h"
#include "launcher/dialin/coordinator/coordinator.h"
#include "launcher/options/restart_options.h"
#include "launcher/os/child.h"
#include "launcher/os/leash.h"

namespace sml::run {

// Single-threaded: used on the loop's thread only.
class HostDiscovery {
 public:
  static constexpr Duration kLimit = std::chrono::seconds(30);  // of a script; of a file, until it is reported

  // Called for each list, also for an empty or unchanged one. Error: this query failed; the next follows as usual.
  using Listed = std::function<void(const Result<std::vector<plan::Host>>& hosts)>;
  // `options` must outlive this. `head` knows which hosts have called; empty: hosts do not call later.
  HostDiscovery(boost::asio::io_context& loop, const DiscoveryOptions& options, std::weak_ptr<dialin::Coordinator> head,
                Listed listed);

  // Makes the first query after `after`, then one at each interval of the options; does nothing if they ask for no
  // discovery.
  void begin(Duration after);
  // Stops the queries; kills a script that runs, and ignores what a read of the file may still bring.
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
  void read_file();
  Result<void> run_script();
  void read(Output& output);
  void script_ended(const ExitStatus& status);
  std::string source() const;  // what is read, for messages
  void take(Result<std::string> text);

  boost::asio::io_context& loop_;
  const DiscoveryOptions& options_;
  std::weak_ptr<dialin::Coordinator> head_;
  Listed listed_;
  boost::asio::steady_timer timer_;
  Output answer_{loop_};                                        // the script's stdout
  Output complaints_{loop_};                                    // its stderr
  std::optional<os::SideThread> reader_;                        // reads the file; nullopt: it is not being read
  std::string left_out_;                                        // by the script, see os::TrustedCommand
  std::unique_ptr<os::Child> child_;                            // the script; null: it does not run
  std::optional<os::Leash> leash_;                              // kills the script if this process ends
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // lets callbacks see that this is destroyed
};

}  // namespace sml::run
