#include "launcher/transport/ssh/ssh_transport.h"

#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/core/text.h"
#include "launcher/transport/ssh/ssh_error.h"
#include "launcher/transport/ssh/ssh_login.h"

namespace sml::ssh {
namespace {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;

constexpr std::size_t kPiece = 128 * 1024;     // of output, passed to the owner at a time
constexpr std::size_t kTurn = 8 * kPiece;      // per turn of the loop, so that one host cannot starve the others
constexpr std::size_t kJoin = 32 * 1024;       // small messages queued together travel in one packet
constexpr std::size_t kKeptErrors = 8 * 1024;  // of the remote command's standard error
constexpr std::size_t kShownErrors = 1024;
constexpr auto kStatusWait = std::chrono::seconds(2);  // for the exit status after the end of output

class Connection;

// Shared by the loop and the log-in thread. The thread never touches the Connection: it posts handlers, and only while
// attached.
struct LoginJob {
  LoginJob(asio::any_io_executor executor, SshOptions ssh, SshTarget host)
      : loop(std::move(executor)), options(std::move(ssh)), target(std::move(host)) {}

  // After this nothing is posted any more, so the loop may be destroyed before the thread ends.
  void detach() {
    cancel.cancel();
    const std::lock_guard lock(mutex);
    attached = false;
  }
  template <class Handler>
  void post(Handler handler) {
    const std::lock_guard lock(mutex);
    if (attached) asio::post(loop, std::move(handler));
  }

  net::CancelToken cancel;
  std::mutex mutex;
  bool attached = true;  // guarded by mutex
  asio::any_io_executor loop;
  const SshOptions options;  // a copy: the thread may outlive the transport
  const SshTarget target;
  std::weak_ptr<Connection> connection;  // locked on the loop thread only
};

void run_login(const std::shared_ptr<LoginJob>& job);

// Used on the loop thread only. Kept alive by its own handlers; `events_` is null once no event may be sent any more.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  explicit Connection(const asio::any_io_executor& loop)
      : loop_(loop), socket_(loop), proxy_errors_(loop), timer_(loop) {}

  void start(transport::TransportEvents& events, asio::thread_pool& pool, const SshOptions& options, SshTarget target) {
    events_ = &events;
    job_ = std::make_shared<LoginJob>(loop_, options, std::move(target));
    job_->connection = weak_from_this();
    working_.emplace(loop_);
    asio::post(pool, [job = job_] { run_login(job); });
  }

  // The owner is destroyed: no events from here on.
  void abandon() {
    events_ = nullptr;
    release();
  }

  void send(std::string bytes) {
    if (closed_ || bytes.empty()) return;
    unsent_ += bytes.size();
    if (!queue_.empty() && queue_.back().fixed.empty() && queue_.back().own.size() + bytes.size() <= kJoin) {
      queue_.back().own += bytes;
    } else {
      queue_.push_back({std::move(bytes), {}});
    }
    pump_soon();
  }
  void send_static(std::string_view bytes) {
    if (closed_ || bytes.empty()) return;
    unsent_ += bytes.size();
    queue_.push_back({{}, bytes});
    pump_soon();
  }
  void finish() {
    finishing_ = true;
    pump_soon();
  }
  bool far_side_ended() const { return far_side_ended_; }
  bool far_side_killed() const { return far_side_killed_; }
  std::size_t unsent() const { return unsent_; }

  // ---- posted by the log-in thread

  void login_step(std::string_view step, Duration limit) {
    if (events_ == nullptr) return;
    timer_.expires_after(limit);
    timer_.async_wait([self = shared_from_this(), step = std::string(step), limit](boost::system::error_code error) {
      if (!error) self->close(Error(ErrorKind::Timeout, step + " took more than " + format_duration(limit)));
    });
    events_->transport_step(step);
  }

  void login_done(LoginOutcome outcome) {
    if (events_ == nullptr) return;
    timer_.cancel();
    job_.reset();
    if (const auto* error = std::get_if<Error>(&outcome)) return close(*error);
    if (std::holds_alternative<IsThisMachine>(outcome)) return hand_to_local();
    auto& in = std::get<LoggedIn>(outcome);
    proxy_ = std::move(in.proxy);
    session_ = std::move(in.session);
    socket_.assign(in.socket.release());
    working_.reset();
    open_ = true;
    watch_proxy_errors();
    events_->transport_open(in.local_address, in.peer_address);
    pump();
  }

 private:
  void hand_to_local() {
    auto* events = std::exchange(events_, nullptr);
    release();
    events->transport_is_local();
  }

  // ---- moving bytes

  void pump_soon() {
    if (!open_ || closed_ || std::exchange(pump_posted_, true)) return;
    asio::post(loop_, [self = shared_from_this()] {
      self->pump_posted_ = false;
      self->pump();
    });
  }

  void pump() {
    // Read first: reading opens the window for writing, and no event would follow for a window that is already open.
    // Writing may read from the socket too.
    if (closed_ || !read_turn() || !write_queue() || !deliver()) return;
    // A killed process may have left others behind that hold its output.
    const bool killed = !session_.exit_signal().empty();
    if (session_.closed() || killed || (session_.at_end() && has_status())) return close(ended());
    if (session_.at_end()) expect_status();
    if (!pump_posted_) wait_for_socket();
  }

  // Returns false if closed. After the remote side's end no one reads further bytes; pump() then determines how it
  // ended.
  bool write_queue() {
    while (!queue_.empty() && !session_.at_end()) {
      const std::string_view front = queue_.front().bytes();
      const auto n = session_.write(front.substr(sent_of_front_));
      if (n < 0 && !session_.at_end()) return broken();
      if (n <= 0) return true;
      unsent_ -= static_cast<std::size_t>(n);
      sent_of_front_ += static_cast<std::size_t>(n);
      if (sent_of_front_ < front.size()) continue;
      queue_.pop_front();
      sent_of_front_ = 0;
    }
    if (!finishing_ || session_.at_end()) return true;
    if (!std::exchange(eof_sent_, true) && session_.send_eof() == Step::Failed) return broken();
    return true;
  }

  bool read_turn() {
    for (std::size_t taken = 0; taken < kTurn; taken += kPiece) {
      const auto pumped = session_.pump(kPiece);
      if (!deliver()) return false;
      if (pumped == SshSession::Pumped::Failed) return broken();
      if (pumped == SshSession::Pumped::Idle) return true;
    }
    pump_soon();
    return true;
  }

  bool deliver() {
    keep_tail(session_.errors());
    if (session_.output().empty()) return true;
    std::string bytes = std::exchange(session_.output(), std::string());
    if (events_ != nullptr) events_->transport_bytes(bytes);
    if (closed_) return false;
    bytes.clear();
    if (bytes.capacity() <= kJoin) session_.output() = std::move(bytes);  // small buffers are reused
    return true;
  }

  void keep_tail(std::string& errors) {
    if (errors.empty()) return;
    errors_ += errors;
    errors.clear();
    if (errors_.size() > kKeptErrors) errors_.erase(0, errors_.size() - kKeptErrors);
  }

  // The read wait is always armed, the write wait only while libssh holds bytes. The handlers keep this object alive;
  // closing the socket ends both.
  void wait_for_socket() {
    if (!std::exchange(read_armed_, true)) {
      net::arm_quick_ack(socket_.native_handle());
      socket_.async_wait(stream_descriptor::wait_read, [self = shared_from_this()](boost::system::error_code error) {
        self->read_armed_ = false;
        if (!error) self->pump();
      });
    }
    if (session_.wants_write() && !std::exchange(write_armed_, true)) {
      socket_.async_wait(stream_descriptor::wait_write, [self = shared_from_this()](boost::system::error_code error) {
        self->write_armed_ = false;
        if (!error) self->pump();
      });
    }
  }

  // Reads the proxy program's standard error, since the program would block when its pipe is full.
  void watch_proxy_errors() {
    if (!proxy_errors_.is_open()) {
      const int fd = proxy_.errors_fd() < 0 ? -1 : ::fcntl(proxy_.errors_fd(), F_DUPFD_CLOEXEC, 3);
      if (fd < 0) return;
      proxy_errors_.assign(fd);
    }
    proxy_errors_.async_wait(stream_descriptor::wait_read,
                             [self = shared_from_this()](boost::system::error_code error) {
                               if (error || self->closed_) return;
                               self->proxy_.take_errors();
                               if (self->proxy_.errors_fd() >= 0) self->watch_proxy_errors();
                             });
  }

  // ---- the end

  bool has_status() const { return session_.exit_status().has_value() || !session_.exit_signal().empty(); }

  void expect_status() {
    if (std::exchange(expecting_status_, true)) return;
    timer_.expires_after(kStatusWait);
    timer_.async_wait([self = shared_from_this()](boost::system::error_code error) {
      if (!error && !self->closed_) self->close(self->ended());
    });
  }

  Error ended() {
    far_side_ended_ = has_status();
    far_side_killed_ = !session_.exit_signal().empty();
    std::string what = "the remote command closed its output";
    if (const auto status = session_.exit_status())
      what = "the remote command exited with status " + std::to_string(*status);
    if (far_side_killed_) what = "the remote command was killed by SIG" + show(session_.exit_signal());
    return Error(ErrorKind::Lost, what + far_errors());
  }

  // Always returns false.
  bool broken() {
    Error why = explain(LoginStage::Running, session_.last_error());
    close(Error(why.kind(), why.message() + far_errors()).with_hint(why.hint()));
    return false;
  }

  // ": <the last lines of standard error>"
  std::string far_errors() const {
    std::string_view text = errors_;
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
    if (text.size() > kShownErrors) text.remove_prefix(text.size() - kShownErrors);
    return text.empty() ? std::string() : ": " + show(text, kShownErrors);
  }

  void close(const Error& why) {
    if (closed_) return;
    auto* events = std::exchange(events_, nullptr);
    release();
    if (events != nullptr) events->transport_closed(why);
  }

  void release() {
    closed_ = true;
    if (job_) job_->detach();
    job_.reset();
    working_.reset();
    timer_.cancel();
    boost::system::error_code ignored;
    session_ = SshSession();  // sends its last bytes on its duplicate of the socket
    socket_.close(ignored);
    proxy_errors_.close(ignored);
    proxy_ = ProxyCommand();
    queue_.clear();
    unsent_ = 0;
  }

  asio::any_io_executor loop_;
  transport::TransportEvents* events_ = nullptr;
  std::shared_ptr<LoginJob> job_;  // while logging in
  // Keeps the loop running while the thread works.
  std::optional<asio::executor_work_guard<asio::any_io_executor>> working_;

  ProxyCommand proxy_;
  SshSession session_;
  stream_descriptor socket_;
  stream_descriptor proxy_errors_;
  asio::steady_timer timer_;

  struct Queued {
    std::string own;
    std::string_view fixed;  // instead of `own`: bytes that outlive this object
    std::string_view bytes() const { return fixed.empty() ? std::string_view(own) : fixed; }
  };
  std::deque<Queued> queue_;
  std::size_t sent_of_front_ = 0;
  std::size_t unsent_ = 0;
  std::string errors_;  // tail of the remote command's standard error

  bool open_ = false;
  bool closed_ = false;
  bool finishing_ = false;
  bool eof_sent_ = false;
  bool pump_posted_ = false;
  bool read_armed_ = false;
  bool write_armed_ = false;
  bool expecting_status_ = false;
  bool far_side_ended_ = false;
  bool far_side_killed_ = false;
};

void run_login(const std::shared_ptr<LoginJob>& job) {
  if (job->cancel.cancelled()) return;
  const auto report = [&job](std::string_view step, Duration limit) {
    job->post([connection = job->connection, step = std::string(step), limit] {
      if (const auto alive = connection.lock()) alive->login_step(step, limit);
    });
  };
  auto outcome = std::make_shared<LoginOutcome>(log_in(job->options, job->target, job->cancel, report));
  job->post([connection = job->connection, outcome] {
    if (const auto alive = connection.lock()) alive->login_done(std::move(*outcome));
  });
}

class SshTransport final : public transport::AgentTransport {
 public:
  SshTransport(const asio::any_io_executor& loop, asio::thread_pool& pool, const SshOptions& options, SshTarget target)
      : pool_(pool), options_(options), target_(std::move(target)), connection_(std::make_shared<Connection>(loop)) {}
  ~SshTransport() override { connection_->abandon(); }

  void start(transport::TransportEvents& events) override {
    connection_->start(events, pool_, options_, std::move(target_));
  }
  void send(std::string bytes) override { connection_->send(std::move(bytes)); }
  void send_static(std::string_view bytes) override { connection_->send_static(bytes); }
  std::size_t unsent() const override { return connection_->unsent(); }
  bool far_side_ended() const override { return connection_->far_side_ended(); }
  bool sees_kills() const override { return true; }
  bool far_side_killed() const override { return connection_->far_side_killed(); }
  void finish() override { connection_->finish(); }

 private:
  asio::thread_pool& pool_;
  const SshOptions& options_;
  SshTarget target_;
  std::shared_ptr<Connection> connection_;
};

}  // namespace

std::unique_ptr<transport::AgentTransport> make_ssh_transport(asio::any_io_executor loop, asio::thread_pool& pool,
                                                              const SshOptions& options, SshTarget target) {
  return std::make_unique<SshTransport>(loop, pool, options, std::move(target));
}

}  // namespace sml::ssh
