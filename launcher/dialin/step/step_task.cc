#include "launcher/dialin/step/step_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include "common/core/clock.h"
#include "common/core/text.h"
#include "common/os/fd.h"
#include "launcher/dialin/link.h"
#include "launcher/dialin/messages.h"
#include "launcher/os/heeded_stops.h"
#include "launcher/transport/names/addresses.h"
#include "launcher/transport/net/tcp_connect.h"
#include "launcher/transport/process_transport.h"

namespace sml::dialin {

namespace {

namespace asio = boost::asio;

constexpr Duration kStepConnectLimit = std::chrono::seconds(3);
constexpr Duration kStepPause = std::chrono::milliseconds(100);
constexpr Duration kTimeout = std::chrono::seconds(20);    // until the launcher has answered for the first time
constexpr int kMostUnproved = 3;                           // connections to someone who does not have the key
constexpr Duration kTakesLeave = std::chrono::seconds(5);  // for the last words to be read

class StepTask final : private LinkEvents {
 public:
  StepTask(const StepCall& call, std::unique_ptr<Credentials> credentials)
      : call_(call),
        credentials_(std::move(credentials)),
        signals_(loop_),
        timer_(loop_),
        give_up_at_(Clock::now() + kTimeout) {
    for (const int signo : os::heeded_stops()) signals_.add(signo);
  }
  ~StepTask() override { cancel_->cancel(); }

  int run() {
    await_signals();
    dial();
    loop_.run();
    return status_;
  }

 private:
  // A program that the launcher has had started; it has a connection until that breaks.
  class Program final : public transport::TransportEvents {
   public:
    Program(StepTask& task, const std::string& script)
        : task_(task),
          process_(transport::make_program_transport(task.loop_.get_executor(), {"/bin/sh", "-c", script})) {
      process_->start(*this);
    }
    void send(std::string bytes) { process_->send(std::move(bytes)); }
    void end_input() { process_->finish(); }
    bool has_ended() const { return ended_; }

   private:
    void transport_step(std::string_view) override {}
    void transport_is_local() override {}
    void transport_open(std::string_view, std::string_view) override {}
    void transport_bytes(std::span<const char> bytes) override {
      task_.program_says(*this, {bytes.data(), bytes.size()});
    }
    void transport_closed(const Error& why) override {
      ended_ = true;
      task_.program_ended(*this, process_->far_side_ended_well() ? std::string() : why.message());
    }

    StepTask& task_;
    std::unique_ptr<transport::AgentTransport> process_;
    bool ended_ = false;
  };

  // ---- calling

  // One address at a time: another machine may have the same address in a network of its own.
  void dial() {
    const std::string address = call_.addresses[next_address_ % call_.addresses.size()];
    asio::post(pool_, [this, address, cancel = cancel_] {
      auto answer = std::make_shared<Result<os::UniqueFd>>(os::UniqueFd());
      if (const auto found = names::addresses_of(address, call_.port, AF_UNSPEC); found) {
        *answer = net::connect_to(*found, kStepConnectLimit, *cancel);
      } else {
        *answer = found.error();
      }
      if (cancel->cancelled()) return;
      asio::post(loop_, [this, answer] { connected(std::move(*answer)); });
    });
  }

  void connected(Result<os::UniqueFd> socket) {
    if (is_over_) return;
    if (!socket) return failed(socket.error());
    Result<std::shared_ptr<Link>> link = make_link(loop_.get_executor(), std::move(*socket), *credentials_);
    if (!link) return failed(link.error());
    was_there_ = true;
    link_ = std::move(*link);
    reader_ = {};
    link_->start(*this);
  }

  void failed(const Error& why) {
    const std::size_t count = call_.addresses.size();
    const std::string& address = call_.addresses[next_address_++ % count];
    const std::string text = fmt::format("cannot call sml-run at {} port {}: {}", address, call_.port, why.message());
    if (next_address_ == 1) send_word(StepWord::Trying, text);
    if (next_address_ % count == 1 || count == 1) why_ = text;
    if (why.kind() == ErrorKind::Auth && ++unproved_ == kMostUnproved) return give_up(text);
    const bool has_left = was_there_ && why.kind() == ErrorKind::Connect;
    if (served_ ? programs_.empty() : has_left || Clock::now() > give_up_at_) return give_up(why_);
    if (next_address_ % count != 0) return dial();
    timer_.expires_after(kStepPause);
    timer_.async_wait([this](boost::system::error_code error) {
      if (!error) dial();
    });
  }

  void link_proved() override {
    link_->send(encode(ToCoordinator(Introduction{.job = {}, .build = {}, .host = call_.host})));
  }

  void link_bytes(std::span<const char> bytes) override {
    reader_.feed(bytes);
    while (link_) {
      const Result<std::optional<ToPeer>> message = reader_.next();
      if (!message) return link_broke(message.error());
      if (!*message) return;
      std::visit([this](const auto& m) { handle(m); }, **message);
    }
  }

  void link_closed(const Error& why) override {
    link_.reset();
    if (current_ == nullptr && !served_) return failed(why);
    link_broke(why);
  }

  // The agent waits for another connection for a while. Its helper will be started on the next one.
  void link_broke(const Error&) {
    drop_link();
    if (Program* program = std::exchange(current_, nullptr)) program->end_input();
    if (is_over_ || programs_.empty()) return end(status_);
    next_address_ = 0;
    dial();
  }

  void drop_link() {
    if (!link_) return;
    link_->abandon();
    link_.reset();
  }

  // ---- messages of the launcher

  void handle(const Begin& m) {
    if (current_ != nullptr) return;
    served_ = true;
    programs_.push_back(std::make_unique<Program>(*this, m.mark));
    current_ = programs_.back().get();
  }
  void handle(const Bytes& m) {
    if (current_ != nullptr) current_->send(m.bytes);
  }
  void handle(const EndInput&) {
    if (current_ != nullptr) current_->end_input();
  }
  void handle(const Refused& m) { give_up("sml-run turns this host away: " + show(m.text)); }
  void handle(const JobEnd&) {
    served_ = true;
    drop_link();
    if (programs_.empty()) end(0);
  }
  void handle(const auto&) {}

  // ---- what it has started

  void program_says(const Program& program, std::string_view bytes) {
    if (&program != current_ || !link_) return;
    send_in_pieces(bytes, [this](Bytes piece) { link_->send(encode(ToCoordinator(std::move(piece)))); });
  }

  // The host starts no other program then; the launcher has another step started if it has to.
  void program_ended(const Program& program, const std::string& text) {
    if (&program == current_ && link_) {
      current_ = nullptr;
      link_->send(encode(ToCoordinator(AgentEnded{.text = text})));
      link_->finish();
      timer_.expires_after(kTakesLeave);
      timer_.async_wait([this, link = std::weak_ptr(link_)](boost::system::error_code error) {
        const bool stands = link_ && link.lock() == link_;  // the agent may have another connection meanwhile
        if (!error && stands) link_broke(Error(ErrorKind::Lost, ""));
      });
    }
    asio::post(loop_, [this] {
      std::erase_if(programs_, [](const auto& one) { return one->has_ended(); });
      if (programs_.empty() && !link_) end(status_);
    });
  }

  // ---- the end

  void await_signals() {
    signals_.async_wait([this](boost::system::error_code error, int signo) {
      if (error) return;
      if (programs_.empty()) return end(128 + signo);
      await_signals();
    });
  }

  void give_up(const std::string& why) {
    send_word(StepWord::Failed, why);
    const std::string text = "sml-run: " + call_.host + ": " + why + "\n";
    os::write_all(STDERR_FILENO, text);
    end(kCannotCall);
  }

  void send_word(StepWord word, const std::string& text) const {
    os::write_all(STDOUT_FILENO, "\n" + to_text({.host = call_.host, .word = word, .text = text}, call_.mark));
  }

  void end(int status) {
    status_ = status;
    is_over_ = true;
    cancel_->cancel();
    drop_link();
    loop_.stop();
  }

  const StepCall& call_;
  std::unique_ptr<Credentials> credentials_;
  asio::io_context loop_{1};
  asio::thread_pool pool_{1};
  std::shared_ptr<net::CancelToken> cancel_ = std::make_shared<net::CancelToken>();
  asio::signal_set signals_;
  asio::steady_timer timer_;
  TimePoint give_up_at_;
  std::shared_ptr<Link> link_;  // null: there is no connection
  FrameReader<ToPeer> reader_;
  std::vector<std::unique_ptr<Program>> programs_;
  Program* current_ = nullptr;  // the one that has the connection
  std::size_t next_address_ = 0;
  int unproved_ = 0;
  bool was_there_ = false;  // someone has accepted a connection
  std::string why_;         // the launcher cannot be reached at its first address
  bool served_ = false;     // the launcher has answered
  bool is_over_ = false;
  int status_ = 0;
};

}  // namespace

int serve_step(const StepCall& call, const std::string& secret) {
  Result<Key> key = key_of_step(secret);
  Result<std::unique_ptr<Credentials>> credentials =
      key ? make_credentials(Side::Host, *key, nullptr) : Result<std::unique_ptr<Credentials>>(key.error());
  if (secret.empty() || !credentials) {
    const std::string why = secret.empty() ? "there is no " + call.secret_variable + ", by which this host is known"
                                           : credentials.error().message();
    os::write_all(STDOUT_FILENO, "\n" + to_text({call.host, StepWord::Failed, why}, call.mark));
    os::write_all(STDERR_FILENO, "sml-run: " + call.host + ": " + why + "\n");
    return kCannotCall;
  }
  return StepTask(call, std::move(*credentials)).run();
}

}  // namespace sml::dialin
