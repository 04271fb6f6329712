// sml-run: starts one distributed job. See man/sml-run.1.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <unistd.h>

#include "common/core/text.h"
#include "common/os/fd.h"
#include "common/os/private_process.h"
#include "launcher/dialin/job_key.h"
#include "launcher/dialin/step/step_call.h"
#include "launcher/dialin/step/step_task.h"
#include "launcher/inputs/hosts/host_source.h"
#include "launcher/inputs/own_address.h"
#include "launcher/inputs/secret_file.h"
#include "launcher/options/command_line.h"
#include "launcher/options/control_line.h"
#include "launcher/options/text/help.h"
#include "launcher/os/init_process.h"
#include "launcher/sagemaker/contract.h"
#include "launcher/sagemaker/training.h"
#include "launcher/start/own_commands.h"
#include "launcher/start/refusal.h"
#include "launcher/start/settle.h"
#include "launcher/start/start.h"
#include "launcher/transport/names/addresses.h"
#include "launcher/transport/ssh/crypto_library.h"

namespace {

using namespace sml;

std::string note_about(const std::vector<std::string>& options) {
  std::string text;
  for (const std::string& option : options) text += (text.empty() ? "" : ", ") + option;
  return "without effect here: " + show(text, 1000);
}

// The copy that a batch system's starter has started calls the launcher.
int answer_step(const dialin::StepCall& call, std::span<char* const> environment) {
  const char* given = std::getenv(call.secret_variable.c_str());
  const std::string secret = given == nullptr ? "" : given;
  if (call.secret_variable == dialin::kStepKeyVariable) forget_variable(environment.data(), call.secret_variable);
  return dialin::serve_step(call, secret);
}

int obey(const std::string& called, const std::vector<std::string>& arguments, std::span<char* const> environment) {
  os::ensure_standard_descriptors();
  if (const std::optional<dialin::StepCall> call = dialin::parse_step_call(arguments)) {
    return answer_step(*call, environment);
  }
  if (is_control_line(called, arguments)) return speak_to_jobs(arguments);
  os::serve_as_init();
  ThisHost here = this_host(environment);
  here.sharded_folders = [environment = here.environment, read_file = here.read_file, exists = here.exists,
                          check_trust = here.check_trust] {
    return sagemaker::sharded_folders(environment, {read_file, exists, check_trust});
  };
  forget_variable(environment.data(), std::string(kSecretVariable));
  auto parsed = parse_command_line(
      arguments,
      {.environment = here.environment,
       .called = called,
       .exists = here.exists,
       .executable = [](const std::string& path) { return ::access(path.c_str(), X_OK) == 0; },
       .check_trust = here.check_trust,
       .read_file = [&here](const std::string& path, std::size_t limit) { return read_own_file(here, path, limit); },
       .secret_advice = [&here] { return key_is_there(here) ? "" : advice_on_secrets(); }});
  if (!parsed) {
    const int status = refuse(parsed.error());
    if (arguments.empty()) os::write_all(STDERR_FILENO, newcomer_text(called));
    return status;
  }
  if (const auto* printed = std::get_if<Printed>(&*parsed)) {
    return os::write_all(STDOUT_FILENO, printed->text) ? 0 : 1;
  }
  auto& options = std::get<Options>(*parsed);
  if (options.dial_in.make_secret == MakeSecret::Yes) return make_secret(here);
  if (!options.links_folder.empty()) return make_links(options.links_folder);
  for (const std::string& warning : options.warnings) print("warning: " + warning);
  if (!options.without_effect.empty() && options.verbosity != Verbosity::Quiet)
    print(note_about(options.without_effect));
  HostFinder finder(here);
  Training training;
  const auto warn = [](const std::string& warning) { print("warning: " + warning); };
  const Result<SettledOptions> settled = settle_options(options, training, finder, here, warn);
  if (!settled) return fail_for_all(options, here, finder, settled.error());
  return start_job(*settled, training, here, finder);
}

}  // namespace

int main(int argc, char** argv, char** environment) {
  os::become_private();
  names::keep_to_built_in_sources();
  ssh::keep_to_built_in_crypto();
  int status = 125;
  try {
    std::size_t size = 0;
    while (environment[size] != nullptr) ++size;
    status = obey(argc > 0 ? argv[0] : "", std::vector<std::string>(argv + 1, argv + argc),
                  std::span<char* const>(environment, size));
  } catch (const std::exception& e) {
    print(std::string("internal error: ") + e.what());
  }
  std::fflush(nullptr);
  std::_Exit(status);  // a name lookup may still be in progress on a thread that cannot be ended
}
