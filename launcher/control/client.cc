#include "launcher/control/client.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <poll.h>
#include <unistd.h>

#include "common/core/text.h"
#include "common/os/fd.h"
#include "launcher/control/job_finder.h"
#include "launcher/control/log_printer.h"
#include "launcher/control/messages.h"
#include "launcher/os/terminal_size.h"
#include "launcher/report/live/job_list.h"
#include "launcher/report/live/status_text.h"
#include "launcher/transport/names/accounts.h"

namespace sml::control {

namespace {

using Print = std::function<void(const std::string&)>;

constexpr int kTimeoutMs = 10'000;
constexpr int kForEver = -1;
constexpr int kWatchMs = 1000;
constexpr int kFailed = 1;
constexpr int kWrongLine = 2;

Form form_of(const ControlLine& line) { return line.format == PlanFormat::Json ? Form::Json : Form::Text; }

int refuse(const Error& error, const Print& print) {
  print(error.message());
  if (!error.hint().empty()) print("hint: " + error.hint());
  return kFailed;
}

// Output of a job in a container must not control the terminal.
std::string safe_lines(std::string_view text) {
  std::string out;
  for (const std::string_view line : split(text, '\n')) out += show(line, std::string_view::npos) + "\n";
  return text.empty() ? std::string() : out;
}

// A table, which a terminal shows without wrapped lines.
std::string as_wide_as_stdout(std::string table) {
  const std::optional<std::size_t> columns = os::terminal_columns(STDOUT_FILENO);
  return columns ? report::cut_lines(table, *columns) : std::move(table);
}

bool write_stdout(const std::string& text) { return os::write_all(STDOUT_FILENO, text); }

// Empty for the user who asks.
std::string user_of(const JobSocket& socket) {
  if (socket.is_ours()) return {};
  const std::optional<names::Account> account = names::local_account(socket.owner);
  return account ? account->name : std::to_string(socket.owner);
}

std::vector<report::ListedJob> listed(const Found& found) {
  std::vector<report::ListedJob> out;
  for (const FoundJob& job : found.jobs) out.push_back({job.summary, user_of(job.socket)});
  return out;
}

int list_jobs(const ControlLine& line, const Print& print) {
  const Found found = find_jobs();
  const std::vector<report::ListedJob> jobs = listed(found);
  for (const std::string& note : found.notes) print(note);
  if (line.format == PlanFormat::Json) return write_stdout(report::jobs_json(jobs) + "\n") ? 0 : kFailed;
  if (jobs.empty()) {
    print("no job of yours runs on this machine");
    return 0;
  }
  return write_stdout(as_wide_as_stdout(report::jobs_table(jobs))) ? 0 : kFailed;
}

// For requests with one answer, in one piece.
Result<std::string> ask(const JobSocket& socket, const Request& request) {
  Result<Conversation> asked = Conversation::begin(socket, request);
  if (!asked) return asked.error();
  Result<std::optional<Answer>> answer = asked->next(kTimeoutMs);
  if (!answer) return Error(answer.error()).in(socket.called());
  if (!*answer) return Error(ErrorKind::Lost, socket.called() + " has ended");
  if (const auto* text = std::get_if<Text>(&**answer)) return text->text;
  if (const auto* refused = std::get_if<Refused>(&**answer)) return Error(ErrorKind::Usage, refused->why);
  return Error(ErrorKind::Protocol, socket.called() + " answers something else");
}

int show_status(const JobSocket& socket, const ControlLine& line, const Print& print) {
  const bool clears = line.watch == Watch::Yes && line.format == PlanFormat::Text && ::isatty(STDOUT_FILENO) == 1;
  for (bool first = true;; first = false) {
    const Result<std::string> text = ask(socket, {.topic = Topic::Status, .form = form_of(line)});
    if (!text && !first && text.error().kind() == ErrorKind::Lost) {
      print(socket.called() + " has ended");
      return 0;
    }
    if (!text) return refuse(text.error(), print);
    std::string lines = safe_lines(*text);
    if (line.format == PlanFormat::Text) lines = as_wide_as_stdout(std::move(lines));
    if (!write_stdout((clears ? "\x1b[H\x1b[J" : "") + lines)) return kFailed;
    if (line.watch == Watch::No) return 0;
    ::poll(nullptr, 0, kWatchMs);
  }
}

int send_signal(const JobSocket& socket, const ControlLine& line, const Print& print) {
  const Result<std::string> text =
      ask(socket, {.topic = Topic::Signal, .form = form_of(line), .signo = line.signo, .ranks = line.ranks});
  if (!text) return refuse(text.error(), print);
  return write_stdout(safe_lines(*text)) ? 0 : kFailed;
}

int show_stacks(const JobSocket& socket, const ControlLine& line, const Print& print) {
  const Result<std::string> text = ask(socket, {.topic = Topic::Stacks, .form = form_of(line)});
  if (!text) return refuse(text.error(), print);
  return write_stdout(safe_lines(*text)) ? 0 : kFailed;
}

// Prints answers until the job ends, or the answer is complete.
class Listener {
 public:
  Listener(const JobSocket& socket, const ControlLine& line, const Print& print)
      : socket_(socket),
        line_(line),
        print_(print),
        printer_(form_of(line), {control_of(STDOUT_FILENO), control_of(STDERR_FILENO)}) {}

  int listen(Conversation& asked) {
    for (;;) {
      const Result<std::optional<Answer>> answer = asked.next(kForEver);
      if (!answer) return refuse(Error(answer.error()).in(socket_.called()), print_);
      if (!*answer) {
        flush();
        print_("the launcher of " + socket_.called() + " has gone without a word");
        return kFailed;
      }
      if (const std::optional<int> status = handle(**answer)) return *status;
    }
  }

 private:
  static LogPrinter::Control control_of(int fd) {
    return ::isatty(fd) == 1 ? LogPrinter::Control::Show : LogPrinter::Control::Pass;
  }

  // Returns the exit status after the last answer.
  std::optional<int> handle(const Answer& answer) {
    if (const auto* output = std::get_if<Output>(&answer)) {
      printer_.add(*output);
      return flush() ? std::nullopt : std::optional(kFailed);
    }
    if (const auto* skipped = std::get_if<Skipped>(&answer)) {
      print_(std::to_string(skipped->bytes) + " bytes are missing here, as they were not taken fast enough");
      return std::nullopt;
    }
    printer_.finish();
    const bool written = flush();
    if (std::get_if<Done>(&answer) != nullptr) return written ? 0 : kFailed;
    if (const auto* ended = std::get_if<Ended>(&answer)) return over(*ended);
    const auto* refused = std::get_if<Refused>(&answer);
    return refuse(Error(ErrorKind::Usage, refused != nullptr ? refused->why : "it answers something else"), print_);
  }

  int over(const Ended& ended) {
    if (line_.word == ControlWord::Stop && line_.format == PlanFormat::Json) {
      return write_stdout(report::ended_json(socket_.job(), ended.exit_code, ended.verdict) + "\n") ? 0 : kFailed;
    }
    print_(socket_.called() + " has ended with status " + std::to_string(ended.exit_code) + ": " + ended.verdict);
    return 0;
  }

  bool flush() {
    const std::array<std::string, 2> texts = printer_.take();
    return os::write_all(STDOUT_FILENO, texts[0]) && os::write_all(STDERR_FILENO, texts[1]);
  }

  const JobSocket& socket_;
  const ControlLine& line_;
  const Print& print_;
  LogPrinter printer_;
};

int listen(const JobSocket& socket, const ControlLine& line, const Print& print) {
  Request request{.topic = line.word == ControlWord::Stop ? Topic::Stop : Topic::Logs, .form = form_of(line)};
  request.follow = line.follow == Follow::Yes ? Lasts::Yes : Lasts::No;
  request.ranks = line.ranks;
  request.lines = line.lines;
  Result<Conversation> asked = Conversation::begin(socket, request);
  if (!asked) return refuse(asked.error(), print);
  return Listener(socket, line, print).listen(*asked);
}

// Where no job is named and it matters which: the jobs to choose from.
int refuse_unnamed(const Error& why, const ControlLine& line, const Print& print) {
  const int status = line.word == ControlWord::Stop && line.job.empty() ? kWrongLine : kFailed;
  std::vector<report::ListedJob> jobs;
  if (line.job.empty()) jobs = listed(find_jobs());
  if (jobs.empty()) {
    refuse(why, print);
    return status;
  }
  print(why.message());
  os::write_all(STDERR_FILENO, report::jobs_table(jobs));
  return status;
}

}  // namespace

int obey(const ControlLine& line, const Print& print) {
  if (line.word == ControlWord::Ps) return list_jobs(line, print);
  const Result<JobSocket> socket = find_job(line.job);
  if (!socket) return refuse_unnamed(Error(socket.error()).in(name(line.word)), line, print);
  if (line.word == ControlWord::Stop && line.job.empty()) {  // a job is ended by its name alone
    return refuse_unnamed(Error(ErrorKind::Usage, "stop: the job is missing; write sml-run stop and its ID"), line,
                          print);
  }
  if (!socket->is_ours()) print(socket->called() + " is asked, as no job of yours fits");
  switch (line.word) {
    case ControlWord::Status: return show_status(*socket, line, print);
    case ControlWord::Signal: return send_signal(*socket, line, print);
    case ControlWord::Stacks: return show_stacks(*socket, line, print);
    default: return listen(*socket, line, print);
  }
}

}  // namespace sml::control
