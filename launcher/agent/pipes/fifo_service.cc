#include "launcher/agent/pipes/fifo_service.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>

#include "common/core/text.h"
#include "launcher/agent/core/resource_assignment.h"

namespace sml::agent {

namespace {

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

// Same rule as sml::sagemaker::contract_folder().
std::string platform_folder(const plan::Environment& environment) {
  const std::string* base = plan::find_variable(environment, "SAGEMAKER_BASE_DIR");
  const std::string before = base == nullptr ? "" : std::string(plan::value_of(*base));
  const std::string folder = before + "/opt/ml/input/data";
  return before.empty() || exists(folder) ? folder : before + "/input/data";
}

Result<void> make_fifo_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return sys_error(ErrorKind::Io, "cannot make the folder " + show(path), errno);
}

// Makes them before the feeder runs, as workers may open them earlier.
Result<void> make_first_fifos(const std::vector<FifoFeed>& feeds) {
  for (const FifoFeed& feed : feeds) {
    for (const std::string& folder : feed.folders) {
      if (Result<void> made = FifoSink(folder, feed.channel.name).make(0); !made) return made;
    }
  }
  return {};
}

// Runs in the child, which keeps only the two pipes, the memory, and its place among the agent's children. All signals
// are blocked.
[[noreturn]] void serve_as_feeder(const std::vector<FifoFeed>& feeds, int control, int report, pid_t agent) {
  constexpr int kControl = 3;
  constexpr int kReport = 4;
  constexpr int kFirstForeign = 5;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, "sml-run-pipes");
  if (::getppid() != agent) ::_exit(1);
  // Duplicates both out of the range of kControl and kReport first.
  const int safe_control = ::fcntl(control, F_DUPFD, kFirstForeign + 1);
  const int safe_report = ::fcntl(report, F_DUPFD, kFirstForeign + 1);
  const int null = ::open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
  if (::dup2(safe_control, kControl) < 0 || ::dup2(safe_report, kReport) < 0) ::_exit(1);
  os::close_from(kFirstForeign);
  try {
    feed_fifos(feeds, kControl, kReport);
  } catch (const std::exception& e) {
    os::write_all(kReport, std::string("!") + e.what() + "\n");
    ::_exit(1);
  }
  ::_exit(0);
}

}  // namespace

FifoService::FifoService(const ServiceContext& context, plan::FifoPlan plan, const plan::Environment& environment)
    : context_(context),
      report_(context.system.loop),
      folder_(context.system.scratch.path().empty() ? "" : context.system.scratch.path() + "/pipes"),
      plan_(std::move(plan)),
      data_folder_(platform_folder(environment)) {}

Result<void> FifoService::check(wire::Prepared&) {
  if (folder_.empty()) return Error(ErrorKind::Spawn, "no folder for FIFOs can be made in TMPDIR or /tmp");
  for (const plan::FifoChannel& channel : plan_.channels) {
    if (Result<void> there = check_source(channel); !there) return there;
  }
  return {};
}

Result<void> FifoService::check_source(const plan::FifoChannel& channel) const {
  if (exists(data_folder_)) return {};
  return Error(ErrorKind::Config, "--pipe-fanout " + channel.name + ": there is no folder " + show(data_folder_) +
                                      ", in which the platform puts the FIFO " + channel.name + "_0");
}

std::string FifoService::reader_folder(std::size_t reader) const { return folder_ + "/" + std::to_string(reader); }

plan::Environment FifoService::variables(Rank rank) const {
  const auto reader = std::find(plan_.readers.begin(), plan_.readers.end(), rank);
  if (reader == plan_.readers.end()) return {};
  const std::string own = reader_folder(static_cast<std::size_t>(reader - plan_.readers.begin()));
  plan::Environment out{"SML_PIPE_DIR=" + own};
  for (const plan::FifoChannel& channel : plan_.channels) {
    plan::Environment more = plan::fifo_variables(channel, own);
    std::move(more.begin(), more.end(), std::back_inserter(out));
  }
  return out;
}

Result<void> FifoService::make_folders() const {
  if (Result<void> made = make_fifo_folder(folder_); !made) return made;
  for (std::size_t i = 0; i < plan_.readers.size(); ++i) {
    if (Result<void> made = make_fifo_folder(reader_folder(i)); !made) return made;
  }
  return {};
}

std::vector<FifoFeed> FifoService::feeds() const {
  std::vector<FifoFeed> out;
  for (const plan::FifoChannel& channel : plan_.channels) {
    FifoFeed& feed = out.emplace_back(FifoFeed{channel, data_folder_, {}, {}});
    for (std::size_t i = 0; i < plan_.readers.size(); ++i) {
      feed.folders.push_back(reader_folder(i));
      feed.readers.push_back("rank " + std::to_string(plan_.readers[i].value()));
    }
  }
  return out;
}

void FifoService::start(const wire::Start&) {
  Result<void> started = make_folders();
  if (started) started = fork_feeder();
  if (!started) fail(started.error().message());
}

Result<void> FifoService::fork_feeder() {
  Result<os::Pipe> control = os::make_pipe();
  Result<os::Pipe> report = os::make_pipe();
  if (!control) return control.error();
  if (!report) return report.error();
  const std::vector<FifoFeed> all = feeds();
  if (Result<void> made = make_first_fifos(all); !made) return made;
  const pid_t agent = ::getpid();
  // The child keeps them blocked: it must neither end by a signal for the workers nor run a handler of the agent.
  sigset_t every;
  sigset_t before;
  sigfillset(&every);
  ::sigprocmask(SIG_SETMASK, &every, &before);
  feeder_ = ::fork();
  if (feeder_ == 0) serve_as_feeder(all, control->read.get(), report->write.get(), agent);
  const int error = errno;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (feeder_ < 0) return sys_error(ErrorKind::Io, "cannot start the process that feeds the pipes", error);
  control_ = std::move(control->write);
  report_.assign(report->read.release());
  listen();
  return {};
}

void FifoService::listen() {
  const auto handler = [this](boost::system::error_code error, std::size_t size) {
    unread_.append(buffer_.data(), size);
    for (std::size_t end = unread_.find('\n'); end != std::string::npos; end = unread_.find('\n')) {
      note(std::string_view(unread_).substr(0, end));
      unread_.erase(0, end + 1);
    }
    if (!error) listen();
  };
  report_.async_read_some(boost::asio::buffer(buffer_), lifetime_.guard(handler));
}

void FifoService::note(std::string_view line) {
  if (line.empty()) return;
  const std::string text(line.substr(1));
  if (line.front() != '!') return context_.warn(text);
  if (!std::exchange(ending_, true)) fail(text);
}

void FifoService::worker_ended(Rank rank, const ExitStatus&) {
  const auto found = std::find(plan_.readers.begin(), plan_.readers.end(), rank);
  if (found == plan_.readers.end() || !control_) return;
  const auto reader = static_cast<DeadReader>(found - plan_.readers.begin());
  os::write_all(control_.get(), {reinterpret_cast<const char*>(&reader), sizeof reader});
}

void FifoService::end() {
  ending_ = true;
  control_.reset();
}

bool FifoService::process_ended(pid_t pid, const ExitStatus& status) {
  if (pid != feeder_) return false;
  feeder_ = -1;
  control_.reset();
  if (!std::exchange(ending_, true)) fail("the process that feeds the pipes " + describe(status));
  return true;
}

}  // namespace sml::agent
