// A host that calls and its head, with somebody between them who breaks their connections at any byte.
#include <array>
#include <csignal>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>

#include "launcher/dialin/coordinator/coordinator.h"
#include "launcher/dialin/peer/coordinator_connection.h"
#include "launcher/dialin/port.h"
#include "tests/support/catch.h"
#include "tests/support/watchdog.h"

using namespace sml;
using namespace sml::dialin;
using namespace std::chrono_literals;
using boost::asio::ip::tcp;

namespace {

const Duration kHeartbeat = fake::scaled(2s);
[[maybe_unused]] const auto kIgnored = ::signal(SIGPIPE, SIG_IGN);  // as every program that has links does

Settings two_hosts() {
  Settings s;
  s.hosts = {"host-0", "host-1"};
  s.job = "job";
  s.build = "1";
  s.job_settings = {{"the number of hosts", "2"}};
  s.callers = Callers::Anywhere;
  s.key.fill(7);
  return s;
}

Introduction of_host_1() { return {kProtocolVersion, "job", 0, "1", {{"the number of hosts", "2"}}, 1, "host-1"}; }

std::uint16_t port_of(int listener) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  REQUIRE(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);  // where IPv4 has it, too
}

// Whose end of a connection breaks first; the other end is broken once something comes from there.
enum class Breaks : std::uint8_t { Both, HeadFirst, HostFirst };

// Carries bytes both ways, so many, and is closed then.
class Relay : public std::enable_shared_from_this<Relay> {
 public:
  Relay(boost::asio::io_context& loop, tcp::socket host, std::size_t bytes, Breaks breaks, std::function<void()> broke)
      : host_(std::move(host)), head_(loop), left_(bytes), breaks_(breaks), broke_(std::move(broke)) {}

  void start(std::uint16_t port) {
    head_.async_connect({boost::asio::ip::address_v4::loopback(), port},
                        [self = shared_from_this()](boost::system::error_code error) {
                          if (error) return self->close(self->host_);
                          self->carry(self->host_, self->head_, self->buffers_[0]);
                          self->carry(self->head_, self->host_, self->buffers_[1]);
                        });
  }

 private:
  using Buffer = std::array<char, 4096>;

  void carry(tcp::socket& from, tcp::socket& to, Buffer& buffer) {
    from.async_read_some(boost::asio::buffer(buffer), [self = shared_from_this(), &from, &to, &buffer](
                                                          boost::system::error_code error, std::size_t size) {
      if (error == boost::asio::error::eof && !self->broken_) return end(to);
      if (error || self->broken_) return self->close_both();
      const std::size_t taken = std::min(size, self->left_);
      self->left_ -= taken;
      boost::system::error_code failed;
      boost::asio::write(to, boost::asio::buffer(buffer, taken), failed);
      if (failed) return self->close_both();
      if (self->left_ == 0) self->break_off();
      self->carry(from, to, buffer);
    });
  }
  void break_off() {
    if (std::exchange(broken_, true)) return;
    broke_();
    if (breaks_ != Breaks::HostFirst) close(head_);
    if (breaks_ != Breaks::HeadFirst) close(host_);
  }
  void close_both() {
    close(head_);
    close(host_);
  }
  static void end(tcp::socket& socket) {
    boost::system::error_code ignored;
    socket.shutdown(tcp::socket::shutdown_send, ignored);
  }
  static void close(tcp::socket& socket) {
    boost::system::error_code ignored;
    socket.set_option(boost::asio::socket_base::linger(true, 0), ignored);  // a reset
    socket.close(ignored);
  }

  tcp::socket host_;
  tcp::socket head_;
  std::array<Buffer, 2> buffers_{};
  std::size_t left_;
  Breaks breaks_;
  std::function<void()> broke_;
  bool broken_ = false;
};

class Between {
 public:
  Between(boost::asio::io_context& loop, std::uint16_t head, unsigned seed)
      : loop_(loop), listener_(loop, {boost::asio::ip::address_v4::loopback(), 0}), head_(head), random_(seed) {
    accept();
  }
  std::uint16_t port() const { return listener_.local_endpoint().port(); }
  int breaks() const { return breaks_; }
  void be_good() { good_ = true; }

 private:
  void accept() {
    listener_.async_accept([this](boost::system::error_code error, tcp::socket socket) {
      if (error) return;
      const std::size_t bytes = good_ ? ~std::size_t{0} : 1'000 + random_() % 60'000;
      const auto breaks = static_cast<Breaks>(
          std::max<int>(0, static_cast<int>(random_() % 8) - 5));  // of one side alone it takes longer
      std::make_shared<Relay>(loop_, std::move(socket), bytes, breaks, [this] { ++breaks_; })->start(head_);
      accept();
    });
  }

  boost::asio::io_context& loop_;
  tcp::acceptor listener_;
  std::uint16_t head_;
  std::mt19937 random_;
  int breaks_ = 0;
  bool good_ = false;
};

std::string noise(unsigned seed, std::size_t size) {
  std::mt19937 random(seed);
  std::string out(size, '\0');
  for (char& byte : out) byte = static_cast<char>(random());
  return out;
}

// Both ends in one loop, and what each has received.
class Job final : public transport::TransportEvents, public CoordinatorConnectionOwner {
 public:
  explicit Job(unsigned seed, std::size_t size)
      : to_host_(noise(seed, size)), to_head_(noise(seed + 1, size)), limit_(*loop_) {
    Result<os::UniqueFd> listener = listen_on(0);
    REQUIRE(listener.has_value());
    port_ = port_of(listener->get());
    between_.emplace(*loop_, port_, seed);
    Result<std::unique_ptr<Coordinator>> head =
        make_coordinator(loop_->get_executor(), pool_,
                         {.settings = two_hosts(), .listener = std::move(*listener), .heartbeat_timeout = kHeartbeat},
                         {.print = [this](const std::string& text) { said_.push_back(text); },
                          .come = [] {},
                          .stop_asked = [](const std::string&, int) {}});
    REQUIRE(head.has_value());
    head_ = std::move(*head);
    head_->begin();
    transport_ = head_->make_transport(HostId(1), "mark");
    transport_->start(*this);
    Result<std::unique_ptr<Credentials>> credentials = make_credentials(Side::Host, two_hosts().key, nullptr);
    REQUIRE(credentials.has_value());
    credentials_ = std::move(*credentials);
  }
  ~Job() override {
    transport_.reset();
    head_.reset();
    pool_.join();
  }

  void run() {
    call_.emplace(loop_, CoordinatorEndpoint{"127.0.0.1", between_->port()}, kHeartbeat, *credentials_,
                  static_cast<CoordinatorConnectionOwner&>(*this));
    call_->begin();
    run_loop();
  }
  void run_loop() {
    limit_.expires_after(fake::watchdog());
    limit_.async_wait([this](boost::system::error_code error) {
      if (!error) loop_->stop();
    });
    loop_->run();
  }

  boost::asio::io_context& loop() { return *loop_; }
  Credentials& credentials() { return *credentials_; }
  std::uint16_t port() const { return port_; }
  const Between& between() const { return *between_; }
  const std::vector<std::string>& said() const { return said_; }
  bool all_came() const { return at_host_ == to_host_ && at_head_ == to_head_; }
  bool is_told() const { return told_; }
  int exit_code() const { return exit_code_; }
  const std::string& lost() const { return lost_; }

  // CoordinatorConnectionOwner
  void call_is_proved() override { call_->introduce(of_host_1()); }
  void call_brings(const ToPeer& message) override {
    if (const auto* m = std::get_if<Welcome>(&message)) call_->agree(m->ticket);
    if (std::holds_alternative<Begin>(message)) talk();
    if (const auto* m = std::get_if<Bytes>(&message)) at_host_ += m->bytes;
    if (const auto* m = std::get_if<JobEnd>(&message)) {
      exit_code_ = m->exit_code;
      call_->say_goodbye();
      call_->finish();
    }
    look_for_end();
  }
  // Before the head has let us in it is called again, as the dialler does.
  void call_ends(const Error& why) override {
    if (exit_code_ >= 0) return;
    if (!begun_) return boost::asio::post(*loop_, [this] { call_->begin(); });
    lost_ = "the head: " + why.message();
    loop_->stop();
  }

  // TransportEvents
  void transport_step(std::string_view) override {}
  void transport_is_local() override {}
  void transport_open(std::string_view, std::string_view) override { begun_ = true; }
  void transport_bytes(std::span<const char> bytes) override {
    at_head_.append(bytes.data(), bytes.size());
    look_for_end();
  }
  void transport_closed(const Error& why) override {
    lost_ = "the host: " + why.message();
    loop_->stop();
  }

 private:
  // A piece of each stream in every turn of the loop.
  void talk() {
    constexpr std::size_t kPiece = 3000;
    if (said_bytes_ >= to_host_.size()) return;
    transport_->send(to_host_.substr(said_bytes_, kPiece));
    call_->send(Bytes{to_head_.substr(said_bytes_, kPiece)});
    said_bytes_ += kPiece;
    boost::asio::post(*loop_, [this] { talk(); });
  }
  void look_for_end() {
    if (!all_came() || std::exchange(ends_, true)) return;
    boost::asio::post(*loop_, [this] {
      transport_.reset();
      head_->end({.exit_code = 5, .text = {}, .failure = {}}, [this] {
        told_ = true;
        loop_->stop();
      });
    });
  }

  std::shared_ptr<boost::asio::io_context> loop_ = std::make_shared<boost::asio::io_context>(1);
  boost::asio::thread_pool pool_{1};
  std::uint16_t port_ = 0;
  std::optional<Between> between_;
  std::unique_ptr<Coordinator> head_;
  std::unique_ptr<Credentials> credentials_;
  std::unique_ptr<transport::AgentTransport> transport_;
  std::optional<CoordinatorConnection> call_;
  std::string to_host_;
  std::string to_head_;
  std::string at_host_;
  std::string at_head_;
  std::size_t said_bytes_ = 0;
  std::vector<std::string> said_;
  boost::asio::steady_timer limit_;
  bool begun_ = false;
  bool ends_ = false;
  bool told_ = false;
  int exit_code_ = -1;
  std::string lost_;
};

// Somebody who has the key, and what the head answers to a first message.
class Caller final : public LinkEvents {
 public:
  Caller(Job& job, ToCoordinator opening) : opening_(std::move(opening)) {
    os::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(job.port());
    REQUIRE(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    Result<std::shared_ptr<Link>> link = make_link(job.loop().get_executor(), std::move(fd), job.credentials());
    REQUIRE(link.has_value());
    link_ = std::move(*link);
    link_->start(*this);
  }
  ~Caller() override { link_->abandon(); }
  const std::optional<ToPeer>& answer() const { return answer_; }

  void link_proved() override { link_->send(encode(opening_)); }
  void link_bytes(std::span<const char> bytes) override {
    reader_.feed(bytes);
    if (auto next = reader_.next(); next && next->has_value()) answer_ = std::move(**next);
  }
  void link_closed(const Error&) override {}

 private:
  ToCoordinator opening_;
  std::shared_ptr<Link> link_;
  FrameReader<ToPeer> reader_;
  std::optional<ToPeer> answer_;
};

}  // namespace

TEST_CASE("dial-in: what both sides say comes once and in order, wherever their connections break") {
  int breaks = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    Job job(seed, 150'000);
    job.run();
    CAPTURE(job.lost());
    CHECK(job.all_came());
    CHECK(job.exit_code() == 5);
    CHECK(job.is_told());
    breaks += job.between().breaks();
  }
  CHECK(breaks > 80);
}

TEST_CASE("dial-in: who comes back without the ticket, or with another, is turned away") {
  Job job(1, 1000);
  Caller guesses(job, Reconnect{std::string(32, '0'), 0});
  Caller has_none(job, Reconnect{"", 0});
  for (const Caller* caller : {&guesses, &has_none}) {
    while (!caller->answer()) REQUIRE(job.loop().run_one_for(fake::watchdog()) == 1);
    REQUIRE(std::holds_alternative<Refused>(*caller->answer()));
    CHECK(std::get<Refused>(*caller->answer()).reason == Reason::Gone);
  }
  job.run();
  CHECK(job.all_came());
}
