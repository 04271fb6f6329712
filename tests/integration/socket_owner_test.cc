#include "launcher/agent/os/socket_owner.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>

#include "common/os/small_file.h"
#include "tests/support/catch.h"
#include "tests/support/skip.h"

using namespace sml;
using State = os::SocketOwner::State;
using Tcp = boost::asio::ip::tcp;

namespace {

struct Connection {
  explicit Connection(const char* address) {
    Tcp::acceptor acceptor(loop, {boost::asio::ip::make_address(address), 0});
    caller.connect(acceptor.local_endpoint());
    called = acceptor.accept();
    ends = {caller.local_endpoint(), caller.remote_endpoint()};
  }
  boost::asio::io_context loop;
  Tcp::socket caller{loop};
  Tcp::socket called{loop};
  os::TcpEnds ends;
};

}  // namespace

TEST_CASE("the kernel tells whose the caller's socket is, until it is closed") {
  os::SocketOwners owners;
  for (const char* address : {"127.0.0.1", "::1"}) {
    Connection c(address);
    for (const bool by_table : {false, true}) {
      const std::string table =
          os::read_small_file(c.ends.local.address().is_v4() ? "/proc/net/tcp" : "/proc/net/tcp6");
      const os::SocketOwner owner = by_table ? os::find_owner(c.ends, table).value() : owners.owner_of(c.ends);
      CHECK(owner.state == State::Held);
      CHECK(owner.uid == ::geteuid());
    }
    c.caller.close();
    CHECK(owners.owner_of(c.ends).state == State::Closed);
    c.called.close();
    const os::TcpEnds nobody{{c.ends.local.address(), 1}, c.ends.remote};
    CHECK(owners.owner_of(nobody).state == State::Absent);
  }
}

TEST_CASE("a socket that another user has made is theirs") {
  SML_SKIP_UNLESS(::geteuid() == 0, "only root can become another user");
  os::SocketOwners owners;
  boost::asio::io_context loop;
  Tcp::acceptor acceptor(loop, {boost::asio::ip::make_address("127.0.0.1"), 0});
  const Tcp::endpoint here = acceptor.local_endpoint();
  const pid_t pid = ::fork();
  if (pid == 0) {
    const bool other = ::setuid(65534) == 0;
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool connected = other && ::connect(fd, here.data(), static_cast<socklen_t>(here.size())) == 0;
    char end = 0;
    if (connected) (void)!::read(fd, &end, 1);  // until the other end is closed
    ::_exit(connected ? 0 : 1);
  }
  {
    const Tcp::socket called = acceptor.accept();
    const os::SocketOwner owner = owners.owner_of({called.remote_endpoint(), called.local_endpoint()});
    CHECK(owner.state == State::Held);
    CHECK(owner.uid == 65534);
  }
  int status = -1;
  CHECK(::waitpid(pid, &status, 0) == pid);
  CHECK(status == 0);
}
