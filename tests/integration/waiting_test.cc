#include "launcher/transport/net/waiting.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <string>

#include "common/os/fd.h"
#include "tests/support/catch.h"

using namespace sml;

TEST_CASE("what has come on a TCP connection is counted before and after it is read") {
  const os::UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const place = reinterpret_cast<sockaddr*>(&address);
  REQUIRE(::bind(listener.get(), place, size) == 0);
  REQUIRE(::listen(listener.get(), 1) == 0);
  REQUIRE(::getsockname(listener.get(), place, &size) == 0);
  const os::UniqueFd sender(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::connect(sender.get(), place, size) == 0);
  const os::UniqueFd receiver(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  CHECK(net::bytes_received(receiver.get()) == 0);

  std::string text(5000, 'x');
  REQUIRE(::send(sender.get(), text.data(), text.size(), MSG_NOSIGNAL) == 5000);
  REQUIRE(::recv(receiver.get(), text.data(), text.size(), MSG_PEEK | MSG_WAITALL) == 5000);
  CHECK(net::bytes_received(receiver.get()) == 5000);
  REQUIRE(::recv(receiver.get(), text.data(), text.size(), MSG_WAITALL) == 5000);
  CHECK(net::bytes_received(receiver.get()) == 5000);
}

TEST_CASE("on other sockets nothing is counted") {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  const os::UniqueFd one(ends[0]);
  const os::UniqueFd other(ends[1]);
  REQUIRE(::send(one.get(), "x", 1, MSG_NOSIGNAL) == 1);
  CHECK(net::bytes_received(other.get()) == 0);
}
