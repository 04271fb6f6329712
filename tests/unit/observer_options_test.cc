// --metrics, --notify: what of the command line is taken and what is refused.
#include "launcher/options/command_line.h"
#include "tests/support/catch.h"

using namespace sml;
using Words = std::vector<std::string>;

namespace {

ObserverOptions observers_of(Words words) {
  words.emplace_back("prog");
  auto parsed = parse_command_line(words);
  INFO((parsed ? "" : parsed.error().message()));
  REQUIRE(parsed.has_value());
  return std::get<Options>(*parsed).observers;
}

std::string refused_with(Words words) {
  words.emplace_back("prog");
  const auto parsed = parse_command_line(words);
  REQUIRE_FALSE(parsed.has_value());
  CHECK(parsed.error().kind() == ErrorKind::Usage);
  return parsed.error().message();
}

MetricsAddress address_of(const std::string& text) {
  const ObserverOptions options = observers_of({"--metrics", text});
  REQUIRE(options.metrics.size() == 1);
  return options.metrics.front();
}

}  // namespace

TEST_CASE("addresses of metrics") {
  CHECK(observers_of({}).metrics.empty());
  CHECK(address_of("auto").host == "127.0.0.1");
  CHECK(address_of("auto").port == 0);
  CHECK(address_of("9400").port == 9400);
  CHECK(address_of("9400").host == "127.0.0.1");
  CHECK(address_of("0.0.0.0:9400").host == "0.0.0.0");
  CHECK(address_of("[::1]:9400").host == "::1");
  CHECK(address_of("localhost:0").host == "127.0.0.1");
  CHECK(address_of("unix:/run/x.sock").path == "/run/x.sock");
  for (const char* wrong : {"", "unix:", "host:9400", "127.0.0.1", "65536", "1.2.3.4:", "9400x"}) {
    INFO(wrong);
    CHECK(refused_with({"--metrics", wrong}).find("--metrics") != std::string::npos);
  }
}

TEST_CASE("whom and when to notify") {
  const ObserverOptions none = observers_of({});
  CHECK(none.notify.empty());
  CHECK(none.notifies(NotifyOn::Start));
  const ObserverOptions two =
      observers_of({"--notify", "tell 'a b'", "--notify", "https://x/y", "--notify-on", "restart,end"});
  REQUIRE(two.notify.size() == 2);
  CHECK(two.notify[0].command == Words{"tell", "a b"});
  CHECK(two.notify[1].command.empty());
  CHECK(two.notify[1].text == "https://x/y");
  CHECK(two.notifies(NotifyOn::Restart));
  CHECK(two.notifies(NotifyOn::End));
  CHECK_FALSE(two.notifies(NotifyOn::Failure));
  for (const char* wrong : {"", "'x", "ftp://x", "http:///x", "http://a b"}) {
    INFO(wrong);
    CHECK(refused_with({"--notify", wrong}).find("--notify") != std::string::npos);
  }
  CHECK(refused_with({"--notify", "x", "--notify-on", "never"}).find("start, restart, failure or end") !=
        std::string::npos);
  CHECK(refused_with({"--notify-on", "end"}).find("--notify") != std::string::npos);
}
