#include "launcher/inputs/hosts/elastic_pods.h"

#include <string>
#include <string_view>

#include "launcher/dialects/dialect.h"
#include "launcher/inputs/hosts/host_source.h"
#include "launcher/options/option_table.h"

namespace sml {

namespace {

bool says_of_hosts(const Options& o) {
  return !o.hosts.empty() || !o.hostfile.empty() || !o.resource_config.empty() || o.dial_in.hosts || o.dial_in.place ||
         !o.dial_in.head.empty() || !o.host_source.empty() || o.restart.discovery.is_on() || !o.rankfile.empty() ||
         o.mode != Mode::Program;
}

bool shares_a_secret(const Options& options, const ThisHost& here) {
  return !options.dial_in.secret_file.empty() || !variable(here, kSecretVariable).empty();
}

}  // namespace

Result<void> take_elastic_pods(Options& options, const ThisHost& here) {
  const std::string pods = variable(here, "PET_NNODES");
  const std::string endpoint = variable(here, "PET_RDZV_ENDPOINT");
  const std::size_t colon = pods.find(':');
  if (colon == std::string::npos || pods.substr(0, colon) == pods.substr(colon + 1) || endpoint.empty()) return {};
  if (says_of_hosts(options) || !shares_a_secret(options, here)) return {};
  const auto take = [&](std::string_view name, std::string_view option) -> Result<void> {
    const std::string value = variable(here, name);
    if (value.empty()) return {};
    const Result<void> taken = find_row(option)->set(options, value);
    return taken ? taken : Error(ErrorKind::Config, taken.error().message()).in(name);
  };
  if (Result<void> taken = take("PET_NNODES", "--nnodes"); !taken) return taken;
  options.dial_in.head = dialects::with_torch_port(endpoint);
  options.restart.discovery.grow_after = Duration::zero();  // as with torchrun, which sml-run replaces here
  if (options.restart.max == 0) {
    if (Result<void> taken = take("PET_MAX_RESTARTS", "--max-restarts"); !taken) return taken;
  }
  const bool counted = options.nproc_per_node || options.slots_rule != SlotsRule::Auto;
  return counted ? Result<void>() : take("PET_NPROC_PER_NODE", "--nproc-per-node");
}

}  // namespace sml
