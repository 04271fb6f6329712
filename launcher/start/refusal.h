// Reports to the user, the platform and the other hosts why no job is started.
#pragma once
#include <string>
#include <vector>

#include "common/core/error.h"
#include "launcher/inputs/hosts/host_source.h"
#include "launcher/inputs/this_host.h"
#include "launcher/options/options.h"
#include "launcher/transport/agent_image.h"

namespace sml {

// Writes a line to standard error.
void print(const std::string& text);

// Writes the error and its hint to standard error. Returns the exit status for it.
int refuse(const Error& error);

// The same, and writes the failure file for the platform, except for --dry-run and --check.
int fail(const Options& options, const Error& error);

// The same, and then informs the hosts that would wait for this one: sends the error to the coordinator, if this host
// is a peer, and the coordinator sends it to all others. Blocks until that is done or the start timeout has passed,
// since the coordinator may take long to start. With --dry-run it informs no host.
int fail_for_all(const Options& options, const ThisHost& here, HostFinder& finder, const Error& error);

// The agent program that is sent to hosts: that of --agent-path, else the one in this program. Error: it cannot be
// read.
Result<transport::AgentImage> agent_image(const Options& options);

// Identifies this build of sml-run: its version and the id of the agent.
std::string build_of(const transport::AgentImage& image);

}  // namespace sml
