#include "launcher/run/restarts/first_hosts.h"

#include <chrono>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "common/core/text.h"
#include "launcher/output/notice_pace.h"
#include "launcher/run/restarts/host_discovery.h"

namespace sml::run {

std::string lacking(const std::vector<plan::Host>& hosts, const WantedHosts& wanted, const DiscoveryOptions& options) {
  const auto fewer = [](std::uint64_t count, std::string_view noun, std::uint32_t least) {
    return pluralize(count, noun) + ", fewer than the " + std::to_string(least) + " that are needed";
  };
  if (hosts.size() < wanted.hosts) return fewer(hosts.size(), "host", wanted.hosts);
  std::uint64_t slots = 0;
  for (const plan::Host& host : hosts) {
    if (!host.slots && !options.slots) return "";
    slots += host.slots.value_or(options.slots.value_or(0));
  }
  return slots < wanted.slots ? fewer(slots, "slot", wanted.slots) : "";
}

Result<std::vector<plan::Host>> first_hosts(const DiscoveryOptions& options, const WantedHosts& wanted,
                                            const std::function<void(const std::string& text)>& print) {
  boost::asio::io_context loop{1};
  const TimePoint end = Clock::now() + options.wait;
  Result<std::vector<plan::Host>> found = Error(ErrorKind::Internal, "nothing was asked");
  bool has_said = false;
  NoticePace pace(Clock::now());
  HostDiscovery discovery(loop, options, {}, [&](const Result<std::vector<plan::Host>>& hosts) {
    found = hosts;
    const std::string lack = hosts ? lacking(*hosts, wanted, options) : "";
    if (lack.empty()) return loop.stop();
    const TimePoint now = Clock::now();
    if (now >= end) {
      found = Error(ErrorKind::Timeout, "--host-discovery-script lists " + lack)
                  .with_hint("--elastic-timeout waits longer");
      return loop.stop();
    }
    if (std::exchange(has_said, true) && now < pace.due()) return;
    if (now >= pace.due()) pace.printed(now);
    const auto so_far = std::chrono::floor<std::chrono::seconds>(pace.waited(now));
    print("waiting for hosts: --host-discovery-script lists " + lack + "; " + format_duration(so_far) + " of " +
          format_duration(options.wait) + " (--elastic-timeout)");
  });
  discovery.begin(Duration::zero());
  loop.run();
  discovery.end();
  return found;
}

}  // namespace sml::run
