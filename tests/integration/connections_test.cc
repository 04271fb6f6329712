// Who listens on a port of this machine, as the kernel tells it.
#include "common/os/connections.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/os/fd.h"
#include "launcher/dialin/port.h"
#include "tests/support/catch.h"
#include "tests/support/skip.h"

using namespace sml;

TEST_CASE("who listens on a port is found, over IPv4 and IPv6") {
  const int family = GENERATE(AF_INET, AF_INET6);
  CAPTURE(family);
  os::UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  SML_SKIP_UNLESS(fd, "the machine has no IPv6");
  REQUIRE(::listen(fd.get(), 1) == 0);
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  REQUIRE(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  const std::uint16_t port = ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);  // where IPv6 has it, too
  struct stat socket {};
  REQUIRE(::fstat(fd.get(), &socket) == 0);
  const std::optional<os::Listener> found = os::listener_on(port);
  REQUIRE(found.has_value());
  CHECK(found->socket == socket.st_ino);
  CHECK(found->user == ::geteuid());
  CHECK(os::holder_of_port(port)->pid == ::getpid());
  fd.reset();
  CHECK_FALSE(os::listener_on(port).has_value());
}

TEST_CASE("who has a port is told in a sentence, whether its process is known or not") {
  const std::string known = dialin::held_by({.user = ::geteuid(), .pid = 12, .program = "nc"});
  const std::string user = known.substr(known.find(" of user "));
  CHECK(known == "it is held by process 12 (nc)" + user);
  CHECK(dialin::held_by({.user = ::geteuid(), .pid = 0, .program = ""}) == "it is held by a process" + user);
}
