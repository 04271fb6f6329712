#include "launcher/agent/diagnosis/usage_service.h"

#include <chrono>
#include <memory>
#include <thread>

#include <boost/asio/io_context.hpp>

#include "tests/support/catch.h"

using namespace sml;
using namespace sml::agent;
using namespace std::chrono_literals;

namespace {

struct Owner final : ServiceOwner {
  void send(const wire::ToLauncher&) override { ++sent; }
  void fail_rank(Rank, wire::FaultKind, int, const std::string&) override {}
  void say_for(Rank, Stream, const std::string&) override {}
  bool output_flows() const override { return true; }
  void moved_on() override {}

  int sent = 0;
};

}  // namespace

// Without the guard of its handler, sanitizers see here what the service does after its end.
TEST_CASE("a usage service that is destroyed when its timer is due does nothing more") {
  boost::asio::io_context loop{1};
  SystemProcesses processes;
  SystemNetwork network;
  const ScratchFolder scratch;
  const HostSystem system{.loop = loop, .processes = processes, .network = network, .scratch = scratch};
  LocalConnectionCheck callers(loop);
  Owner owner;
  const ServiceContext context{.system = system, .callers = callers, .owner = owner};
  auto service = std::make_unique<UsageService>(context);
  boost::asio::steady_timer first(loop, 1ms);
  first.async_wait([&service](boost::system::error_code) { service.reset(); });
  service->start({});
  CHECK(owner.sent == 1);
  std::this_thread::sleep_for(1100ms);  // both timers are due before the loop looks at them
  loop.poll();
  CHECK(service == nullptr);
  CHECK(owner.sent == 1);
}
