// Jobs of Kubernetes. Nothing lists their pods, but their names follow from ours.
//
// Indexed Job and JobSet: the pod's host name ends in "-INDEX" (JOB_COMPLETION_INDEX), and a headless Service gives it
// a name in a domain that the kubelet writes into /etc/hosts. How many there are is nowhere: SML_NUM_HOSTS tells it.
// Source: kubernetes.io, "Indexed Job", "Pod's hostname and subdomain fields".
//
// PyTorchJob of Kubeflow: pods and Services NAME-master-0 and NAME-worker-I; PET_NNODES counts them all, MASTER_ADDR is
// the first. Source: kubeflow/training-operator, pkg/controller.v1/pytorch/envvar.go. A TrainJob (Kubeflow Trainer 2)
// has pods JOB-node-0-I of a JobSet, with names in the domain JOB, and PET_MASTER_ADDR.
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

std::optional<std::string> first_of(const Surroundings& s, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (auto value = s.variable(name)) return value;
  }
  return std::nullopt;
}

// PET_NPROC_PER_NODE, where it is a number; what torchrun would count is counted where no source names slots.
Result<std::optional<std::uint32_t>> pet_slots(const Surroundings& s) {
  using Slots = std::optional<std::uint32_t>;
  const std::string text = s.variable("PET_NPROC_PER_NODE").value_or("auto");
  if (text == "auto" || text == "gpu" || text == "cpu") return Slots();
  const auto slots = whole_number(text);
  if (slots && *slots >= 1 && *slots <= plan::kMaxSlotsPerHost) return Slots(static_cast<std::uint32_t>(*slots));
  return bad(fmt::format("PET_NPROC_PER_NODE: \"{}\" is no number of workers; expected 1 to {}, auto, gpu or cpu",
                         show(text, 40), plan::kMaxSlotsPerHost));
}

// The pods of a job by the name of the first; empty where theirs do not follow from it.
std::vector<std::string> pod_names(const std::string& first, std::size_t count) {
  constexpr std::string_view kMaster = "-master-0";
  constexpr std::string_view kWorker = "-worker-0";
  std::vector<std::string> names{first};
  const std::string label = first.substr(0, first.find('.'));
  const std::string domain = first.substr(label.size());
  if (label.ends_with(kMaster) || label.ends_with(kWorker)) {
    const std::string stem = label.substr(0, label.size() - kMaster.size());
    for (std::size_t i = label.ends_with(kWorker) ? 1 : 0; names.size() < count; ++i) {
      names.push_back(fmt::format("{}-worker-{}{}", stem, i, domain));
    }
    return names;
  }
  if (!label.ends_with("-0-0")) return {};
  for (std::size_t i = 1; names.size() < count; ++i) {
    names.push_back(fmt::format("{}{}{}", label.substr(0, label.size() - 1), i, domain));
  }
  return names;
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
  if (!nodes) return std::optional<plan::HostList>();
  const Result<std::size_t> count = count_of("PET_NNODES", *nodes);
  if (!count) return count.error();
  const Result<std::optional<std::uint32_t>> slots = pet_slots(s);
  if (!slots) return slots.error();
  const std::string master = first_of(s, {"MASTER_ADDR", "PET_MASTER_ADDR"}).value_or("");
  const std::string rank = first_of(s, {"PET_NODE_RANK", "JOB_COMPLETION_INDEX"}).value_or("0");
  std::vector<std::string> names = pod_names(master, *count);
  if (names.empty() && *count == 1) names = {"localhost"};
  if (names.empty()) {
    return bad(fmt::format("PET_NNODES: it counts {} hosts, and {}; name them with --hosts, as all but the first could "
                           "only dial in",
                           *count,
                           master.empty() ? "nothing names them"
                                          : "from " + show(master, 100) + " the others' names do not follow"))
        .with_hint("--host-source local runs a job of its own in this pod");
  }
  if (rank != "0" && *count > 1) {
    return Error(ErrorKind::Usage, fmt::format("this is node {} of a PyTorchJob; start sml-run on {} alone",
                                               show(rank, 20), show(master, 100)))
        .with_hint("--host-source local runs a job of its own in this pod");
  }
  FoundHosts found = numbered(std::move(names), "PET_NNODES");
  if (!found || !*slots) return found;
  for (plan::Host& host : (*found)->hosts) host.slots = *slots;
  return found;
}

}  // namespace sml::hosts
