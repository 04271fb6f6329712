#include "launcher/transport/process_transport.h"

#include <array>
#include <cerrno>
#include <functional>
#include <memory>
#include <optional>

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include "common/core/text.h"
#include "common/os/spawn.h"
#include "launcher/os/child.h"
#include "launcher/transport/locality.h"

namespace sml::transport {

namespace {

namespace asio = boost::asio;

constexpr std::size_t kReadSize = std::size_t{256} << 10;
constexpr int kReadsPerTurn = 4;    // then it is the other hosts' turn
constexpr int kPipeSize = 1 << 20;  // for the agent's output; the largest size that an unprivileged user may set
constexpr std::size_t kKeptStderr = 8192;

struct ProcessStart {
  std::vector<std::string> argv;
  std::optional<AgentImage> image;         // executed instead of argv[0]
  std::string step;                        // displayed while it starts
  std::string name_to_check;               // whether this name is this machine is checked first; empty: no check
  std::vector<std::string> environment{};  // instead of the launcher's; empty: the launcher's
  bool is_agent = false;                   // or becomes one here: its workers get the environment as it is
  starters::EndOfPipe pipe = starters::EndOfPipe::OfAgent;
  std::optional<ToolCommand> tool{};  // gives argv on a thread of the pool
};

// The state that outlives the transport while handlers are pending.
struct Core {
  explicit Core(const asio::any_io_executor& loop) : socket(loop), output(loop), errors(loop) {}
  asio::local::stream_protocol::socket socket;  // the process's standard input
  asio::posix::stream_descriptor output;        // a pipe: the agent can splice workers' output into it without copying
  asio::posix::stream_descriptor errors;
  std::unique_ptr<os::Child> child;
  TransportEvents* events = nullptr;  // null: the owner is gone, or transport_closed was called
  // Not zeroed: pages that receive no bytes are never touched.
  std::unique_ptr<char[]> buffer = std::make_unique_for_overwrite<char[]>(kReadSize);
  std::string pending;
  std::string writing;
  std::string error_text;
  std::string tool;                                      // its name; empty: no tool
  std::function<std::string(std::string_view)> account;  // of a tool's errors
  bool finishing = false;
  bool has_output = false;  // there was output
  bool input_over = false;
  std::optional<ExitStatus> ended;
};

class ProcessTransport final : public AgentTransport {
 public:
  ProcessTransport(asio::any_io_executor loop, asio::thread_pool* pool, ProcessStart start)
      : loop_(loop), pool_(pool), start_(std::move(start)), core_(std::make_shared<Core>(loop)) {
    if (!start_.tool) return;
    core_->tool = start_.tool->name;
    core_->account = start_.tool->account;
  }

  ~ProcessTransport() override {
    core_->events = nullptr;
    boost::system::error_code ignored;
    core_->socket.close(ignored);
    core_->output.close(ignored);
    core_->errors.close(ignored);
    core_->child.reset();
  }

  void start(TransportEvents& events) override {
    core_->events = &events;
    if (pool_ != nullptr && (start_.tool || !start_.name_to_check.empty())) return find_out_where();
    asio::post(loop_, [this, core = core_] {
      if (core->events != nullptr) launch();
    });
  }

  void send(std::string bytes) override {
    core_->pending += bytes;
    write(core_);
  }

  std::size_t unsent() const override { return core_->pending.size() + core_->writing.size(); }

  // ssh exits with 255 for errors of its own, which it prints, and also if the far side was killed.
  bool far_side_ended() const override {
    if (start_.tool) return core_->ended && start_.tool->agent_has_ended(*core_->ended, core_->error_text);
    const auto* exited = core_->ended ? std::get_if<Exited>(&*core_->ended) : nullptr;
    return core_->ended && (start_.image || exited == nullptr || exited->code != 255 || core_->error_text.empty());
  }

  bool far_side_ended_well() const override { return core_->ended && succeeded(*core_->ended); }

  bool ends_with_guardian() const override { return start_.pipe == starters::EndOfPipe::OfTask; }

  void finish() override {
    core_->finishing = true;
    write(core_);
  }

 private:
  // Name look-ups may block, so they run on the pool, and so does what a tool is asked.
  void find_out_where() {
    asio::post(*pool_, [this, loop = loop_, name = start_.name_to_check, argv = start_.argv, tool = start_.tool,
                        weak = std::weak_ptr<Core>(core_)] {
      const bool here = !name.empty() && is_this_machine(name);
      Result<std::vector<std::string>> words = tool && !here ? tool->words() : argv;
      asio::post(loop, [this, here, words = std::move(words), weak] {  // `this` lives as long as its core has events
        const std::shared_ptr<Core> core = weak.lock();
        if (!core || core->events == nullptr) return;
        if (here) return std::exchange(core->events, nullptr)->transport_is_local();
        if (!words) return close(core, words.error());
        start_.argv = *words;
        launch();
      });
    });
  }

  void launch() {
    core_->events->transport_step(start_.step);
    if (Result<void> launched = try_launch(); !launched) return close(core_, launched.error());
    read(core_);
    if (core_->events != nullptr) core_->events->transport_open("", "");
  }

  Result<void> try_launch() {
    Result<std::array<os::UniqueFd, 2>> sockets = os::make_socketpair();
    if (!sockets) return sockets.error();
    Result<os::Pipe> output = os::make_pipe();
    if (!output) return output.error();
    // not for commands: there may be one for each host
    if (start_.image) os::widen_pipe(output->read.get(), kPipeSize);
    os::UniqueFd program;
    os::Pipe errors;
    if (start_.image) {
      Result<os::UniqueFd> executable = executable_descriptor(*start_.image, installed_agent());
      if (!executable) return executable.error();
      program = std::move(*executable);
    } else {
      Result<os::Pipe> pipe = os::make_pipe();
      if (!pipe) return pipe.error();
      errors = std::move(*pipe);
    }
    auto& [ours, theirs] = *sockets;
    const Result<pid_t> pid = os::spawn_helper({.argv = start_.argv,
                                                .program_fd = program.get(),
                                                .stdin_fd = theirs.get(),
                                                .stdout_fd = output->write.get(),
                                                .stderr_fd = errors.write ? errors.write.get() : STDERR_FILENO,
                                                .environment = start_.environment,
                                                .environment_as_it_is = start_.is_agent});
    if (!pid) return pid.error();
    core_->socket.assign(asio::local::stream_protocol(), ours.release());
    core_->socket.non_blocking(true);
    core_->output.assign(output->read.release());
    core_->output.non_blocking(true);
    if (errors.read) {
      core_->errors.assign(errors.read.release());
      core_->errors.non_blocking(true);
      read_errors(core_);
    }
    core_->child = std::make_unique<os::Child>(loop_, *pid, [core = std::weak_ptr<Core>(core_)](ExitStatus status) {
      if (const auto alive = core.lock()) {
        alive->ended = std::move(status);
        end_if_over(alive);
      }
    });
    return {};
  }

  static void read(const std::shared_ptr<Core>& core) {
    core->output.async_wait(asio::posix::stream_descriptor::wait_read, [core](boost::system::error_code error) {
      if (core->events == nullptr) return;
      if (!error && take_output(core)) return read(core);
      if (core->events == nullptr) return;
      core->input_over = true;
      end_if_over(core);
    });
  }

  // Returns false at end of file, or if the owner is gone.
  static bool take_output(const std::shared_ptr<Core>& core) {
    for (int turn = 0; turn < kReadsPerTurn; ++turn) {
      const ssize_t n = ::read(core->output.native_handle(), core->buffer.get(), kReadSize);
      if (n < 0) return errno == EAGAIN || errno == EINTR;
      if (n == 0) return false;
      const auto size = static_cast<std::size_t>(n);
      core->has_output = true;
      core->events->transport_bytes(std::span<const char>(core->buffer.get(), size));
      if (core->events == nullptr) return false;
      if (size < kReadSize) return true;  // the pipe is empty
    }
    return true;
  }

  // Reads what is in the pipe now. Returns false at end of file, which may never come if a process that was left behind
  // holds the pipe.
  static bool take_errors(const std::shared_ptr<Core>& core) {
    std::array<char, 4096> piece;
    for (;;) {
      const ssize_t size =
          core->errors.is_open() ? ::read(core->errors.native_handle(), piece.data(), piece.size()) : 0;
      if (size < 0) return errno == EAGAIN || errno == EINTR;
      if (size == 0) return false;
      keep_errors(*core, std::string_view(piece.data(), static_cast<std::size_t>(size)));
    }
  }

  static void keep_errors(Core& core, std::string_view text) {
    core.error_text += text;
    if (core.error_text.size() > kKeptStderr) core.error_text.erase(0, core.error_text.size() - kKeptStderr);
  }

  // Waits for readability and reads itself: with an asynchronous read it would be unknown whether bytes were taken
  // already.
  static void read_errors(const std::shared_ptr<Core>& core) {
    core->errors.async_wait(asio::posix::stream_descriptor::wait_read, [core](boost::system::error_code error) {
      if (error || !take_errors(core)) return;
      show_errors(*core);
      read_errors(core);
    });
  }

  // A tool that waits prints for what.
  static void show_errors(const Core& core) {
    if (core.has_output || core.events == nullptr || core.tool.empty()) return;
    const std::string text = core.account(core.error_text);
    if (!text.empty()) core.events->transport_step("starting the agent: " + show(text, 200));
  }

  static void write(const std::shared_ptr<Core>& core) {
    if (!core->writing.empty() || core->events == nullptr || !core->socket.is_open()) return;
    if (core->pending.empty()) {
      boost::system::error_code ignored;
      if (core->finishing) core->socket.shutdown(asio::socket_base::shutdown_send, ignored);
      return;
    }
    core->writing.swap(core->pending);
    asio::async_write(core->socket, asio::buffer(core->writing), [core](boost::system::error_code error, std::size_t) {
      core->writing.clear();
      if (!error) write(core);  // otherwise the read side reports the error
    });
  }

  // Reports the end only after both the last byte and the exit status that explains it.
  static void end_if_over(const std::shared_ptr<Core>& core) {
    if (!core->input_over || !core->ended) return;
    take_errors(core);
    std::string text = describe(*core->ended);
    while (!core->error_text.empty() && core->error_text.back() == '\n') core->error_text.pop_back();
    if (!core->tool.empty()) {
      text = account_of_tool(*core, text);
    } else if (!core->error_text.empty()) {
      text = core->error_text;
    }
    close(core, Error(ErrorKind::Lost, std::move(text)));
  }

  static std::string account_of_tool(const Core& core, const std::string& end) {
    const std::string text = core.account(core.error_text);
    const bool exited = std::holds_alternative<Exited>(*core.ended);
    return exited && !text.empty() ? show(text, 500) : core.tool + " " + end;
  }

  static void close(const std::shared_ptr<Core>& core, const Error& why) {
    if (TransportEvents* events = std::exchange(core->events, nullptr)) events->transport_closed(why);
  }

  asio::any_io_executor loop_;
  asio::thread_pool* pool_;  // null: no name look-up
  ProcessStart start_;
  std::shared_ptr<Core> core_;
};

}  // namespace

std::unique_ptr<AgentTransport> make_local_transport(asio::any_io_executor loop, const AgentImage& image,
                                                     std::string mark, std::vector<std::string> environment) {
  return std::make_unique<ProcessTransport>(std::move(loop), nullptr,
                                            ProcessStart{.argv = {"sml-run-agent", "--mark", std::move(mark)},
                                                         .image = image,
                                                         .step = "starting the agent",
                                                         .name_to_check = {},
                                                         .environment = std::move(environment),
                                                         .is_agent = true});
}

std::unique_ptr<AgentTransport> make_command_transport(asio::any_io_executor loop, asio::thread_pool& pool,
                                                       CommandTarget target, starters::EndOfPipe pipe) {
  std::string name_to_check = target.user.empty() && !target.port ? target.host : std::string();
  ProcessStart start{.argv = command_words(std::move(target)),
                     .image = std::nullopt,
                     .step = "connecting",
                     .name_to_check = std::move(name_to_check),
                     .pipe = pipe};
  return std::make_unique<ProcessTransport>(std::move(loop), &pool, std::move(start));
}

std::unique_ptr<AgentTransport> make_tool_transport(asio::any_io_executor loop, asio::thread_pool& pool,
                                                    ToolCommand command) {
  ProcessStart start{.argv = {},
                     .image = std::nullopt,
                     .step = "connecting",
                     .name_to_check = command.host,
                     .environment = command.environment};
  start.pipe = command.pipe;
  start.tool = std::move(command);
  return std::make_unique<ProcessTransport>(std::move(loop), &pool, std::move(start));
}

std::unique_ptr<AgentTransport> make_program_transport(asio::any_io_executor loop, std::vector<std::string> words) {
  ProcessStart start{.argv = std::move(words),
                     .image = std::nullopt,
                     .step = "starting the agent",
                     .name_to_check = {},
                     .is_agent = true};
  return std::make_unique<ProcessTransport>(std::move(loop), nullptr, std::move(start));
}

}  // namespace sml::transport
