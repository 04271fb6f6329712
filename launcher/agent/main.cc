// sml-run-agent: the part of sml-run that runs on every host of a job. Started by sml-run, never by hand.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "common/core/stop_signals.h"
#include "common/os/descendants.h"
#include "common/os/fd.h"
#include "common/os/private_process.h"
#include "common/os/spawn.h"
#include "common/wire/handshake.h"
#include "launcher/agent/agent.h"
#include "launcher/agent/core/network.h"
#include "launcher/agent/core/processes.h"
#include "launcher/agent/core/scratch_folder.h"
#include "launcher/agent/fatal_message.h"
#include "launcher/agent/guardian/guardian.h"
#include "launcher/agent/link/reconnect_helper.h"
#include "launcher/agent/os/cgroup.h"
#include "launcher/agent/os/machine_identity.h"
#include "launcher/agent/os/oom_watch.h"

namespace {

struct Flags {
  std::string mark;  // --mark WORD: begins the first line of output
  // --silence MS: the heartbeat timeout until the launcher's greeting sets another.
  std::chrono::milliseconds silence = std::chrono::seconds(30);
  std::string remove_folder;  // --remove DIR: a folder with only the agent's file in it, removed at the start
  bool comes_back = false;    // --return: brings a running agent a new connection
  bool version = false;
};

Flags parse(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--version") flags.version = true;
    if (word == "--return") flags.comes_back = true;
    if (word == "--mark" && i + 1 < argc) flags.mark = argv[++i];
    if (word == "--silence" && i + 1 < argc)
      flags.silence = std::chrono::milliseconds(std::strtoul(argv[++i], nullptr, 10));
    if (word == "--remove" && i + 1 < argc) flags.remove_folder = argv[++i];
  }
  return flags;
}

// Closes what the login had open beside 0, 1 and 2, and the descriptor from which the start script executed the agent.
void close_what_we_were_given() { sml::os::close_from(3); }

// The start script executes the agent by a number in /proc; this shows its name in process lists.
void show_name(char* word) {
  constexpr std::string_view kName = "sml-run-agent";
  const std::size_t size = std::strlen(word);
  if (size < kName.size()) return;
  std::memset(word, 0, size);
  kName.copy(word, kName.size());
}

void pass_on(boost::asio::signal_set& signals, sml::agent::Agent& agent) {
  signals.async_wait([&](boost::system::error_code error, int signo) {
    if (error) return;
    agent.signalled(signo);
    pass_on(signals, agent);
  });
}

void remove_folder(const std::string& folder) {
  if (folder.empty()) return;
  const sml::os::UniqueFd opened(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!opened || ::fstat(opened.get(), &info) != 0) return;
  if (info.st_uid != ::geteuid() || (info.st_mode & (S_IRWXG | S_IRWXO)) != 0) return;
  ::unlinkat(opened.get(), "sml-run-agent", 0);
  ::rmdir(folder.c_str());
}

int serve(const Flags& flags, const sml::agent::ScratchFolder& scratch, sml::agent::Guard& guard, char** environment) {
  ::signal(SIGPIPE, SIG_IGN);
  ::prctl(PR_SET_NAME, "sml-run-agent");
  sml::os::become_subreaper();
  const unsigned long descriptor_limit = sml::os::raise_descriptor_limit();
  sml::plan::Environment login;
  for (char** entry = environment; *entry != nullptr; ++entry) login.emplace_back(*entry);
  if (!sml::os::write_all(STDOUT_FILENO, sml::wire::agent_line(flags.mark))) return 1;

  boost::asio::io_context loop(1);
  boost::asio::signal_set signals(loop);
  for (const int signo : sml::agent::Agent::kSignals) signals.add(signo);
  for (const int signo : sml::kStopSignals) signals.add(signo);
  for (const int signo : sml::kNoticeSignals) signals.add(signo);
  sml::agent::SystemProcesses processes;
  sml::agent::SystemNetwork network;
  sml::os::OomWatch oom_watch = sml::os::OomWatch::of_this_process();
  sml::agent::Agent agent({.system = {.loop = loop, .processes = processes, .network = network, .scratch = scratch},
                           .oom_watch = oom_watch,
                           .guard = guard,
                           .at_start = {.environment = std::move(login),
                                        .ignored_signals = sml::os::ignored_signals(),
                                        .descriptor_limit = descriptor_limit},
                           .machine = sml::os::machine_identity(),
                           .cgroup = sml::os::Cgroup::current()},
                          {.in = STDIN_FILENO, .out = STDOUT_FILENO}, flags.silence);
  pass_on(signals, agent);
  agent.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv, char** environment) {
  sml::os::become_private();
  const Flags flags = parse(argc, argv);
  if (flags.version) {
    (void)sml::os::write_all(STDOUT_FILENO, "sml-run-agent " SML_VERSION "\n");
    return 0;
  }
  if (flags.mark.empty()) {
    sml::agent::write_fatal_message({"started by sml-run on the hosts of a job; see sml-run-agent(1)"});
    return 2;
  }
  show_name(argv[0]);
  sml::os::ensure_standard_descriptors();
  close_what_we_were_given();
  try {
    remove_folder(flags.remove_folder);
    if (flags.comes_back) return sml::agent::run_reconnect_helper(flags.mark, flags.silence);
    return sml::agent::guard(flags.mark, [&](sml::agent::Guard& guard, const sml::agent::ScratchFolder& scratch) {
      return serve(flags, scratch, guard, environment);
    });
  } catch (const std::exception& e) {
    sml::agent::write_fatal_message({"internal error: ", e.what()});
    return 1;
  }
}
