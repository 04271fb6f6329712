// Log-ins over SSH and look-ups of names, many at a time: these have threads, and hand over what they have found. A
// real sshd answers. `tests/run tsan` runs it under the thread sanitizer.
#include <array>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include "common/os/fd.h"
#include "common/os/spawn.h"
#include "launcher/transport/names/accounts.h"
#include "launcher/transport/names/addresses.h"
#include "launcher/transport/ssh/ssh_transport.h"
#include "tests/support/catch.h"
#include "tests/support/fake_init.h"

using namespace sml;
using boost::asio::ip::tcp;
using fake::ScratchFolder;

namespace {

constexpr const char* kRunFolder = "/run/sshd";  // which sshd wants when it is root

// "@" stands for the folder.
constexpr const char* kServer = R"(HostKey @/host_key
AuthorizedKeysFile @/key.pub
StrictModes no
PermitRootLogin yes
PasswordAuthentication no
UsePAM no
UseDNS no
PidFile none
)";
constexpr const char* kUser = R"(Host stranger
  HostKeyAlias stranger
Host new
  HostKeyAlias new
  StrictHostKeyChecking accept-new
  UserKnownHostsFile @/new_known
Host refused
  IdentityFile @/other_key
Host * !refused
  IdentityFile @/key
Host *
  HostName 127.0.0.1
  HostKeyAlias server
  UserKnownHostsFile @/known
  GlobalKnownHostsFile none
  IdentitiesOnly yes
  IdentityAgent none
)";

// Keys of a server and of users, and what both read.
struct Setup {
  Setup() {
    if (::geteuid() == 0) made_run_folder = ::mkdir(kRunFolder, 0755) == 0;
    for (const char* key : {"host_key", "key", "other_key"}) {
      const std::string command = "ssh-keygen -q -t ed25519 -N '' -f " + folder / key;
      REQUIRE(std::system(command.c_str()) == 0);
    }
    folder.write("known", "server " + fake::read_file(folder / "host_key.pub"));
    server = write("sshd_config", kServer);
    options.config_file = write("config", kUser);
    options.connect_timeout = std::chrono::hours(1);
  }
  ~Setup() {
    if (made_run_folder) ::rmdir(kRunFolder);
  }
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;

  std::string write(const std::string& name, std::string text) const {
    for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@'))
      text.replace(at, 1, folder.path());
    return folder.write(name, text);
  }

  bool made_run_folder = false;
  ScratchFolder folder;
  std::string server;
  SshOptions options;
};

// A port of loopback, at which each connection has an sshd of its own.
class Server {
 public:
  Server(boost::asio::io_context& loop, std::string config)
      : acceptor_(loop, {boost::asio::ip::address_v4::loopback(), 0}), config_(std::move(config)) {
    accept();
  }
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  void close() { acceptor_.close(); }

 private:
  void accept() {
    acceptor_.async_accept([this](boost::system::error_code error, tcp::socket socket) {
      if (error) return;
      const int fd = socket.native_handle();
      ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
      CHECK(os::spawn_helper({.argv = {"/usr/sbin/sshd", "-i", "-f", config_},
                              .stdin_fd = fd,
                              .stdout_fd = fd,
                              .stderr_fd = null_->get()})
                .has_value());
      accept();
    });
  }

  tcp::acceptor acceptor_;
  std::string config_;
  Result<os::UniqueFd> null_ = os::open_dev_null();
};

// A log-in, and what becomes of it. What it sends comes back from `cat`.
class Client final : public transport::TransportEvents {
 public:
  Client(boost::asio::io_context& loop, std::unique_ptr<transport::AgentTransport> transport,
         std::function<void()> gone)
      : loop_(loop), transport_(std::move(transport)), gone_(std::move(gone)) {
    transport_->start(*this);
  }

  void transport_step(std::string_view step) override {
    if (step != leaves_at) return;
    boost::asio::post(loop_, [this] {
      transport_.reset();
      gone_();
    });
  }
  void transport_is_local() override { FAIL("it has a port of its own"); }
  void transport_open(std::string_view, std::string_view) override {
    is_open = true;
    transport_->send(sent);
  }
  void transport_bytes(std::span<const char> bytes) override {
    received.append(bytes.data(), bytes.size());
    if (received.size() == sent.size()) transport_->finish();
  }
  void transport_closed(const Error& why) override {
    error = why;
    gone_();
  }

  std::string leaves_at;
  std::string sent = std::string(300'000, 'x');
  bool is_open = false;
  std::string received;
  std::optional<Error> error;

 private:
  boost::asio::io_context& loop_;
  std::unique_ptr<transport::AgentTransport> transport_;
  std::function<void()> gone_;
};

// The loop ends by itself when all clients are gone.
struct Crowd {
  Client& add(const std::string& name, const std::string& command = "cat", std::optional<std::uint16_t> port = {}) {
    ++left;
    auto transport = ssh::make_ssh_transport(loop.get_executor(), pool, setup.options,
                                             {name, "", command, port.value_or(server.port())});
    return clients.emplace_back(loop, std::move(transport), [this] {
      if (--left == 0) server.close();
    });
  }

  Setup setup;
  boost::asio::io_context loop{1};
  boost::asio::thread_pool pool{8};
  Server server{loop, setup.server};
  std::size_t left = 0;
  std::deque<Client> clients;
};

std::uint16_t port_without_listener(tcp::acceptor& bound) {
  bound.open(tcp::v4());
  bound.bind({boost::asio::ip::address_v4::loopback(), 0});
  return bound.local_endpoint().port();
}

struct LookUp {
  std::size_t localhost = 0;
  bool has_no_ipv6 = false;
  bool knows_us = false;
  bool knows_nobody = false;
};

LookUp look_up() {
  const auto found = names::addresses_of("localhost", 1, AF_INET);
  return {.localhost = found ? found->size() : 0,
          .has_no_ipv6 = !names::addresses_of("127.0.0.1", 1, AF_INET6).has_value(),
          .knows_us = names::account_of(::geteuid()).has_value(),
          .knows_nobody = names::account_of(54321).has_value()};
}

}  // namespace

TEST_CASE("log-ins and look-ups at the same time hand over what they have found", "[threads]") {
  fake::Init init;
  {
    Crowd crowd;
    tcp::acceptor bound(crowd.loop);
    const std::uint16_t nobody = port_without_listener(bound);
    std::vector<Client*> good, new_to_us, away;
    for (int i = 0; i < 4; ++i) good.push_back(&crowd.add("good"));
    for (int i = 0; i < 3; ++i) new_to_us.push_back(&crowd.add("new"));
    for (const char* step : {"connecting", "authenticating", "starting the agent"}) {
      away.push_back(&crowd.add("good"));
      away.back()->leaves_at = step;
    }
    const std::array refused = {&crowd.add("refused"), &crowd.add("refused")};
    const Client& stranger = crowd.add("stranger");
    const Client& closed = crowd.add("good", "cat", nobody);
    const std::string cuts = "head -c 1 >/dev/null; kill -KILL $PPID";  // a client sends once it is open
    const std::array cut = {&crowd.add("good", cuts), &crowd.add("good", cuts)};

    std::array<LookUp, 12> found{};
    for (LookUp& one : found) boost::asio::post(crowd.pool, [&one] { one = look_up(); });
    crowd.loop.run();
    crowd.pool.join();

    for (const auto& some : {good, new_to_us}) {
      for (const Client* client : some) {
        REQUIRE(client->error);
        INFO(client->error->message());
        CHECK(client->received == client->sent);
        // A start-up file of this machine may print more when sixteen log-ins run it at once.
        CHECK(client->error->message().starts_with("the remote command exited with status 0"));
      }
    }
    CHECK(fake::read_file(crowd.setup.folder / "new_known").starts_with("new ssh-ed25519 "));
    for (const Client* client : away) CHECK_FALSE(client->error);
    for (const Client* client : refused) CHECK((client->error && client->error->kind() == ErrorKind::Auth));
    CHECK((stranger.error && stranger.error->kind() == ErrorKind::HostKey));
    CHECK((closed.error && closed.error->kind() == ErrorKind::Connect));
    for (const Client* client : cut) CHECK((client->is_open && client->error->kind() == ErrorKind::Lost));
    for (const LookUp& one : found) {
      CHECK(one.localhost > 0);
      CHECK(one.has_no_ipv6);
      CHECK(one.knows_us);
      CHECK_FALSE(one.knows_nobody);
    }
  }
  CHECK(init.nothing_left());
}
