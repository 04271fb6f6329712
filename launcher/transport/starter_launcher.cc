#include "launcher/transport/starter_launcher.h"

#include <utility>
#include <variant>

#include "launcher/transport/bootstrap_script.h"
#include "launcher/transport/process_transport.h"

namespace sml::transport {

namespace {

// Whether a tool that ended so shows that the agent has ended.
bool shows_end(starters::EndOfTool end, const ExitStatus& status, std::string_view errors) {
  constexpr int kSshError = 255;
  switch (end) {
    case starters::EndOfTool::OfAgent: return true;
    case starters::EndOfTool::OfConnection: return false;
    case starters::EndOfTool::AsSsh: break;
  }
  const auto* exited = std::get_if<Exited>(&status);
  return exited != nullptr && (exited->code != kSshError || errors.empty());
}

}  // namespace

StarterLauncher::StarterLauncher(boost::asio::any_io_executor loop, const AgentImage& image, Hosts hosts,
                                 const starters::Starter& starter, std::vector<std::string> environment)
    : RemoteShellLauncher(std::move(loop), image, std::move(hosts)),
      starter_(starter),
      environment_(std::move(environment)) {}

Result<void> StarterLauncher::open(Events events) {
  const os::TrustedProgram found = find_tool(starter_, environment_);
  for (const std::string& why : found.passed_over) events.print("warning: " + why);
  if (found.file.empty()) {
    return Error(ErrorKind::Deploy, "the other hosts cannot be reached: there is no " + std::string(starter_.tool) +
                                        " in PATH, by which " + std::string(starter_.system) + " starts programs there")
        .with_hint("add its folder to PATH, or take --start-by ssh");
  }
  tool_ = std::make_shared<StarterTool>(starter_, found.file, environment_);
  return RemoteShellLauncher::open(std::move(events));
}

std::unique_ptr<AgentTransport> StarterLauncher::log_in(const plan::Host& host, const std::string& script) {
  return make_tool_transport(
      loop(), pool(),
      {.name = std::string(starter_.tool),
       .host = host.name,
       .words = [tool = tool_, name = host.name,
                 whole = without_variables(script, starter_.not_for_workers)] { return tool->words_for(name, whole); },
       .environment = starters::environment_of_tool(starter_, environment_),
       .account = [&starter = starter_](std::string_view errors) { return account_of(starter, errors); },
       .pipe = starter_.pipe,
       .agent_has_ended = [end = starter_.end](const ExitStatus& status,
                                               std::string_view errors) { return shows_end(end, status, errors); }});
}

}  // namespace sml::transport
