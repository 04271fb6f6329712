// peers HOSTS LINES SML_RUN: plays HOSTS-1 hosts of a job that call its head, a real sml-run on this machine, with real
// frames over TLS and without a process for each. Each host runs one made-up rank, which prints LINES lines and ends
// with 0. Prints as JSON: the seconds, the head's processor seconds and peak memory, and the bytes that it printed.
//
// The settings on which hosts must agree are learnt from the Introduction of a real sml-run that calls this program.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/os/fd.h"
#include "common/wire/codec.h"
#include "common/wire/handshake.h"
#include "launcher/dialin/key.h"
#include "launcher/dialin/link.h"
#include "launcher/dialin/messages.h"
#include "launcher/dialin/port.h"
#include "launcher/dialin/resume_buffer.h"

namespace {

using namespace sml;
using namespace sml::dialin;
using Clock = std::chrono::steady_clock;

constexpr const char* kSecret = "a secret of a benchmark";
constexpr std::uint16_t kPort = 29398;
constexpr int kHalfOpen = 8;  // connections that are made at once, as all have the same address

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "peers: %s\n", why.c_str());
  std::exit(1);
}

template <class T>
T must(Result<T> result) {
  if (!result) fail(result.error().message());
  return std::move(*result);
}

// Starts SML_RUN as the head of the job or as one of its hosts. The head's output goes to `out`.
pid_t start(const char* sml_run, const std::string& hosts, const std::string& place, const std::string& port,
            const std::string& lines, int out) {
  std::vector<std::string> words{sml_run,
                                 "--nnodes",
                                 hosts,
                                 "--node-rank",
                                 place,
                                 "--head",
                                 "127.0.0.1:" + port,
                                 "--nproc-per-node",
                                 "1",
                                 "--no-tag",
                                 "--quiet",
                                 "--start-timeout",
                                 "300",
                                 "seq",
                                 lines};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  pid_t pid = -1;
  if (::posix_spawn(&pid, sml_run, &actions, nullptr, argv.data(), environ) != 0) fail("cannot start sml-run");
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

// ---- the Introduction of a real host

class Listener final : public LinkEvents {
 public:
  void serve(std::shared_ptr<Link> link) {
    link_ = std::move(link);
    link_->start(*this);
  }
  void link_proved() override {}
  void link_bytes(std::span<const char> bytes) override {
    reader_.feed(bytes);
    Result<std::optional<ToCoordinator>> message = reader_.next();
    if (!message) fail(message.error().message());
    if (!message->has_value()) return;
    introduction = std::get<Introduction>(**message);
    link_->abandon();
  }
  void link_closed(const Error& why) override { fail("the real host: " + why.message()); }

  std::optional<Introduction> introduction;

 private:
  std::shared_ptr<Link> link_;
  FrameReader<ToCoordinator> reader_;
};

Introduction learn(boost::asio::io_context& loop, const Key& key, const char* sml_run, const std::string& hosts,
                   const std::string& lines) {
  const std::unique_ptr<Credentials> credentials = must(make_credentials(Side::Coordinator, key, nullptr));
  const os::UniqueFd listener = must(listen_on(0));
  const pid_t host = start(sml_run, hosts, "1", std::to_string(own_port(listener.get())), lines, 2);
  boost::asio::posix::stream_descriptor ready(loop, ::dup(listener.get()));
  Listener serves;
  ready.async_wait(boost::asio::posix::stream_descriptor::wait_read, [&](boost::system::error_code) {
    os::UniqueFd caller(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    serves.serve(must(make_link(loop.get_executor(), std::move(caller), *credentials)));
  });
  while (!serves.introduction && loop.run_one() > 0) {
  }
  ::kill(host, SIGKILL);
  ::waitpid(host, nullptr, 0);
  loop.restart();
  return *serves.introduction;
}

// ---- a made-up host

class Hosts;

class Host final : public LinkEvents {
 public:
  Host(Hosts& all, std::uint32_t index) : all_(all), index_(index) {}
  void call();
  void link_proved() override;
  void link_bytes(std::span<const char> bytes) override;
  void link_closed(const Error& why) override;

 private:
  void handle(const ToPeer& message);
  void hear(const wire::ToAgent& message);
  void tell(const wire::ToLauncher& message) { link_->send(encode(ToCoordinator(Bytes{wire::encode(message)}))); }
  void run();
  void print();

  Hosts& all_;
  std::uint32_t index_;
  std::shared_ptr<Link> link_;
  FrameReader<ToPeer> reader_;
  wire::Decoder<wire::ToAgent> decoder_;
  std::vector<wire::Worker> workers_;
  std::uint64_t credit_ = 0;
  std::string_view unprinted_;
  ResumeBuffer heard_;  // its other half is left out: no connection breaks
  bool is_in_ = false;  // what follows Welcome is acknowledged
};

class Hosts {
 public:
  Hosts(boost::asio::io_context& the_loop, const Key& key, Introduction of_one, std::uint32_t count, int lines)
      : loop(the_loop), introduction(std::move(of_one)), credentials(must(make_credentials(Side::Host, key, nullptr))) {
    for (int i = 1; i <= lines; ++i) output += std::to_string(i) + "\n";
    for (std::uint32_t i = 1; i < count; ++i) hosts_.push_back(std::make_unique<Host>(*this, i));
  }
  void call() {
    for (int i = 0; i < kHalfOpen; ++i) next();
  }
  void next() {
    if (called_ < hosts_.size()) hosts_[called_++]->call();
  }
  void ended() {
    if (++over_ == hosts_.size()) loop.stop();
  }

  boost::asio::io_context& loop;
  Introduction introduction;
  std::unique_ptr<Credentials> credentials;
  std::string output;

 private:
  std::vector<std::unique_ptr<Host>> hosts_;
  std::size_t called_ = 0;
  std::size_t over_ = 0;
};

void Host::call() {
  os::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in head{};
  head.sin_family = AF_INET;
  head.sin_port = htons(kPort);
  head.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  // The head is waited for, by the first of all.
  for (int i = 0; ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&head), sizeof head) != 0; ++i) {
    if (i == 6000) fail("the head does not listen");
    ::usleep(10'000);
  }
  const int on = 1;  // as hosts do
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  os::set_nonblocking(socket.get());
  link_ = must(make_link(all_.loop.get_executor(), std::move(socket), *all_.credentials));
  link_->start(*this);
}

void Host::link_proved() {
  Introduction mine = all_.introduction;
  mine.index = index_;
  mine.host = "host-" + std::to_string(index_);
  link_->send(encode(ToCoordinator(mine)));
}

void Host::link_bytes(std::span<const char> bytes) {
  reader_.feed(bytes);
  for (;;) {
    Result<std::optional<ToPeer>> message = reader_.next();
    if (!message) fail(message.error().message());
    if (!message->has_value()) return;
    if (is_in_) heard_.add_received(reader_.size());
    handle(**message);
    if (const std::optional<std::uint64_t> receipt = heard_.receipt(Clock::now()))
      link_->send(encode(ToCoordinator(Acknowledge{*receipt})));
  }
}

void Host::link_closed(const Error&) { all_.ended(); }

void Host::handle(const ToPeer& message) {
  if (const auto* refused = std::get_if<Refused>(&message)) fail("the head refuses a host: " + refused->text);
  if (std::holds_alternative<Welcome>(message)) {
    is_in_ = true;
    all_.next();
  }
  if (const auto* begin = std::get_if<Begin>(&message))
    link_->send(encode(ToCoordinator(Bytes{wire::agent_line(begin->mark)})));
  if (std::holds_alternative<JobEnd>(message)) link_->finish();
  const auto* bytes = std::get_if<Bytes>(&message);
  if (bytes == nullptr) return;
  decoder_.feed(bytes->bytes);
  for (;;) {
    Result<std::optional<wire::ToAgent>> next = decoder_.next();
    if (!next) fail(next.error().message());
    if (!next->has_value()) return;
    hear(**next);
  }
}

void Host::hear(const wire::ToAgent& message) {
  if (const auto* hello = std::get_if<wire::Hello>(&message)) {
    credit_ = hello->credit;
    tell(wire::HelloAck{.build_id = SML_VERSION,
                        .pid = 1000,
                        .addresses = {"127.0.0.1"},
                        .machine = "machine-" + std::to_string(index_)});
  } else if (const auto* prepare = std::get_if<wire::Prepare>(&message)) {
    workers_ = prepare->workers;
    tell(wire::Prepared{.errors = {}});
  } else if (const auto* probe = std::get_if<wire::Probe>(&message)) {
    wire::Probed answer;
    for (const std::string& address : probe->addresses) answer.results.push_back({address, 0});
    tell(answer);
  } else if (const auto* ping = std::get_if<wire::Ping>(&message)) {
    tell(wire::Pong{ping->token, 0});
  } else if (const auto* credit = std::get_if<wire::Credit>(&message)) {
    credit_ += credit->bytes;
    print();
  } else if (std::holds_alternative<wire::Start>(message)) {
    run();
  } else if (std::holds_alternative<wire::Leave>(message)) {
    tell(wire::Bye{});
    link_->send(encode(ToCoordinator(AgentEnded{"it has ended"})));
  }
}

void Host::run() {
  wire::Started started;
  for (const wire::Worker& worker : workers_) started.workers.push_back({worker.rank, 1001, 1});
  tell(started);
  unprinted_ = all_.output;
  print();
}

void Host::print() {
  if (unprinted_.empty()) return;
  const Rank rank = workers_.front().rank;
  const std::string_view now = unprinted_.substr(0, credit_);
  if (!now.empty()) tell(wire::Output{.rank = rank, .bytes = now, .at_ns = 2});
  credit_ -= now.size();
  unprinted_.remove_prefix(now.size());
  if (!unprinted_.empty()) return;
  tell(wire::ExitedWorker{.rank = rank, .at_ns = 3});
  tell(wire::Drained{rank});
  tell(wire::Cleared{1, {}});
}

double seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) fail("usage: peers HOSTS LINES SML_RUN");
  const std::string hosts = argv[1], lines = argv[2];
  ::signal(SIGPIPE, SIG_IGN);
  ::setenv("SML_JOB_SECRET", kSecret, 1);
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  const Key key = must(derive_key(kSecret, "sml-run dial-in: secret"));
  boost::asio::io_context loop(1);
  const Introduction one = learn(loop, key, argv[3], hosts, lines);

  std::FILE* out = std::tmpfile();
  const auto begin = Clock::now();
  const pid_t head = start(argv[3], hosts, "0", std::to_string(kPort), lines, ::fileno(out));
  Hosts all(loop, key, one, static_cast<std::uint32_t>(std::stoul(hosts)), std::stoi(lines));
  all.call();
  loop.run();
  int status = 0;
  rusage use{};
  ::wait4(head, &status, 0, &use);
  if (status != 0) fail("the head ended with wait status " + std::to_string(status));
  std::printf("{\"seconds\": %.3f, \"cpu\": %.3f, \"peak_kib\": %ld, \"bytes\": %lld}\n",
              std::chrono::duration<double>(Clock::now() - begin).count(),
              seconds(use.ru_utime) + seconds(use.ru_stime), use.ru_maxrss,
              static_cast<long long>(::lseek(::fileno(out), 0, SEEK_END)));
  return 0;
}
