#include "launcher/transport/session/agent_arrival.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "common/core/text.h"
#include "common/wire/messages.h"
#include "launcher/transport/bootstrap_script.h"

namespace sml::transport {

namespace {

Result<void> understands_us(const wire::AgentRuns& agent) {
  if (agent.version == wire::kProtocolVersion) return {};
  return Error(ErrorKind::Protocol, "its agent uses protocol " + std::to_string(agent.version) + ", this sml-run " +
                                        std::to_string(wire::kProtocolVersion))
      .with_hint("remove ~/.cache/sml-run there");
}

}  // namespace

Result<std::optional<SessionEvent>> AgentArrival::next(std::size_t unsent) {
  const Result<std::optional<wire::Greeting>> greeting_read = reader_.next();
  if (!greeting_read) return greeting_read.error();
  if (!greeting_read->has_value()) return std::optional<SessionEvent>();
  const wire::Greeting& greeting = **greeting_read;
  if (const auto* need = std::get_if<wire::NeedAgent>(&greeting)) {
    if (Result<void> may = may_be_sent(*need, unsent); !may) return may.error();
    return std::optional(SessionEvent::NeedAgent);
  }
  if (const auto* agent = std::get_if<wire::AgentRuns>(&greeting)) {
    if (Result<void> understood = understands_us(*agent); !understood) return understood.error();
    return std::optional(SessionEvent::AgentRuns);
  }
  if (const auto* cannot = std::get_if<wire::CannotDeploy>(&greeting)) {
    return Error(ErrorKind::Deploy, "no folder takes the agent: " + show(cannot->text, 500))
        .with_hint("one of ~/.cache, /dev/shm or /tmp must be writable, have 2 MB free and allow execution");
  }
  return Error(ErrorKind::Protocol, "an unexpected reconnect helper answered");
}

// The script requests the agent once per folder, and only after it has consumed the bytes sent before.
Result<void> AgentArrival::may_be_sent(const wire::NeedAgent& need, std::size_t unsent) {
  if (++times_asked_ > kMaxFolders || unsent > 0) {
    return Error(ErrorKind::Protocol, "asks for the agent again and again");
  }
  if (image_.architecture().empty() || need.architecture == image_.architecture()) return {};
  return Error(ErrorKind::Deploy, "is a machine of type " + show(need.architecture, 40) +
                                      ", the agent at hand is for " + std::string(image_.architecture()))
      .with_hint("build sml-run-agent for that type and name it with --agent-path");
}

// The phrases are those of the built-in SSH client and of other clients.
bool AgentArrival::has_broken(const Error& why) {
  constexpr std::array<std::string_view, 6> kWords{"the connection broke",  "the connection was closed by the host",
                                                   "Connection reset",      "Connection closed by",
                                                   "closed by remote host", "Broken pipe"};
  return why.kind() == ErrorKind::Lost && std::any_of(kWords.begin(), kWords.end(), [&](std::string_view words) {
           return why.message().find(words) != std::string::npos;
         });
}

// Between the log-in and the agent's first line the login shell is the one that prints: its output is the best cause.
Error AgentArrival::explain(const Error& why, AgentLauncher::Start start) const {
  if (why.kind() == ErrorKind::Connect || why.kind() == ErrorKind::Auth || why.kind() == ErrorKind::HostKey) return why;
  // A host that calls has no login; it reports which of its own steps failed.
  if (start == AgentLauncher::Start::ByHost) {
    const ErrorKind kind = why.kind() == ErrorKind::Lost ? ErrorKind::Deploy : why.kind();
    return Error(kind, "it could not be made ready: " + why.message());
  }
  const bool by_starter = start == AgentLauncher::Start::ByStarter;
  std::string text = "the agent did not start: " + without_bootstrap_script(why.message());
  if (const std::string noise = reader_.noise(); !noise.empty()) {
    text += (by_starter ? "; what was printed there: " : "; the login printed: ") +
            show(without_bootstrap_script(noise), 300);
  }
  if (by_starter) return Error(ErrorKind::Deploy, std::move(text)).with_hint(why.hint());
  return Error(ErrorKind::Deploy, std::move(text))
      .with_hint("does a plain \"ssh HOST true\" work there, without a question and with a POSIX /bin/sh?");
}

}  // namespace sml::transport
