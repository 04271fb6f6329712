// AWS Batch multi-node parallel jobs: the environment counts the nodes, and names the main one only, and only on the
// others. Source: AWS Batch user guide, "Environment variables".
#include <fmt/format.h>

#include "common/core/text.h"
#include "common/hosts/batch_systems.h"

namespace sml::hosts {

FoundHosts aws_batch_hosts(const Surroundings& s) {
  const auto nodes = s.variable("AWS_BATCH_JOB_NUM_NODES");
  if (!nodes) return std::optional<plan::HostList>();
  if (*nodes == "1") return std::optional(plan::HostList{{{"localhost", {}, std::nullopt}}, "AWS_BATCH_JOB_NUM_NODES"});
  const auto main_address = s.variable("AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS");
  if (main_address) {
    return Error(ErrorKind::Usage,
                 fmt::format("this is node {} of an AWS Batch job; start sml-run on the main node, {}, alone",
                             show(s.variable("AWS_BATCH_JOB_NODE_INDEX").value_or("?"), 20), show(*main_address, 60)))
        .with_hint("--host-source local runs a job of its own on this node");
  }
  return Error(ErrorKind::Usage,
               fmt::format("AWS Batch gives {} nodes but no list of them; name the hosts with --hosts or --hostfile",
                           show(*nodes, 20)))
      .with_hint("let every node report its address to the main node first; --host-source local uses this node alone");
}

}  // namespace sml::hosts
