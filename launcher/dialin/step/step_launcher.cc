#include "launcher/dialin/step/step_launcher.h"

#include <fmt/format.h>

#include <utility>

#include "common/os/random.h"
#include "common/plan/environment/worker_env.h"
#include "launcher/dialin/port.h"
#include "launcher/dialin/step/step_transport.h"
#include "launcher/inputs/install_links.h"
#include "launcher/transport/bootstrap_script.h"
#include "launcher/transport/process_transport.h"

namespace sml::dialin {

namespace {

std::vector<std::string> names_of(const std::vector<plan::Host>& hosts) {
  std::vector<std::string> out;
  for (const plan::Host& host : hosts) out.push_back(host.name);
  return out;
}

}  // namespace

StepLauncher::StepLauncher(boost::asio::any_io_executor loop, const transport::AgentImage& image, const Hosts& hosts,
                           const starters::Starter& starter, std::vector<std::string> environment)
    : StarterLauncher(std::move(loop), image, hosts, starter, std::move(environment)), names_(names_of(hosts.list)) {}

Result<void> StepLauncher::open(Events events) {
  if (Result<void> opened = StarterLauncher::open(std::move(events)); !opened) return opened;
  Result<std::string> file = own_program();
  if (!file) return file.error();
  file_ = std::move(*file);
  const std::string_view variable = starter().step.secret;
  std::string secret(variable.empty() ? "" : plan::variable(environment(), variable));
  if (variable.empty()) {
    secret = os::random_hex(32);
    key_entry_ = fmt::format("{}={}", kStepKeyVariable, secret);
  }
  if (secret.empty()) {
    return Error(ErrorKind::Deploy, fmt::format("the other hosts cannot be reached: there is no {}, by which the hosts "
                                                "of a job of {} know each other",
                                                variable.empty() ? "random number" : variable, starter().system))
        .with_hint("--start-by ssh needs none");
  }
  const Result<Key> key = key_of_step(secret);
  if (!key) return key.error();
  Result<std::unique_ptr<Credentials>> credentials = make_credentials(Side::Coordinator, *key, nullptr);
  if (!credentials) return credentials.error();
  Result<os::UniqueFd> listener = listen_on(0);
  if (!listener) return listener.error();
  calls_ = std::make_shared<StepCalls>(
      loop(),
      StepCalls::Plan{.listener = std::move(*listener),
                      .credentials = std::move(*credentials),
                      .file = file_,
                      .secret_variable = std::string(variable.empty() ? kStepKeyVariable : variable),
                      .most_hosts = starter().step.most_hosts,
                      .hosts = names_},
      [this](std::vector<std::string> hosts, std::vector<std::string> words) {
        return start_step(std::move(hosts), std::move(words));
      });
  return {};
}

void StepLauncher::add_host(const plan::Host& host) {
  StarterLauncher::add_host(host);
  names_.push_back(host.name);
}

std::unique_ptr<transport::AgentTransport> StepLauncher::log_in(const plan::Host& host, const std::string& script) {
  StepTransport::Instead pipe;
  if (starter().arguments != nullptr) pipe = [this, host, script] { return StarterLauncher::log_in(host, script); };
  Error none =
      Error(ErrorKind::Deploy,
            fmt::format("there is no {} there that belongs to root or you, in folders that nobody else can change, and "
                        "{} gives no pipe by which it could be sent",
                        file_, starter().tool))
          .with_hint("put sml-run into a folder that all hosts share, or take --start-by ssh");
  return std::make_unique<StepTransport>(calls_, host.name,
                                         transport::without_variables(script, starter().not_for_workers),
                                         std::move(none), std::move(pipe));
}

std::unique_ptr<transport::AgentTransport> StepLauncher::start_step(std::vector<std::string> hosts,
                                                                    std::vector<std::string> words) {
  std::vector<std::string> environment = environment_of_tool(starter(), this->environment());
  if (!key_entry_.empty()) environment.push_back(key_entry_);
  return transport::make_tool_transport(
      loop(), pool(),
      {.name = std::string(starter().tool),
       .host = {},
       .words = [tool = tool(), hosts = std::move(hosts),
                 words = std::move(words)] { return tool->words_for_step(hosts, words); },
       .environment = std::move(environment),
       .account = [&starter = starter()](std::string_view errors) { return account_of(starter, errors); },
       .agent_has_ended = [](const ExitStatus&, std::string_view) { return true; }});
}

bool StepLauncher::send_end(const transport::RunEnd&, std::function<void()> done) {
  return calls_ && calls_->end(std::move(done));
}

void StepLauncher::close() {
  calls_.reset();
  StarterLauncher::close();
}

}  // namespace sml::dialin
