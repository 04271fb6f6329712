#include "launcher/run/array_run.h"

#include <algorithm>
#include <csignal>
#include <utility>
#include <variant>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>

#include "common/core/text.h"
#include "common/os/fd.h"
#include "common/os/spawn.h"
#include "launcher/os/heeded_stops.h"

namespace sml::run {

namespace {

constexpr std::size_t kSlowReader = std::size_t{1} << 20;
constexpr int kLastWordsMs = 1000;
constexpr Duration kOutputAfterEnd = std::chrono::seconds(2);  // another process may hold the pipes open

// Each run has the role of a worker, with its array index as its rank.
std::vector<output::TagSubject> subjects_of(const ArrayRun::Settings& settings) {
  std::vector<output::TagSubject> out;
  for (const plan::ArrayTask& task : settings.tasks) {
    output::TagSubject& subject = out.emplace_back();
    subject.ranks.add(static_cast<std::uint32_t>(task.index));
    subject.local_ranks.add(0);
  }
  return out;
}

// Other output options apply within each run, which is a job of its own.
OutputOptions output_of(const ArrayRun::Settings& settings) {
  OutputOptions out;
  const bool tagged = !settings.output.tag || !settings.output.tag->empty();
  out.tag = *output::TagTemplate::parse(tagged ? "[array {rank}] " : "");
  out.sanitize = settings.output.sanitize;
  out.color = settings.output.color;
  return out;
}

}  // namespace

struct ArrayRun::Run {
  struct Output {
    explicit Output(boost::asio::io_context& loop) : pipe(loop) {}
    boost::asio::posix::stream_descriptor pipe;
    std::array<char, 65536> buffer{};
    bool reading = false;
    bool over = false;
  };
  Run(boost::asio::io_context& loop, std::size_t the_task) : task(the_task), out(loop), err(loop), limit(loop) {}
  Output& output(Stream stream) { return stream == Stream::Stdout ? out : err; }
  bool done() const { return status && out.over && err.over; }

  std::size_t task;
  Output out;
  Output err;
  boost::asio::steady_timer limit;  // for the rest of the output after its end
  std::optional<ExitStatus> status;
  TimePoint started = Clock::now();
  std::unique_ptr<os::Child> child;
};

ArrayRun::ArrayRun(Settings settings)
    : settings_(std::move(settings)),
      signals_(loop_),
      console_(loop_.get_executor(), subjects_of(settings_), output_of(settings_),
               {.drained = [this] { read_all(); }, .gone = [this](int) { stop(SIGPIPE); }}) {
  for (const int signo : os::heeded_stops()) signals_.add(signo);
  facts_.names = settings_.names;
  facts_.tasks = settings_.tasks;
  facts_.ends.resize(settings_.tasks.size());
}

ArrayRun::~ArrayRun() = default;

int ArrayRun::run() {
  ignored_signals_ = os::ignored_signals();
  ::signal(SIGPIPE, SIG_IGN);
  await_signals();
  start_more();
  loop_.run();
  const report::ArrayVerdict verdict = report::judge_array(facts_);
  for (const std::string& line : verdict.lines) console_.say(line);
  console_.flush_last(kLastWordsMs);
  return verdict.exit_code;
}

void ArrayRun::start_more() {
  while (!facts_.stop_signal && next_ < settings_.tasks.size() && running_.size() < settings_.at_once) start(next_++);
  if (running_.empty()) signals_.cancel();  // nothing is left to wait for
}

void ArrayRun::start(std::size_t task) {
  const auto fail = [&](const std::string& why) {
    console_.say("array index " + std::to_string(settings_.tasks[task].index) + " could not be started: " + why);
    facts_.ends[task] = {.exit_code = 125, .took = {}, .at = Clock::now()};
  };
  Result<os::Pipe> out = os::make_pipe();
  Result<os::Pipe> err = os::make_pipe();
  const Result<os::UniqueFd> null = os::open_dev_null();
  if (!out || !err || !null) return fail("no more descriptors");
  // The first argument, so that options after it override others; it takes precedence over --array-all.
  std::vector<std::string> argv{settings_.called, "--array-index=" + std::to_string(settings_.tasks[task].index)};
  argv.insert(argv.end(), settings_.arguments.begin(), settings_.arguments.end());
  const auto spawned = os::spawn_worker({.program = "/proc/self/exe",
                                         .argv = argv,
                                         .environment = settings_.environment,
                                         .working_directory = {},
                                         .stdin_fd = null->get(),
                                         .stdout_fd = out->write.get(),
                                         .stderr_fd = err->write.get(),
                                         .descriptor_limit = 0,
                                         .ignored_signals = ignored_signals_});
  if (const auto* why = std::get_if<SpawnFailed>(&spawned)) return fail(describe(*why));
  running_.push_back(std::make_unique<Run>(loop_, task));
  Run& run = *running_.back();
  run.child = std::make_unique<os::Child>(loop_.get_executor(), std::get<pid_t>(spawned),
                                          [this, &run](const ExitStatus& status) { ended(run, status); });
  run.out.pipe.assign(out->read.release());
  run.err.pipe.assign(err->read.release());
  read(run, Stream::Stdout);
  read(run, Stream::Stderr);
}

// Does not read while too much output waits for a slow reader.
void ArrayRun::read(Run& run, Stream stream) {
  Run::Output& output = run.output(stream);
  if (output.reading || output.over || console_.pending() > kSlowReader) return;
  output.reading = true;
  output.pipe.async_read_some(boost::asio::buffer(output.buffer),
                              [this, &run, &output, stream](boost::system::error_code error, std::size_t size) {
                                output.reading = false;
                                const Rank source(static_cast<std::uint32_t>(run.task));
                                console_.worker_output(source, stream, {output.buffer.data(), size}, Clock::now());
                                console_.flush();
                                if (!error) return read(run, stream);
                                output.over = true;
                                check_done(run);
                              });
}

void ArrayRun::read_all() {
  for (const std::unique_ptr<Run>& run : running_) {
    read(*run, Stream::Stdout);
    read(*run, Stream::Stderr);
  }
}

void ArrayRun::ended(Run& run, const ExitStatus& status) {
  run.status = status;
  const TimePoint now = Clock::now();
  facts_.ends[run.task] = {.exit_code = exit_code_of(status), .took = now - run.started, .at = now};
  run.limit.expires_after(kOutputAfterEnd);
  run.limit.async_wait([&run](boost::system::error_code error) {
    if (error) return;
    for (Run::Output* output : {&run.out, &run.err}) output->pipe.cancel();
  });
  check_done(run);
}

void ArrayRun::check_done(Run& run) {
  if (!run.done()) return;
  console_.worker_done(Rank(static_cast<std::uint32_t>(run.task)));
  console_.flush();
  run.limit.cancel();
  // Not immediately: handlers of the run are on the stack.
  boost::asio::post(loop_, [this, gone = &run] {
    std::erase_if(running_, [gone](const std::unique_ptr<Run>& r) { return r.get() == gone; });
    start_more();
  });
}

void ArrayRun::stop(int signo) {
  if (!facts_.stop_signal) facts_.stop_signal = signo;
  for (const std::unique_ptr<Run>& run : running_) {
    if (!run->status) ::kill(run->child->pid(), signo == SIGPIPE ? SIGTERM : signo);
  }
}

void ArrayRun::await_signals() {
  signals_.async_wait([this](boost::system::error_code error, int signo) {
    if (error) return;
    stop(signo);
    await_signals();
  });
}

}  // namespace sml::run
