#include "launcher/start/settle.h"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "launcher/inputs/hosts/elastic_pods.h"
#include "launcher/inputs/status_server.h"
#include "launcher/inputs/stop_grace.h"
#include "launcher/options/app_file.h"
#include "launcher/options/array_line.h"
#include "launcher/sagemaker/sources.h"
#include "launcher/start/find_hosts.h"

namespace sml {

namespace {

using Warn = std::function<void(const std::string&)>;

void warn_all(const std::vector<std::string>& warnings, const Warn& warn) {
  for (const std::string& warning : warnings) warn(warning);
}

// A job that goes on without a lost host benefits from detecting the loss soon.
void choose_heartbeat_timeout(Options& options) {
  constexpr Duration kSoon = std::chrono::seconds(5);
  if (!options.heartbeat_timeout_given && options.restart.outlives_hosts()) options.heartbeat_timeout = kSoon;
  options.ssh.silence_limit = options.heartbeat_timeout;
}

Result<void> settle_training(Options& options, Training& training, HostFinder& finder, const ThisHost& here,
                             const Warn& warn) {
  const Result<std::vector<std::string>> fetched = fetch_sources(options, here);
  if (!fetched) return fetched.error();
  warn_all(*fetched, warn);
  Result<Training> prepared = prepare_training(options, here, finder);
  if (!prepared) return prepared.error();
  training = std::move(*prepared);
  warn_all(training.warnings, warn);
  return {};
}

}  // namespace

ReadFile reader_of_objects(const ThisHost& here) {
  return [&here](const std::string& path, std::size_t limit) {
    return is_in_s3(path) ? read_from_s3(path, limit, here) : read_own_file(here, path, limit);
  };
}

SettledOptions SettledOptions::gathered(std::uint32_t hosts, const plan::HostShares& shares) const {
  Options options = options_for_hosts(options_, hosts, shares);
  if (options.restart.max > 0 && options_.dial_in.least) {
    options.restart.most_hosts = options_.dial_in.hosts;
    options.restart.discovery.callers = DiscoveryOptions::Callers::AnyTime;
    options.restart.discovery.slots = options.nproc_per_node;
  }
  return SettledOptions(std::move(options));
}

Options options_for_hosts(const Options& options, std::uint32_t hosts, const plan::HostShares& shares) {
  Options out = options;
  out.dial_in.hosts = hosts;
  out.dial_in.least.reset();
  out.dial_in.shares = shares;
  return out;
}

Result<SettledOptions> settle_options(Options& options, Training& training, HostFinder& finder, ThisHost& here,
                                      const std::function<void(const std::string&)>& warn) {
  Result<std::optional<std::vector<plan::Host>>> discovered = discover_hosts(options);
  if (!discovered) return discovered.error();
  here.found.discovered = std::move(*discovered);
  choose_failure_file(options, here);
  choose_progress_lines(options, here);
  choose_status_server(options, here);
  if (Result<void> removed = remove_old_failure(options, here); !removed) warn(removed.error().message());
  if (Result<void> taken = take_elastic_pods(options, here); !taken) return taken.error();
  choose_start_timeout(options, finder);
  choose_heartbeat_timeout(options);
  warn_all(choose_stop_grace(options, here, finder), warn);
  if (Result<void> read = read_app_file(options, std::bind_front(read_own_file, std::cref(here))); !read) {
    return read.error();
  }
  if (Result<void> taken = take_array_line(options, here.process.environment, reader_of_objects(here)); !taken) {
    return taken.error();
  }
  if (options.mode == Mode::Train) {
    if (Result<void> trained = settle_training(options, training, finder, here, warn); !trained) return trained.error();
  }
  return SettledOptions(std::exchange(options, Options()));
}

}  // namespace sml
