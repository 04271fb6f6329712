#include "launcher/options/rows/option_rows.h"

#include "common/plan/machine/host.h"
#include "launcher/options/values/value_binders.h"

namespace sml {

using std::string_view;

namespace {

constexpr TextRule kUserName{plan::valid_user_name, "a user name"};
constexpr Choice<PlanFormat> kFormats[] = {{"text", PlanFormat::Text}, {"json", PlanFormat::Json}};
constexpr Choice<ScratchRule> kDebugWords[] = {{"keep", ScratchRule::Kept}};
constexpr Choice<Shell> kShells[] = {{"bash", Shell::Bash}, {"zsh", Shell::Zsh}, {"fish", Shell::Fish}};

}  // namespace

// Options for the launcher itself, and for its messages.

OptionGroup options_of_limits() {
  return {
      "Time limits (D is 90, 90s, 1.5m, 2h or 250ms)",
      "limits",
      {{"--grace", "D", time_span<0, &Options::grace>,
        "Time between TERM and KILL when the job is stopped; default 10s.", "10s"},
       {"--stop-grace", "D", time_span<0, &Options::stop_grace>,
        "The same when a signal stops the job. Default: in containers as long as the platform allows, else that of "
        "--grace."},
       {"--timeout", "D", time_span<1, &Options::timeout>,
        "Stop the job, with status 124, when its workers have run for D. --help progress has limits on silence."},
       under_other_names({"--timeout-status", "N", whole_number<1, 255, &Options::timeout_status>,
                          "Then end with status N, 1 to 255; default 124, and as mpirun 110, as mpiexec.hydra 255."}),
       {"--start-timeout", "D",
        both<time_span<1, &Options::start_timeout>, constant<true, &Options::start_timeout_given>>,
        "Give up when not all hosts are ready by then; default 60s.", "60s"},
       {"--heartbeat-timeout", "D",
        both<time_span<1000, &Options::heartbeat_timeout>, constant<true, &Options::heartbeat_timeout_given>>,
        "A host that is silent for D is lost; default 30s.", "30s"},
       {"--wait-for-hosts", "", constant<AbsentHosts::AreAwaited, &Options::ssh, &SshOptions::absent_hosts>,
        "Try hosts again until --start-timeout that are not up yet: the default where Kubernetes or a cloud names "
        "them."},
       rare({"--no-wait-for-hosts", "", constant<AbsentHosts::Fail, &Options::ssh, &SshOptions::absent_hosts>,
             "Fail at once then: the default elsewhere."}),
       {"--connect-timeout", "D", time_span<1, &Options::ssh, &SshOptions::connect_timeout>,
        "Limit for each host's connection, and again for its log-in; default 15s.", "15s"}}};
}

OptionGroup options_of_ssh() {
  return {
      "Reaching the hosts",
      "ssh",
      {{"--ssh-port -p", "PORT", whole_number<1, 65535, &Options::ssh, &SshOptions::port>,
        "Port of the SSH servers; default: that of the ssh configuration."},
       {"--ssh-user", "USER", valid_text<kUserName, &Options::ssh, &SshOptions::user>,
        "User on hosts that are given without USER@."},
       {"--ssh-identity-file -i", "FILE", text<&Options::ssh, &SshOptions::identity_file>,
        "Private key to log in with."},
       {"--ssh-config", "FILE", text<&Options::ssh, &SshOptions::config_file>,
        "Use this ssh configuration instead of ~/.ssh/config and /etc/ssh/ssh_config."},
       {"--start-by", "NAME", set_start_by,
        "Start on other hosts by ssh, srun, qrsh, lsf, pbs, pals, flux, oar, kubectl or a command; auto: as the batch "
        "job does."},
       {"--ssh-command", "COMMAND", parsed<command_words, &Options::ssh, &SshOptions::command>,
        "Reach hosts through a command, instead of the built-in client: as ssh is called, or by {host} and {command}."},
       {"--accept-new-host-keys", "", constant<HostKeyPolicy::AcceptNew, &Options::ssh, &SshOptions::host_keys>,
        "Trust and remember keys of hosts that are not known yet. A changed key is always refused."},
       {"--fanout", "N", whole_number<1, 10'000, &Options::ssh, &SshOptions::fanout>,
        "Log-ins under way at the same time; default 64.", "64"},
       rare({"--agent-path", "FILE", text<&Options::agent_path>,
             "Send this sml-run-agent instead of the one built in."})}};
}

OptionGroup options_of_information() {
  return {
      "Information",
      "information",
      {{"--config", "FILE", text<&Options::config_file>,
        "Take options from FILE too, a line KEY = VALUE each: --np 4 is np = 4. SML_NP=4 in the environment overrides "
        "it, and the command line both."},
       {"--explain", "", constant<Explain::Yes, &Options::explain>,
        "Print every option, its value and who gave it; start nothing."},
       {"--dry-run --plan", "", constant<PlanFormat::Text, &Options::dry_run>,
        "Print which rank would run where; start and connect to nothing."},
       {"--check", "", constant<Preflight::Yes, &Options::check>,
        "Connect to the hosts as the job would, print what they are like and what would go wrong, start nothing. The "
        "exit status is 0 when the job would start. No program needs to be given."},
       needing("--dry-run", {"--show-env", "RANK", whole_number<0, plan::kMaxWorldSize - 1, &Options::show_env>,
                             "With --dry-run: print the variables that are set for this rank instead."}),
       needing("--dry-run --explain --check",
               {"--format", "text|json", choice<kFormats, &Options::format>,
                "Format of --dry-run, --check, --explain and --version; default text.", "text"}),
       {"--completion", "bash|zsh|fish", choice<kShells, &Options::completion>,
        "Print a script with which this shell completes the options of sml-run."},
       {"--install-links", "DIR", text<&Options::links_folder>,
        "Make links to sml-run in DIR, under the names of other launchers, where their lines run as they stand: "
        "mpirun, mpiexec, mpiexec.hydra, horovodrun, torchrun, srun, deepspeed, accelerate. Files of others are not "
        "replaced."},
       under_other_names({"--display-map -display-map", "", constant<true, &Options::display_map>,
                          "Print which rank runs where, then start them."}),
       {"--verbose -v", "", constant<Verbosity::Verbose, &Options::verbosity>, "Print what is being done."},
       {"--quiet -q", "", constant<Verbosity::Quiet, &Options::verbosity>, "Print errors only."},
       rare({"--debug", "keep", choice<kDebugWords, &Options::scratch>,
             "Keep the folder of the agent on each host, and print where it is, for who works on sml-run."}),
       {"--version", "", nullptr, "Print the version and leave; with --verbose also those of the libraries inside."},
       {"--help -h", "", nullptr,
        "Print a screen of help and leave. A word may follow: a topic, an option, or all, for this text."}}};
}

}  // namespace sml
