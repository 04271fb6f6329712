// AWS Batch multi-node parallel jobs: the environment contains the number of nodes, and, except on the main node, the
// address of the main node. So sml-run is started on every node, and the others call the main node. Source: AWS Batch
// user guide, "Environment variables".
#include <fmt/format.h>

#include "common/core/text.h"
#include "launcher/hosts/batch/batch_systems.h"
#include "launcher/hosts/fields.h"

namespace sml::hosts {

namespace {

constexpr const char* kNodes = "AWS_BATCH_JOB_NUM_NODES";
constexpr const char* kIndex = "AWS_BATCH_JOB_NODE_INDEX";
constexpr const char* kMain = "AWS_BATCH_JOB_MAIN_NODE_INDEX";
constexpr const char* kAddress = "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS";

// Parses a variable as a number from `least` to `most`.
Result<std::uint64_t> number_of(const SourceContext& s, const char* name, std::uint64_t least, std::uint64_t most) {
  const std::string text = s.variable(name).value_or("");
  const auto number = whole_number(text);
  if (number && *number >= least && *number <= most) return *number;
  return Error(ErrorKind::Config, fmt::format("{}: \"{}\" is not what AWS Batch sets; expected {} to {}", name,
                                              show(text, 40), least, most))
      .with_hint("--host-source local runs a job of its own on this node");
}

std::string name_of(std::uint64_t index) { return fmt::format("host-{}", index); }

}  // namespace

// The main node comes first, as it is the coordinator; the others follow in the order of their indices.
FoundHosts aws_batch_hosts(const SourceContext& s) {
  if (!s.variable(kNodes)) return std::optional<plan::HostList>();
  const Result<std::uint64_t> nodes = number_of(s, kNodes, 1, plan::kMaxHosts);
  if (!nodes) return nodes.error();
  if (*nodes == 1) return std::optional(plan::HostList{{{"localhost", {}, std::nullopt}}, kNodes});
  const Result<std::uint64_t> index = number_of(s, kIndex, 0, *nodes - 1);
  if (!index) return index.error();
  const Result<std::uint64_t> main = s.variable(kMain) ? number_of(s, kMain, 0, *nodes - 1) : 0;
  if (!main) return main.error();
  plan::HostList list{{{name_of(*main), {}, std::nullopt}}, kNodes};
  for (std::uint64_t i = 0; i < *nodes; ++i) {
    if (i != *main) list.hosts.push_back({name_of(i), {}, std::nullopt});
  }
  list.calls = {name_of(*index), s.variable(kAddress).value_or(""), plan::CallingHosts::Names::MadeUp};
  return std::optional(std::move(list));
}

}  // namespace sml::hosts
