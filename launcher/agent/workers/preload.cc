#include "launcher/agent/workers/preload.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <utility>

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/core/text.h"
#include "common/os/fd.h"
#include "common/os/nameless_file.h"
#include "launcher/agent/core/waits.h"

extern "C" const char sml_preload_image_begin[];
extern "C" const char sml_preload_image_end[];

namespace sml::agent {

namespace {

// The script is read from descriptor 3 rather than given as an argument, so that process lists show what the workers
// run. First removes the working directory from sys.path, where -c puts it in front: it may contain anybody's modules.
constexpr const char* kStub =
    "(lambda path:path[:1]==['']and path.pop(0))(__import__('sys').path);"
    "exec(compile(__import__('posix').read(3,65536),'sml-run --preload','exec'),{})";
constexpr std::size_t kDescriptors = 16;  // RESERVED in preload.py, and the standard ones
constexpr std::size_t kLongestAnswer = 4000;
constexpr std::size_t kMostLines = 50;
constexpr std::size_t kLongestLine = 500;
constexpr Duration kForkLimit = std::chrono::seconds(10);

std::string_view script() {
  return {sml_preload_image_begin, static_cast<std::size_t>(sml_preload_image_end - sml_preload_image_begin)};
}

void add_length(std::string& to, std::size_t size) {
  for (unsigned shift = 0; shift < 32; shift += 8) to += static_cast<char>(size >> shift & 0xff);
}

std::size_t length_of(std::string_view head) {
  std::size_t out = 0;
  for (std::size_t i = 4; i-- > 0;) out = out << 8 | static_cast<unsigned char>(head[i]);
  return out;
}

class Message {
 public:
  Message& add(std::string_view text) {
    add_length(body_, text.size());
    body_ += text;
    return *this;
  }
  template <class Strings>
  Message& add_all(const Strings& strings) {
    for (const std::string& one : strings) add(one);
    return *this;
  }
  std::string bytes() const {
    std::string out;
    add_length(out, body_.size());
    return out + body_;
  }

 private:
  std::string body_;
};

const char* name_of(plan::PythonRuns runs) { return runs == plan::PythonRuns::Module ? "module" : "script"; }

// Parses "4711", or "4711 2 13" for a failure: process id, failed step, errno.
std::optional<std::variant<pid_t, SpawnFailed>> parse_answer(const std::string& text, pid_t& child) {
  int numbers[3] = {0, 0, 0};
  const std::vector<std::string_view> words = split(text, ' ');
  if (words.size() != 1 && words.size() != 3) return std::nullopt;
  for (std::size_t i = 0; i < words.size(); ++i) {
    numbers[i] = parse_number<int>(words[i]).value_or(-1);
    if (numbers[i] < 0) return std::nullopt;
  }
  child = numbers[0];
  if (words.size() == 1) return child > 0 ? std::optional<std::variant<pid_t, SpawnFailed>>(child) : std::nullopt;
  if (numbers[1] > static_cast<int>(SpawnStep::Binding)) return std::nullopt;
  return SpawnFailed{static_cast<SpawnStep>(numbers[1]), numbers[2]};
}

}  // namespace

// ---- start and end of the process

void Preload::prepare(const Request& request) {
  if (state_ != State::None || request.modules.empty()) return;
  for (const std::string& name : request.modules) modules_ += (modules_.empty() ? "" : ",") + name;
  if (Result<void> started = start(request); !started) return give_up(started.error().message());
  state_ = State::Importing;
  await_answer();
  await_words();
  timer_.expires_after(request.limit);
  when_due(timer_, lifetime_.guard([this, limit = request.limit] {
    if (state_ != State::Importing) return;
    give_up("they have been importing for " + format_duration(limit) + " (--start-timeout)");
  }));
}

Result<void> Preload::start(const Request& request) {
  std::optional<plan::PythonLine> line = plan::python_line(request.argv);
  if (!line) return Error(ErrorKind::Spawn, "the workers' program is no Python script or -m module");
  line_ = std::move(*line);
  program_ = request.process.program;
  environment_.assign(request.process.environment.begin(), request.process.environment.end());
  const Result<os::UniqueFd> text = os::nameless_file("sml-run-preload", script(), os::FileUse::Read);
  Result<os::Pipe> words = os::make_pipe();
  Result<std::array<os::UniqueFd, 2>> ends = os::make_socketpair();
  if (!words || !ends) return sys_error(ErrorKind::Spawn, "cannot make descriptors", errno);
  if (!text) return text.error();
  std::vector<std::string> argv = line_.interpreter;
  argv.insert(argv.end(), {"-c", kStub});
  argv.insert(argv.end(), line_.words.begin(), line_.words.end());
  const int more[] = {text->get(), (*ends)[1].get()};
  os::WorkerProcess process = request.process;
  process.argv = argv;
  process.stdout_fd = process.stderr_fd = words->write.get();
  process.more_descriptors = more;
  const auto started = processes_.start(process);
  if (const auto* failed = std::get_if<SpawnFailed>(&started)) return Error(ErrorKind::Spawn, describe(*failed));
  pid_ = std::get<pid_t>(started);
  socket_.assign((*ends)[0].release());
  words_.assign(words->read.release());
  socket_.non_blocking(true);
  words_.non_blocking(true);
  const Message what = Message().add(name_of(line_.runs)).add(line_.words.front()).add_all(request.modules);
  return send(what.bytes(), {});
}

void Preload::when_settled(std::function<void()> go) {
  go_ = std::move(go);
  if (state_ != State::Importing) settle(state_);
}

void Preload::settle(State state) {
  state_ = state;
  timer_.cancel();
  if (const auto go = std::exchange(go_, {})) go();
}

void Preload::give_up(const std::string& why) {
  if (state_ == State::GivenUp) return;
  end();
  print_("--preload " + modules_ + ": " + why + "; workers are started without it");
  settle(State::GivenUp);
}

void Preload::end() {
  boost::system::error_code ignored;
  socket_.close(ignored);
  words_.close(ignored);
  if (pid_ < 0) return;
  processes_.signal(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

bool Preload::ended(pid_t pid, const ExitStatus& status) {
  if (!is(pid)) return false;
  pid_ = -1;
  read_words();
  // Its last message, if there was one, explains more than its status.
  if (state_ == State::Importing) read_answer();
  if (state_ == State::Importing || state_ == State::Ready)
    give_up("the process that imports them " + describe(status));
  return true;
}

// ---- its messages and output

void Preload::await_answer() {
  when_readable(socket_, lifetime_.guard([this] {
    if (state_ == State::Importing) read_answer();
  }));
}

void Preload::read_answer() {
  char bytes[1024];
  const ssize_t n = ::read(socket_.native_handle(), bytes, sizeof bytes);
  if (n > 0) answer_.append(bytes, static_cast<std::size_t>(n));
  if (n == 0) return;  // its end is reported soon
  if (answer_.size() < 4 || answer_.size() < 4 + length_of(answer_)) {
    if (answer_.size() <= kLongestAnswer + 4) return pid_ > 0 ? await_answer() : void();
  }
  const std::string answer = answer_.substr(std::min<std::size_t>(4, answer_.size()), length_of(answer_));
  answer_.clear();
  if (answer == "ready") return settle(State::Ready);
  read_words();
  give_up(show(answer, kLongestLine));
}

void Preload::await_words() {
  when_readable(words_, lifetime_.guard([this] {
    read_words();
    if (words_.is_open()) await_words();
  }));
}

// Reads what modules print while they are imported; later there is no output.
void Preload::read_words() {
  char bytes[4096];
  for (;;) {
    const ssize_t n = words_.is_open() ? ::read(words_.native_handle(), bytes, sizeof bytes) : -1;
    if (n > 0) {
      say_lines({bytes, static_cast<std::size_t>(n)});
      continue;
    }
    if (n == 0) words_.close();
    return;
  }
}

void Preload::say_lines(std::string_view text) {
  partial_line_ += text;
  for (;;) {
    const std::size_t end = partial_line_.size() > kLongestLine ? kLongestLine : partial_line_.find('\n');
    if (end == std::string::npos) return;
    const std::string line = partial_line_.substr(0, std::min(end, partial_line_.find('\n')));
    partial_line_.erase(0, line.size() + 1);
    if (!trim(line).empty() && line_count_++ < kMostLines)
      print_("while --preload imports: " + show(line, kLongestLine));
  }
}

// ---- workers

std::string Preload::hindrance(const os::WorkerProcess& worker) const {
  const std::optional<plan::PythonLine> line = plan::python_line(worker.argv);
  if (!line) return "a worker's program is no Python script or -m module";
  if (worker.program != program_ || line->interpreter != line_.interpreter) {
    return "a worker has another interpreter than the one that has imported them";
  }
  if (line->runs != line_.runs || line->words.front() != line_.words.front()) {
    return "a worker runs another program than the one that they were imported for";
  }
  if (worker.more_descriptors.size() + 3 > kDescriptors) return "a worker gets too many descriptors";
  const std::string name = plan::differs_at_start(environment_, worker.environment);
  return name.empty() ? name : "the workers differ in " + name + ", which counts when Python starts";
}

std::variant<pid_t, SpawnFailed> Preload::spawn(const os::WorkerProcess& worker) {
  if (state_ != State::Ready) return processes_.start(worker);
  if (const std::string why = hindrance(worker); !why.empty()) {
    if (!std::exchange(warned_, true))
      print_("--preload " + modules_ + ": " + why + "; such workers are started without it");
    return processes_.start(worker);
  }
  auto forked = fork(worker);
  if (forked) return *forked;
  give_up("the process that has imported them " + forked.error().message());
  return processes_.start(worker);
}

Result<std::variant<pid_t, SpawnFailed>> Preload::fork(const os::WorkerProcess& worker) {
  const plan::PythonLine line = *plan::python_line(worker.argv);
  std::vector<int> descriptors{worker.stdin_fd, worker.stdout_fd, worker.stderr_fd};
  descriptors.insert(descriptors.end(), worker.more_descriptors.begin(), worker.more_descriptors.end());
  // The worker waits for a byte on this pipe: if its answer does not arrive here, another is started in its place.
  Result<os::Pipe> begins = os::make_pipe();
  if (!begins) return Error(ErrorKind::Spawn, "has no pipe for its start: " + begins.error().message());
  descriptors.push_back(begins->read.get());
  Message what;
  what.add(name_of(line.runs)).add(worker.working_directory.empty() ? "." : worker.working_directory);
  what.add(os::text_of(worker.settings)).add(std::to_string(worker.argv.size())).add(std::to_string(line.words.size()));
  what.add_all(worker.argv).add_all(line.words).add_all(worker.environment);
  if (Result<void> sent = send(what.bytes(), descriptors); !sent) return sent.error();
  Result<std::string> answer = handle();
  if (!answer) return answer.error();
  pid_t child = 0;
  const auto result = parse_answer(*answer, child);
  siginfo_t news{};
  const bool ours = child == 0 || ::waitid(P_PID, static_cast<id_t>(child), &news, WEXITED | WNOHANG | WNOWAIT) == 0;
  if (!result || !ours) return Error(ErrorKind::Protocol, "sent an invalid answer: " + show(*answer));
  if (std::holds_alternative<SpawnFailed>(*result) && child > 0) {
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  os::write_all(begins->write.get(), "g");
  return *result;
}

Result<void> Preload::send(const std::string& message, std::span<const int> descriptors) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * (kDescriptors + 1))] = {};
  const TimePoint end = Clock::now() + kForkLimit;
  for (std::size_t sent = 0; sent < message.size();) {
    iovec piece{const_cast<char*>(message.data() + sent), message.size() - sent};
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    if (sent == 0 && !descriptors.empty()) {
      header.msg_control = control;
      header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
      cmsghdr* rights = CMSG_FIRSTHDR(&header);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
      std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
    }
    const ssize_t n = ::sendmsg(socket_.native_handle(), &header, MSG_NOSIGNAL);
    if (n > 0) {
      sent += static_cast<std::size_t>(n);
      continue;
    }
    if (errno != EAGAIN && errno != EINTR) return Error(ErrorKind::Lost, "has ended");
    if (Clock::now() >= end) return Error(ErrorKind::Timeout, "takes nothing");
    pollfd ready{socket_.native_handle(), POLLOUT, 0};
    ::poll(&ready, 1, 100);
  }
  return {};
}

Result<std::string> Preload::handle() {
  const TimePoint end = Clock::now() + kForkLimit;
  std::string answer;
  while (answer.size() < 4 || answer.size() < 4 + length_of(answer)) {
    pollfd ready{socket_.native_handle(), POLLIN, 0};
    if (::poll(&ready, 1, 100) <= 0) {
      if (Clock::now() >= end) return Error(ErrorKind::Timeout, "does not answer");
      continue;
    }
    char bytes[256];
    const ssize_t n = ::read(socket_.native_handle(), bytes, sizeof bytes);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return Error(ErrorKind::Lost, "has ended");
    if (n > 0) answer.append(bytes, static_cast<std::size_t>(n));
    if (answer.size() > kLongestAnswer) return Error(ErrorKind::Protocol, "answers too much");
  }
  return answer.substr(4, length_of(answer));
}

}  // namespace sml::agent
