#include "launcher/agent/diagnosis/trace_service.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <thread>
#include <utility>

#include <unistd.h>

#include "common/core/text.h"
#include "common/os/trust.h"
#include "launcher/agent/core/waits.h"

namespace sml::agent {

namespace {

constexpr std::size_t kMostAtOnce = 16;
constexpr char kStopped = 'T';
constexpr Duration kTraceServerLimit = std::chrono::milliseconds(700);  // then the tools have the rest of the time

struct Tool {
  const char* name;
  TraceTools among;  // used if the launcher allows this level or more
  bool for_python;
};
// Better tools first.
constexpr Tool kTools[] = {
    {"py-spy", TraceTools::NonStopping, true}, {"eu-stack", TraceTools::All, false}, {"gdb", TraceTools::All, false}};

std::vector<std::string> command_of(const Tool& tool, const std::string& file, pid_t pid) {
  const std::string number = std::to_string(pid);
  switch (tool.name[0]) {
    case 'p': return {file, "dump", "--nonblocking", "--pid", number};
    case 'e': return {file, "-p", number};
    default: return {file, "-nx", "-batch", "-p", number, "-ex", "thread apply all bt 40"};
  }
}

bool is_python(pid_t pid) {
  char file[512];
  const ssize_t size = ::readlink(("/proc/" + std::to_string(pid) + "/exe").c_str(), file, sizeof file);
  const std::string_view path(file, size > 0 ? static_cast<std::size_t>(size) : 0);
  return path.find("python", path.rfind('/') + 1) != std::string_view::npos;
}

// More tools than processors would make each of them too slow.
std::size_t at_once() { return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 2, kMostAtOnce); }

std::string last_line(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return std::string(text.substr(text.rfind('\n') + 1).substr(0, 300));
}

}  // namespace

TraceService::TraceService(const ServiceContext& context, std::vector<Member> members)
    : context_(context),
      members_(members.begin(), members.end()),
      limit_(context.system.loop),
      server_limit_(context.system.loop) {}

plan::Environment TraceService::variables(Rank rank) const {
  for (const Member& member : members_) {
    if (member.rank == rank) return member.torch.variables;
  }
  return {};
}

void TraceService::set_pid(Rank rank, pid_t pid) {
  const auto is_it = [rank](const Member& member) { return member.rank == rank; };
  auto member = std::find_if(members_.begin(), members_.end(), is_it);
  if (member == members_.end()) {  // a worker that was added later
    members_.push_back({rank, members_.empty() ? std::string() : members_.front().folders});
    member = std::prev(members_.end());
  }
  member->pid = pid;
}

void TraceService::handle(const wire::ToAgent& message) {
  if (const auto* m = std::get_if<wire::AskTraces>(&message)) begin(*m);
}

void TraceService::begin(const wire::AskTraces& m) {
  finish();
  looks_.clear();
  asked_ = m;
  const os::SocketPeers peers = os::socket_peers();
  for (const Member& member : members_) {
    if (member.pid <= 0) continue;
    looks_.push_back(std::make_unique<Look>(context_.system.loop, member));
    looks_.back()->trace = os::trace_process(os::main_process(member.pid), peers);
    choose_tool(*looks_.back());
    ask_torch(*looks_.back());
    if (looks_.back()->command.empty() && !looks_.back()->asks) send_trace(*looks_.back(), "");
  }
  server_limit_.expires_after(kTraceServerLimit);
  when_due(server_limit_, request_.guard([this] { stop_asking(); }));
  limit_.expires_after(std::chrono::milliseconds(m.limit_ms));
  when_due(limit_, request_.guard([this] { finish(); }));
  run_next();
}

void TraceService::ask_torch(Look& look) {
  const auto done = [this, &look](std::optional<std::string> text) { take_stacks(look, std::move(text)); };
  look.asks = look.server.ask(look.member.torch.socket, "dump_traceback", kLongestTrace, done);
}

void TraceService::take_stacks(Look& look, std::optional<std::string> text) {
  look.asks = false;
  if (text && text->find("\n  File ") != std::string::npos) {
    look.trace.tool = "torch";
    look.trace.stacks = std::move(*text);
    send_trace(look, "");
  } else if (look.command.empty()) {
    send_trace(look, "");
  }
  run_next();
}

void TraceService::stop_asking() {
  for (const auto& look : looks_) {
    if (!look->asks) continue;
    look->server.give_up();
    take_stacks(*look, std::nullopt);
    if (!asked_) return;
  }
}

void TraceService::choose_tool(Look& look) {
  const bool python = is_python(look.trace.pid);
  for (const Tool& tool : kTools) {
    if (tool.among > asked_->tools || (tool.for_python && !python)) continue;
    std::vector<std::string> files;
    for (const std::string_view folder : split(look.member.folders, ':')) {
      if (folder.starts_with('/')) files.push_back(std::string(folder) + "/" + tool.name);
    }
    const os::TrustedProgram found = os::find_trusted_program(files);
    for (const std::string& why : found.passed_over) {
      if (passed_over_.insert(why).second) context_.warn(why);
    }
    if (found.file.empty()) continue;
    look.command = command_of(tool, found.file, look.trace.pid);
    look.trace.tool = tool.name;
    return;
  }
}

// Starts as many tools as may run; sends the end of the answer after the last one.
void TraceService::run_next() {
  if (!asked_) return;
  bool waits = false;
  for (const auto& look : looks_) {
    const bool may_run = !look->runs && !look->command.empty() && !look->asks;
    if (may_run && running_ < at_once()) run_tool(*look);
    waits = waits || look->asks || !look->command.empty();
  }
  if (!waits) finish();
}

void TraceService::run_tool(Look& look) {
  const auto done = [this, &look] {
    const std::string& text = look.run.text();
    const bool told = text.find("\n    ") != std::string::npos || text.find("#0") != std::string::npos;
    send_trace(look, told ? "" : look.trace.tool + " failed: " + last_line(text));
    run_next();
  };
  const Result<void> started = look.run.start(look.command, kLongestTrace, done, {});
  if (!started) return send_trace(look, started.error().message());
  look.runs = true;
  ++running_;
}

// A debugger that is killed may leave its process stopped, so this continues it.
void TraceService::send_trace(Look& look, const std::string& fault) {
  if (std::exchange(look.runs, false)) --running_;
  look.command.clear();
  look.run.kill();
  const std::vector<ThreadTrace>& threads = look.trace.threads;
  const bool stood = !threads.empty() && threads.front().state == kStopped;
  if (!fault.empty() && !stood && look.member.pid > 0) context_.system.processes.signal(-look.member.pid, SIGCONT);
  look.trace.fault = fault;
  if (fault.empty() && look.trace.stacks.empty()) look.trace.stacks = look.run.take_text();
  if (!threads.empty()) context_.send(wire::Trace{asked_->id, look.member.rank, std::move(look.trace)});
}

void TraceService::finish() {
  if (!asked_) return;
  request_ = Lifetime();
  limit_.cancel();
  server_limit_.cancel();
  for (const auto& look : looks_) {
    look->server.give_up();
    if (std::exchange(look->asks, false) && look->command.empty()) send_trace(*look, "");
    if (!look->command.empty())
      send_trace(*look, look->trace.tool + (look->runs ? " was too slow" : " had no time left"));
  }
  context_.send(wire::Traced{asked_->id});
  asked_.reset();
}

bool TraceService::process_ended(pid_t pid, const ExitStatus&) {
  for (const auto& look : looks_) {
    if (look->run.ended(pid)) return true;
  }
  return false;
}

}  // namespace sml::agent
