#include "launcher/start/commands.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <variant>

#include <unistd.h>

#include "common/core/text.h"
#include "common/os/fd.h"
#include "launcher/control/client.h"
#include "launcher/control/job_finder.h"
#include "launcher/dialin/job_key.h"
#include "launcher/dialin/step/step_call.h"
#include "launcher/dialin/step/step_task.h"
#include "launcher/inputs/hosts/host_source.h"
#include "launcher/inputs/install_links.h"
#include "launcher/inputs/own_address.h"
#include "launcher/inputs/secret_file.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/command_line.h"
#include "launcher/options/control_line.h"
#include "launcher/options/text/help.h"
#include "launcher/os/init_process.h"
#include "launcher/sagemaker/contract.h"
#include "launcher/sagemaker/training.h"
#include "launcher/start/refusal.h"
#include "launcher/start/settle.h"
#include "launcher/start/start.h"
#include "launcher/top/top.h"

namespace sml {

namespace {

bool is_step(const Invocation& call) { return dialin::parse_step_call(call.arguments).has_value(); }

// The copy that a batch system's starter has started calls the launcher.
int answer_step(const Invocation& invocation) {
  const dialin::StepCall call = *dialin::parse_step_call(invocation.arguments);
  const char* given = std::getenv(call.secret_variable.c_str());
  const std::string secret = given == nullptr ? "" : given;
  if (call.secret_variable == dialin::kStepKeyVariable) {
    forget_variable(invocation.environment.data(), call.secret_variable);
  }
  return dialin::serve_step(call, secret);
}

bool is_about_jobs(const Invocation& call) { return is_control_line(call.called, call.arguments); }

// ps, status and the other subcommands that query or control running jobs.
int speak_to_jobs(const Invocation& call) {
  const Result<std::variant<ControlLine, Printed>> line = parse_control_line(call.arguments);
  if (!line) return refuse(line.error());
  if (const auto* printed = std::get_if<Printed>(&*line)) return os::write_all(STDOUT_FILENO, printed->text) ? 0 : 1;
  const auto& asked = std::get<ControlLine>(*line);
  if (asked.word != ControlWord::Top) return control::obey(asked, print);
  const Result<control::JobSocket> job = control::find_job(asked.job);
  if (job) return top::show(*job, print);
  refuse(Error(job.error()).in("top"));
  return 1;
}

// --make-secret: makes the secret file of this user and prints its path.
int make_secret(const ThisHost& here) {
  const std::string folder = here.secrets.config_folder();
  if (folder.empty()) return refuse(Error(ErrorKind::Config, "--make-secret: there is no home folder"));
  const std::string path = default_secret_file(folder);
  if (Result<void> made = make_secret_file(path); !made) return refuse(Error(made.error()).in("--make-secret"));
  print("hosts that do not share this file need a copy of it, mode 600");
  return os::write_all(STDOUT_FILENO, path + "\n") ? 0 : 1;
}

// --install-links: makes links to this program in that folder, named like other launchers, and prints their paths.
int make_links(const std::string& folder) {
  const Result<std::string> program = own_program();
  if (!program) return refuse(Error(program.error()).in("--install-links"));
  const Result<std::vector<std::string>> made = install_links(folder, *program);
  if (!made) return refuse(Error(made.error()).in("--install-links"));
  std::string text;
  for (const std::string& path : *made) text += path + "\n";
  return os::write_all(STDOUT_FILENO, text) ? 0 : 1;
}

std::string note_about(const std::vector<std::string>& options) {
  std::string text;
  for (const std::string& option : options) text += (text.empty() ? "" : ", ") + option;
  return "without effect here: " + show(text, 1000);
}

// Removes the secret from the environment, which `here` has a copy of.
ThisHost this_host_of(const Invocation& call) {
  ThisHost here = this_host(call.environment);
  here.found.sharded_folders = [environment = here.process.environment, files = here.files] {
    return sagemaker::sharded_folders(environment, files);
  };
  forget_variable(call.environment.data(), std::string(kSecretVariable));
  return here;
}

Result<std::variant<Options, Printed>> parse(const Invocation& call, const ThisHost& here) {
  return parse_command_line(
      call.arguments,
      {.environment = here.process.environment,
       .called = call.called,
       .exists = here.files.exists,
       .executable = [](const std::string& path) { return ::access(path.c_str(), X_OK) == 0; },
       .check_trust = here.files.check_trust,
       .read_file = [&here](const std::string& path, std::size_t limit) { return read_own_file(here, path, limit); },
       .secret_advice = [&here] { return key_is_there(here) ? "" : advice_on_secrets(); }});
}

// Does what the options ask for, which is to start a job unless they ask for something else.
int follow(Options& options, ThisHost& here) {
  if (options.dial_in.make_secret == MakeSecret::Yes) return make_secret(here);
  if (!options.links_folder.empty()) return make_links(options.links_folder);
  const auto warn = [](const std::string& warning) { print("warning: " + warning); };
  for (const std::string& warning : options.warnings) warn(warning);
  if (!options.without_effect.empty() && options.verbosity != Verbosity::Quiet)
    print(note_about(options.without_effect));
  HostFinder finder(here);
  Training training;
  const Result<SettledOptions> settled = settle_options(options, training, finder, here, warn);
  if (!settled) return fail_for_all(options, here, finder, settled.error());
  return start_job(*settled, training, here, finder);
}

int follow_options(const Invocation& call) {
  os::serve_as_init();
  ThisHost here = this_host_of(call);
  Result<std::variant<Options, Printed>> parsed = parse(call, here);
  if (!parsed) {
    const int status = refuse(parsed.error());
    if (call.arguments.empty()) os::write_all(STDERR_FILENO, newcomer_text(call.called));
    return status;
  }
  if (const auto* printed = std::get_if<Printed>(&*parsed)) {
    return os::write_all(STDOUT_FILENO, printed->text) ? 0 : 1;
  }
  return follow(std::get<Options>(*parsed), here);
}

struct Command {
  bool (*applies)(const Invocation&);
  int (*run)(const Invocation&);  // as run_command()
};

// The first that applies is run.
constexpr std::array kCommands{Command{is_step, answer_step}, Command{is_about_jobs, speak_to_jobs},
                               Command{[](const Invocation&) { return true; }, follow_options}};

}  // namespace

int run_command(const Invocation& invocation) {
  return std::find_if(kCommands.begin(), kCommands.end(), [&](const Command& c) { return c.applies(invocation); })
      ->run(invocation);
}

}  // namespace sml
