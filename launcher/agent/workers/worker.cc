#include "launcher/agent/workers/worker.h"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

#include "common/core/transition_table.h"
#include "launcher/agent/os/output_terminal.h"

namespace sml::agent {

namespace {
constexpr std::size_t kOutputRead = std::size_t{64} << 10;
constexpr int kReadsPerTurn = 4;  // then the other workers' turn
// The size from which moving pages is worthwhile. Smaller output is cheap to copy, and moving it could leave pages with
// a few bytes each on the way to the launcher.
constexpr std::size_t kWorthMoving = kOutputRead / 2;
}  // namespace

Worker::Worker(boost::asio::io_context& loop, Processes& processes, WorkerOwner& owner, wire::Worker spec)
    : processes_(processes),
      owner_(owner),
      spec_(std::move(spec)),
      stdout_(loop, wire::Stream::Stdout),
      stderr_(loop, wire::Stream::Stderr),
      results_(loop, wire::Stream::Results),
      stdin_(loop) {}

Result<os::Pipe> Worker::make_stdout() {
  if (spec_.stdout_end == wire::StdoutEnd::Terminal) {
    Result<os::Pipe> terminal = os::make_output_terminal();
    stdout_.is_pipe = !terminal;
    if (terminal) return terminal;
    owner_.worker_without_terminal(rank(), terminal.error());
  }
  return os::make_pipe();
}

void Worker::spawn(const SpawnParameters& parameters) {
  Result<os::Pipe> out = make_stdout();
  Result<os::Pipe> err = os::make_pipe();
  Result<os::Pipe> in = spec_.stdin_source == wire::StdinSource::Launcher ? os::make_pipe() : os::Pipe{};
  Result<os::Pipe> results = spec_.result_pipe == wire::ResultPipe::Yes ? os::make_pipe() : os::Pipe{};
  if (!out || !err || !in || !results) {
    return give_up({SpawnStep::Pipe, EMFILE});  // there is no other reason
  }
  if (stdout_.is_pipe) os::widen_pipe(out->read.get(), parameters.pipe_size);
  os::widen_pipe(err->read.get(), parameters.pipe_size);
  const bool merged = spec_.stderr_pipe == wire::StderrPipe::OfStdout;
  std::vector<int> descriptors(parameters.more_descriptors.begin(), parameters.more_descriptors.end());
  if (results->write) descriptors.push_back(results->write.get());
  const auto started = parameters.start({.program = parameters.program,
                                         .argv = parameters.argv,
                                         .environment = parameters.environment,
                                         .working_directory = parameters.working_directory,
                                         .stdin_fd = in->read ? in->read.get() : parameters.empty_input,
                                         .stdout_fd = out->write.get(),
                                         .stderr_fd = merged ? out->write.get() : err->write.get(),
                                         .descriptor_limit = parameters.descriptor_limit,
                                         .ignored_signals = parameters.ignored_signals,
                                         .settings = parameters.settings,
                                         .more_descriptors = descriptors});
  if (const auto* failed = std::get_if<SpawnFailed>(&started)) return give_up(*failed);
  pid_ = std::get<pid_t>(started);
  for (auto [output, pipe] :
       {std::pair{&stdout_, &*out}, std::pair{&stderr_, &*err}, std::pair{&results_, &*results}}) {
    if (!pipe->read) continue;
    output->pipe.assign(pipe->read.release());
    await_output(*output);  // makes the read end non-blocking
  }
  if (in->write) {
    stdin_.assign(in->write.release());
  }
  dispatch(WorkerEvent::Spawned);
}

void Worker::give_up(const SpawnFailed& why) {
  status_ = why;
  ended_at_ = Clock::now();
  dispatch(WorkerEvent::SpawnFailed);
}

void Worker::signal(int signo, SignalTarget target) {
  if (!machine_.alive()) return;
  // not reaped yet, so both numbers are still its own
  processes_.signal(target == SignalTarget::Group ? -pid_ : pid_, signo);
}

void Worker::reaped(const ExitStatus& status, const Usage& usage, TimePoint now) {
  status_ = status;
  usage_ = usage;
  ended_at_ = now;
  drain_.begin(now);
  for (Output* output : outputs()) output->owed = unread(*output);
  if (!owes_output()) drain_.own_read(now);
  close_input();
  dispatch(WorkerEvent::Reaped);
}

void Worker::dispatch(WorkerEvent event) {
  const WorkerState before = machine_.state();
  const WorkerAction action = machine_.on(event);
  if (action == WorkerAction::None) return;
  if (action == WorkerAction::Unexpected) return owner_.worker_ignored(rank(), ignored(event, before));
  if (action == WorkerAction::AbandonOutput) discard_output();
  // An exit report that has not been taken and the end of the output are merged.
  report_ = report_ == WorkerAction::ReportExit ? WorkerAction::ReportExitAndDrained : action;
  owner_.worker_changed();
}

// Bytes that a reader finds there now. A terminal passes on what was written to it with a delay, so that its count is
// too small: the most that it holds back is added.
std::size_t Worker::unread(Output& output) {
  constexpr std::size_t kTerminalHolds = std::size_t{64} << 10;
  int there = 0;
  if (!output.pipe.is_open() || ::ioctl(output.pipe.native_handle(), FIONREAD, &there) != 0) return 0;
  return static_cast<std::size_t>(there) + (output.is_pipe ? 0 : kTerminalHolds);
}

bool Worker::owes_output() {
  const std::array<Output*, 3> all = outputs();
  return std::any_of(all.begin(), all.end(), [](const Output* one) { return one->owed > 0; });
}

std::optional<TimePoint> Worker::drain_deadline() const {
  if (machine_.state() != WorkerState::Draining) return std::nullopt;
  return drain_.deadline();
}

void Worker::check_drain(TimePoint now) {
  const std::optional<TimePoint> deadline = drain_deadline();
  if (deadline && *deadline <= now) dispatch(WorkerEvent::DrainOver);
}

void Worker::await_output(Output& output) {
  const auto handler = [this, &output](boost::system::error_code error) {
    if (!error) read_output(output);
  };
  output.pipe.async_wait(boost::asio::posix::stream_descriptor::wait_read, lifetime_.guard(handler));
}

void Worker::read_output(Output& output) {
  // On the heap, as the compiler's hardening would zero a stack buffer at each call.
  const auto buffer = std::make_unique_for_overwrite<char[]>(kOutputRead);
  send_own_text(output);
  for (int turn = 0; turn < kReadsPerTurn; ++turn) {
    const std::size_t allowed = std::min(kOutputRead, owner_.output_allowance());
    if (allowed == 0) return starve(output);
    if (move_output(output, allowed)) continue;
    const ssize_t n = ::read(output.pipe.native_handle(), buffer.get(), allowed);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (n <= 0) return output_ended(output);
    const TimePoint now = Clock::now();
    took(output, static_cast<std::size_t>(n), now);
    owner_.worker_output(rank(), output.stream, now, std::string_view(buffer.get(), static_cast<std::size_t>(n)));
    if (static_cast<std::size_t>(n) < allowed) break;
  }
  await_output(output);
}

void Worker::print(wire::Stream stream, std::string_view text) {
  const bool merged = spec_.stderr_pipe == wire::StderrPipe::OfStdout;
  Output& output = stream == wire::Stream::Stdout || merged ? stdout_ : stderr_;
  if (!output.pipe.is_open() || output.own_text.size() + text.size() > kMostOwnText) return;
  output.own_text += text;
  send_own_text(output);
}

// Whatever is read later finds it empty: that needs allowance, too.
void Worker::send_own_text(Output& output) {
  const std::size_t size = std::min(output.own_text.size(), owner_.output_allowance());
  if (size == 0) return;
  const std::string now = output.own_text.substr(0, size);
  output.own_text.erase(0, size);
  owner_.worker_output(rank(), output.stream, Clock::now(), now);
}

bool Worker::move_output(Output& output, std::size_t allowed) {
  int there = 0;
  if (owner_.looks_at_output() || !output.is_pipe) return false;
  if (::ioctl(output.pipe.native_handle(), FIONREAD, &there) != 0) return false;
  const std::size_t size = std::min(static_cast<std::size_t>(there), allowed);
  if (size < kWorthMoving) return false;
  const TimePoint now = Clock::now();
  took(output, size, now);
  owner_.worker_output_of(output.pipe.native_handle(), rank(), output.stream, now, size);
  return true;
}

void Worker::took(Output& output, std::size_t size, TimePoint now) {
  drain_.on_output(now);
  if (output.owed == 0) return;
  output.owed -= std::min(output.owed, size);
  if (!owes_output()) drain_.own_read(now);
}

void Worker::starve(Output& output) {
  output.starved = true;
  drain_.pause(Clock::now());
}

void Worker::wake() {
  for (Output* output : outputs()) {
    send_own_text(*output);
    if (!output->starved || owner_.output_allowance() == 0) continue;
    output->starved = false;
    read_output(*output);
  }
  const std::array<Output*, 3> all = outputs();
  if (std::none_of(all.begin(), all.end(), [](const Output* one) { return one->starved; })) drain_.resume(Clock::now());
}

void Worker::output_ended(Output& output) {
  took(output, output.owed, Clock::now());
  output.pipe.close();
  const std::array<Output*, 3> all = outputs();
  if (std::none_of(all.begin(), all.end(), [](const Output* one) { return one->pipe.is_open(); }))
    dispatch(WorkerEvent::OutputEnded);
}

void Worker::discard_output() {
  for (Output* output : outputs()) {
    output->starved = false;
    output->own_text.clear();
    boost::system::error_code ignored;
    output->pipe.close(ignored);
  }
}

void Worker::feed(const std::string& bytes) {
  // The worker has ended or closed its input.
  if (!stdin_.is_open()) return owner_.worker_took_input(rank(), bytes.size());
  input_ += bytes;
  write_input();
}

void Worker::feed_end() {
  input_ends_ = true;
  write_input();
}

void Worker::write_input() {
  if (!stdin_.is_open() || !writing_.empty()) return;
  if (input_.empty()) {
    if (input_ends_) close_input();
    return;
  }
  writing_.swap(input_);
  const auto handler = [this](boost::system::error_code error, std::size_t) {
    if (error == boost::asio::error::operation_aborted) return;
    owner_.worker_took_input(rank(), std::exchange(writing_, {}).size());
    if (error) return close_input();
    write_input();
  };
  boost::asio::async_write(stdin_, boost::asio::buffer(writing_), lifetime_.guard(handler));
}

void Worker::close_input() {
  boost::system::error_code ignored;
  stdin_.close(ignored);
  if (!input_.empty()) owner_.worker_took_input(rank(), std::exchange(input_, {}).size());
}

}  // namespace sml::agent
