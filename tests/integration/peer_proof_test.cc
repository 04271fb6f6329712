// Two sides that both have a key which others can guess, and show each other credentials.
#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "launcher/dialin/link.h"
#include "launcher/dialin/port.h"
#include "tests/support/catch.h"
#include "tests/support/watchdog.h"

using namespace sml;
using namespace sml::dialin;
using namespace std::chrono_literals;

namespace {

// What all authorities of a cluster know of credentials: "USER CLAIM".
class Authority : public PeerProof {
 public:
  explicit Authority(std::string user) : user_(std::move(user)) {}

  Result<std::string> make(std::string_view claim) override { return user_ + " " + std::string(claim); }
  Result<void> check(std::string_view credential, std::string_view claim) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!credential.starts_with(user_ + " ")) return Error(ErrorKind::Auth, "is of another user");
    if (credential.substr(user_.size() + 1) != claim) return Error(ErrorKind::Auth, "is for another connection");
    if (!seen_.insert(std::string(credential)).second) return Error(ErrorKind::Auth, "is shown again");
    return {};
  }

 private:
  std::mutex mutex_;
  std::string user_;
  std::set<std::string> seen_;
};

// Believes everything, and shows what it has seen of the other side, or once before.
class Echo : public PeerProof {
 public:
  Result<std::string> make(std::string_view) override { return seen_.empty() ? "me of-another-connection" : seen_; }
  Result<void> check(std::string_view credential, std::string_view) override {
    seen_ = credential;
    return {};
  }

 private:
  std::string seen_;
};

class NoAuthority : public PeerProof {
 public:
  Result<std::string> make(std::string_view) override { return Error(ErrorKind::Auth, "the authority is away"); }
  Result<void> check(std::string_view, std::string_view) override { return {}; }
};

// One end: says a word when it is proved.
class End final : public LinkEvents {
 public:
  End(boost::asio::io_context& loop, Side side, os::UniqueFd socket, std::shared_ptr<PeerProof> proof,
      std::function<void()> news)
      : news_(std::move(news)) {
    Key key{};
    key.fill(7);
    Result<std::unique_ptr<Credentials>> credentials = make_credentials(side, key, std::move(proof));
    REQUIRE(credentials.has_value());
    credentials_ = std::move(*credentials);
    os::set_nonblocking(socket.get());
    Result<std::shared_ptr<Link>> link = make_link(loop.get_executor(), std::move(socket), *credentials_);
    REQUIRE(link.has_value());
    link_ = std::move(*link);
    link_->start(*this);
  }
  ~End() override { link_->abandon(); }

  void link_proved() override {
    is_proved = true;
    link_->known();
    link_->send("word");
  }
  void link_bytes(std::span<const char> bytes) override {
    heard.append(bytes.data(), bytes.size());
    news_();
  }
  void link_closed(const Error& error) override {
    why = error.message();
    news_();
  }

  bool is_proved = false;
  std::string heard;
  std::string why;

 private:
  std::function<void()> news_;
  std::unique_ptr<Credentials> credentials_;
  std::shared_ptr<Link> link_;
};

struct Met {
  bool host_believes = false;
  bool head_believes = false;
  std::string host_hears, head_hears;
  std::string host_says, head_says;  // why it has closed
};

// Until each has heard the other's word, or one has closed and the other knows.
Met meet(std::shared_ptr<PeerProof> of_host, std::shared_ptr<PeerProof> of_head) {
  boost::asio::io_context loop(1);
  Result<os::UniqueFd> listener = listen_on(0);
  REQUIRE(listener.has_value());
  os::UniqueFd host(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(own_port(listener->get()));
  REQUIRE(::connect(host.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  os::UniqueFd head;
  while (!head) head.reset(::accept4(listener->get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  boost::asio::steady_timer limit(loop, fake::watchdog());
  limit.async_wait([&](boost::system::error_code error) {
    if (!error) loop.stop();
  });
  End* a = nullptr;
  End* b = nullptr;
  const auto news = [&] {
    const bool met = !a->heard.empty() && !b->heard.empty();
    const bool over = !a->why.empty() && !b->why.empty();
    if (met || over) loop.stop();
  };
  End host_end(loop, Side::Host, std::move(host), std::move(of_host), news);
  End head_end(loop, Side::Coordinator, std::move(head), std::move(of_head), news);
  a = &host_end;
  b = &head_end;
  loop.run();
  return {host_end.is_proved, head_end.is_proved, host_end.heard, head_end.heard, host_end.why, head_end.why};
}

}  // namespace

TEST_CASE("peer proof: two sides of one user believe each other, and go on") {
  const Met met = meet(std::make_shared<Authority>("me"), std::make_shared<Authority>("me"));
  CHECK(met.host_believes);
  CHECK(met.head_believes);
  CHECK(met.host_hears == "word");
  CHECK(met.head_hears == "word");
}

TEST_CASE("peer proof: the head believes no credential of another user or connection, and nobody without one") {
  const auto refused = [](std::shared_ptr<PeerProof> of_host) {
    const Met met = meet(std::move(of_host), std::make_shared<Authority>("me"));
    CHECK_FALSE(met.host_believes);
    CHECK_FALSE(met.head_believes);
    return std::array{met.head_says, met.host_says};
  };
  CHECK(refused(std::make_shared<Authority>("you")) ==
        std::array<std::string, 2>{"its credential is of another user",
                                   "the head turns this host away: its credential is of another user"});
  CHECK(refused(std::make_shared<Echo>()) ==
        std::array<std::string, 2>{"its credential is for another connection",
                                   "the head turns this host away: its credential is for another connection"});
  CHECK(refused(std::make_shared<NoAuthority>()) ==
        std::array<std::string, 2>{"the connection closed before authentication", "the authority is away"});
}

TEST_CASE("peer proof: who has the key and shows no credential is not let in") {
  const Met met = meet(nullptr, std::make_shared<Authority>("me"));
  CHECK_FALSE(met.head_believes);
  CHECK(met.head_says == "it shows no credential");
  CHECK(met.head_hears.empty());
}

TEST_CASE("peer proof: a host does not believe a head that sends the host's own credential back") {
  const Met met = meet(std::make_shared<Authority>("me"), std::make_shared<Echo>());
  CHECK_FALSE(met.host_believes);
  CHECK(met.host_says == "its credential is for another connection");
}

TEST_CASE("peer proof: a host does not believe a head of another user, or one without a credential") {
  const auto any = [](std::shared_ptr<PeerProof> of_head) {
    const Met met = meet(std::make_shared<Authority>("me"), std::move(of_head));
    CHECK_FALSE(met.host_believes);
    return met.host_says;
  };
  class Other final : public Echo {
    Result<std::string> make(std::string_view claim) override { return "you " + std::string(claim); }
  };
  CHECK(any(std::make_shared<Other>()) == "its credential is of another user");
  CHECK(any(std::make_shared<NoAuthority>()) == "the head turns this host away: the authority is away");
}
