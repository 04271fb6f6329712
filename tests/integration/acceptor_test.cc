#include "launcher/os/acceptor.h"

#include <optional>

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <boost/asio/io_context.hpp>

#include "tests/support/catch.h"

using namespace sml;

namespace {

// A listening socket with a name that the kernel chooses, and the callers that have connected to it.
struct Listener {
  Listener() : socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un chosen{};
    chosen.sun_family = AF_UNIX;
    REQUIRE(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&chosen), sizeof(sa_family_t)) == 0);
    REQUIRE(::listen(socket.get(), 8) == 0);
    REQUIRE(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  }
  os::UniqueFd connect() const {
    os::UniqueFd caller(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::connect(caller.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0);
    return caller;
  }
  os::UniqueFd socket;
  sockaddr_un address{};
  socklen_t size = sizeof address;
};

struct NoDescriptors {
  NoDescriptors() {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const rlimit none{0, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before); }
  rlimit before{};
};

}  // namespace

TEST_CASE("acceptor: without descriptors it pauses, and then accepts those that have waited") {
  boost::asio::io_context loop(1);
  Listener listener;
  int came = 0;
  os::Acceptor acceptor(loop.get_executor(), std::move(listener.socket), [&](const os::UniqueFd&) { ++came; });
  acceptor.open();
  const os::UniqueFd first = listener.connect();
  const os::UniqueFd second = listener.connect();
  {
    const NoDescriptors none;
    loop.poll();  // would not return if it tried again and again
    CHECK(came == 0);
  }
  while (came < 2) loop.run_one();
}

TEST_CASE("acceptor: whoever receives a connection may destroy it") {
  boost::asio::io_context loop(1);
  Listener listener;
  std::optional<os::Acceptor> acceptor;
  acceptor.emplace(loop.get_executor(), std::move(listener.socket), [&](const os::UniqueFd&) { acceptor.reset(); });
  acceptor->open();
  const os::UniqueFd caller = listener.connect();
  loop.run();  // ends, as nothing listens any more
  CHECK_FALSE(acceptor.has_value());
}
