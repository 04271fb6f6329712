// Objects of the agent that all its attempts use. They all outlive the attempts.
#pragma once
#include <functional>
#include <span>

#include <sys/types.h>

#include <boost/asio/io_context.hpp>

#include "common/plan/environment/worker_env.h"
#include "launcher/agent/core/file_work.h"
#include "launcher/agent/core/local_connection_check.h"
#include "launcher/agent/core/network.h"
#include "launcher/agent/core/processes.h"
#include "launcher/agent/core/scratch_folder.h"
#include "launcher/agent/guardian/guardian.h"
#include "launcher/agent/link/control_link.h"
#include "launcher/agent/os/oom_watch.h"
#include "launcher/agent/workers/preload.h"

namespace sml::agent {

struct AttemptDeps {
  boost::asio::io_context& loop;
  Processes& processes;
  Network& network;
  ControlLink& link;
  LocalConnectionCheck& callers;
  const ScratchFolder& scratch;
  os::OomWatch& oom_watch;
  Preload& preload;
  FileWork file_work;
  // True for a child that the agent runs for itself, such as the guardian: an attempt neither ends nor waits for it.
  std::function<bool(pid_t)> is_own;
  const Guard& guard;
  const plan::Environment& login;        // the environment that the agent was started with
  std::span<const int> ignored_signals;  // os::ignored_signals() at the agent's start
  unsigned long descriptor_limit = 0;    // the soft limit of open descriptors for workers
};

}  // namespace sml::agent
