// Jobs of Kubernetes. Nothing lists their pods, but their names follow from ours.
//
// Indexed Job and JobSet: the pod's host name ends in "-INDEX" (JOB_COMPLETION_INDEX), and a headless Service gives it
// a name in a domain that the kubelet writes into /etc/hosts. How many there are is nowhere: SML_NUM_HOSTS tells it.
// Source: kubernetes.io, "Indexed Job", "Pod's hostname and subdomain fields".
//
// PyTorchJob of Kubeflow: pods and Services NAME-master-0 and NAME-worker-I; PET_NNODES counts them all, MASTER_ADDR is
// the first. Source: kubeflow/training-operator, pkg/controller.v1/pytorch/envvar.go.
#include <fmt/format.h>

#include "common/core/text.h"
#include "common/hosts/batch_systems.h"
#include "common/hosts/fields.h"

namespace sml::hosts {

namespace {

constexpr std::size_t kMaxEtcHosts = 1 << 20;

Error bad(std::string message) { return Error(ErrorKind::Config, std::move(message)); }

// How many hosts a variable counts; "1:4" (elastic) counts 4.
Result<std::size_t> count_of(std::string_view name, std::string_view value) {
  const std::size_t colon = value.rfind(':');
  const auto count = whole_number(colon == std::string_view::npos ? value : value.substr(colon + 1));
  if (count && *count >= 1 && *count <= plan::kMaxHosts) return static_cast<std::size_t>(*count);
  return bad(fmt::format("{}: \"{}\" is no number of hosts; expected 1 to {}", name, show(value, 40), plan::kMaxHosts));
}

// What follows our name in /etc/hosts, as in "10.0.0.3 job-0.svc.ns.svc.cluster.local job-0"; empty when nothing does.
std::string domain_of(std::string_view host, std::string_view etc_hosts) {
  while (!etc_hosts.empty()) {
    std::string_view line = take_until(etc_hosts, '\n');
    line = line.substr(0, line.find('#'));
    take_word(line);  // the address
    for (std::string_view name = take_word(line); !name.empty(); name = take_word(line)) {
      const bool longer = name.size() > host.size() && name.starts_with(host) && name[host.size()] == '.';
      if (longer && plan::valid_host_name(name)) return std::string(name.substr(host.size()));
    }
  }
  return {};
}

FoundHosts numbered(std::vector<std::string> names, std::string source) {
  plan::HostList list{{}, std::move(source)};
  for (std::string& name : names) {
    if (!plan::valid_host_name(name)) return bad(fmt::format("{}: \"{}\" is no host name", list.source, show(name)));
    list.hosts.push_back({std::move(name), {}, std::nullopt});
  }
  return std::optional(std::move(list));
}

}  // namespace

FoundHosts kubernetes_hosts(const Surroundings& s) {
  const auto index = s.variable("JOB_COMPLETION_INDEX");
  const auto hosts = s.variable("SML_NUM_HOSTS");
  if (!index || !hosts) return std::optional<plan::HostList>();  // an Indexed Job is mostly many jobs of one pod
  const Result<std::size_t> count = count_of("SML_NUM_HOSTS", *hosts);
  if (!count) return count.error();
  if (*index != "0") {
    return Error(ErrorKind::Usage,
                 fmt::format("this is pod {} of the job; start sml-run in pod 0 alone", show(*index, 20)))
        .with_hint("--host-source local runs a job of its own in this pod");
  }
  if (!s.host_name.ends_with("-0")) {
    return bad(
        fmt::format("JOB_COMPLETION_INDEX: it is 0, but the host name {} does not end in -0; name the hosts with "
                    "--hosts",
                    show(s.host_name)));
  }
  const Result<std::string> etc_hosts = s.read_file("/etc/hosts", kMaxEtcHosts);
  const std::string domain = etc_hosts ? domain_of(s.host_name, *etc_hosts) : std::string();
  const std::string stem = s.host_name.substr(0, s.host_name.size() - 1);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < *count; ++i) names.push_back(fmt::format("{}{}{}", stem, i, domain));
  return numbered(std::move(names), "JOB_COMPLETION_INDEX");
}

FoundHosts pytorchjob_hosts(const Surroundings& s) {
  const auto nodes = s.variable("PET_NNODES");
  const auto master = s.variable("MASTER_ADDR");
  if (!nodes || !master) return std::optional<plan::HostList>();
  const Result<std::size_t> count = count_of("PET_NNODES", *nodes);
  if (!count) return count.error();
  const std::string rank = s.variable("PET_NODE_RANK").value_or("0");
  if (rank != "0" && *count > 1) {
    return Error(ErrorKind::Usage, fmt::format("this is node {} of a PyTorchJob; start sml-run on {} alone",
                                               show(rank, 20), show(*master, 100)))
        .with_hint("--host-source local runs a job of its own in this pod");
  }
  constexpr std::string_view kMaster = "-master-0";
  constexpr std::string_view kWorker = "-worker-0";
  const bool first_is_worker = master->ends_with(kWorker);
  if (!first_is_worker && !master->ends_with(kMaster)) return std::optional<plan::HostList>();
  const std::string stem = master->substr(0, master->size() - kMaster.size());
  std::vector<std::string> names{*master};
  for (std::size_t i = first_is_worker ? 1 : 0; names.size() < *count; ++i) {
    names.push_back(fmt::format("{}-worker-{}", stem, i));
  }
  FoundHosts found = numbered(std::move(names), "PET_NNODES");
  const auto slots = whole_number(s.variable("PET_NPROC_PER_NODE").value_or(""));
  if (found && slots && *slots <= plan::kMaxSlotsPerHost) {
    for (plan::Host& host : (*found)->hosts) host.slots = static_cast<std::uint32_t>(*slots);
  }
  return found;
}

}  // namespace sml::hosts
