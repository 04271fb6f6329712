// Jobs of Kubernetes. Their pods are listed nowhere, but the names of all follow from the name of one.
//
// Indexed Job and JobSet: the pod's host name ends in "-INDEX" (JOB_COMPLETION_INDEX), and a headless Service gives it
// a name in a domain that the kubelet writes into /etc/hosts. Kubernetes does not provide the number of pods; the user
// sets it in SML_NUM_HOSTS.
// Source: kubernetes.io, "Indexed Job", "Pod's hostname and subdomain fields".
//
// PyTorchJob of Kubeflow: pods and Services NAME-master-0 and NAME-worker-I; PET_NNODES is the number of them all,
// MASTER_ADDR is the first, as is PET_RDZV_ENDPOINT in an elastic job. Source: kubeflow/training-operator,
// pkg/controller.v1/pytorch/envvar.go and elastic.go. A TrainJob (Kubeflow Trainer 2) has pods JOB-node-0-I of a
// JobSet, with names in the domain JOB, and PET_MASTER_ADDR.
//
// All pods of a job are created from one template, so that each of them starts sml-run, unless its command checks the
// index first. A secret distinguishes the two cases: with one, the pods call the first pod; without one, only the first
// pod runs sml-run and connects to the others by SSH.
#include <fmt/format.h>

#include "common/core/input_error.h"
#include "common/core/text.h"
#include "common/core/text_cursor.h"
#include "launcher/hosts/batch/batch_systems.h"
#include "launcher/hosts/fields.h"

namespace sml::hosts {

namespace {

constexpr std::size_t kMaxEtcHosts = 1 << 20;
constexpr const char* kAlone = "--host-source local runs a job of its own in this pod";

// The number of hosts in a variable; "1:4" (elastic) is 4.
Result<std::size_t> count_of(std::string_view name, std::string_view value) {
  const std::size_t colon = value.rfind(':');
  const auto count = whole_number(colon == std::string_view::npos ? value : value.substr(colon + 1));
  if (count && *count >= 1 && *count <= plan::kMaxHosts) return static_cast<std::size_t>(*count);
  return config_error("{}: \"{}\" is no number of hosts; expected 1 to {}", name, show(value, 40), plan::kMaxHosts);
}

// The text after this host's name in /etc/hosts, as in "10.0.0.3 job-0.svc.ns.svc.cluster.local job-0"; empty if no
// longer name is listed.
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
    if (!plan::valid_host_name(name)) return config_error("{}: \"{}\" is no host name", list.source, show(name));
    list.hosts.push_back({std::move(name), {}, std::nullopt});
  }
  return std::optional(std::move(list));
}

std::optional<std::string> first_of(const SourceContext& s, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (auto value = s.variable(name)) return value;
  }
  return std::nullopt;
}

// PET_NPROC_PER_NODE if it is a number. nullopt for the values that torchrun computes; as with every list without
// slots, the devices or processors are then counted.
Result<std::optional<std::uint32_t>> pet_slots(const SourceContext& s) {
  using Slots = std::optional<std::uint32_t>;
  const std::string text = s.variable("PET_NPROC_PER_NODE").value_or("auto");
  if (text == "auto" || text == "gpu" || text == "cpu") return Slots();
  const auto slots = whole_number(text);
  if (slots && *slots >= 1 && *slots <= plan::kMaxSlotsPerHost) return Slots(static_cast<std::uint32_t>(*slots));
  return config_error("PET_NPROC_PER_NODE: \"{}\" is no number of workers; expected 1 to {}, auto, gpu or cpu",
                      show(text, 40), plan::kMaxSlotsPerHost);
}

// The names of a job's pods, derived from that of the first; empty if they cannot be derived.
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

// The pods of a PyTorchJob or TrainJob.
struct Pods {
  std::string first;               // empty: unknown
  std::vector<std::string> names;  // empty: they cannot be derived
  std::optional<std::string> rank;
};

std::string first_pod(const SourceContext& s, const std::optional<std::string>& rank) {
  std::string first = first_of(s, {"MASTER_ADDR", "PET_MASTER_ADDR"}).value_or("");
  if (first == "localhost" && rank == "0") return s.host_name;  // older operators set localhost on the first pod
  if (first.empty()) {
    const std::string endpoint = s.variable("PET_RDZV_ENDPOINT").value_or("");
    first = endpoint.substr(0, endpoint.rfind(':'));
  }
  return first;
}

Pods pods_of(const SourceContext& s, std::size_t count) {
  Pods pods;
  pods.rank = first_of(s, {"PET_NODE_RANK", "JOB_COMPLETION_INDEX"});
  pods.first = first_pod(s, pods.rank);
  pods.names = pod_names(pods.first, count);
  if (pods.names.empty() && count == 1) pods.names = {"localhost"};
  return pods;
}

std::vector<std::string> made_up(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("host-{}", i));
  return names;
}

// Determines which of the hosts this one is: by its rank, or, as the pods of an elastic job have none, by its name.
plan::CallingHosts calls_of(const SourceContext& s, const Pods& pods, const plan::HostList& list) {
  using Names = plan::CallingHosts::Names;
  plan::CallingHosts calls{"", pods.first, pods.names.empty() ? Names::MadeUp : Names::Real};
  const auto rank = whole_number(pods.rank.value_or(""));
  if (rank && *rank < list.hosts.size()) calls.own_name = list.hosts[*rank].name;
  if (pods.rank) return calls;
  for (const plan::Host& host : list.hosts) {
    if (host.name.substr(0, host.name.find('.')) == s.host_name) calls.own_name = host.name;
  }
  return calls;
}

Error not_named(std::size_t count, const std::string& first) {
  const std::string why =
      first.empty() ? "nothing names them" : "from " + show(first, 100) + " the others' names do not follow";
  return config_error(
             "PET_NNODES: it counts {} hosts, and {}; name them with --hosts, or start sml-run on each with "
             "the same SML_JOB_SECRET, and they call {}",
             count, why, first.empty() ? "the one of --head" : "that one")
      .with_hint(kAlone);
}

// The error for a pod other than the first, without a secret.
Error only_in_the_first(std::string_view this_one, std::string_view first) {
  return usage_error(
             "this is {}, and there is no secret: with the same SML_JOB_SECRET in every pod they call {}, "
             "without one start sml-run in {} alone",
             this_one, first, first)
      .with_hint(kAlone);
}

}  // namespace

FoundHosts kubernetes_hosts(const SourceContext& s) {
  const auto index = s.variable("JOB_COMPLETION_INDEX");
  const auto hosts = s.variable("SML_NUM_HOSTS");
  const bool secret = s.job_secret == JobSecret::Given;
  if (index && !hosts && secret) {
    return config_error(
               "JOB_COMPLETION_INDEX and a secret: the number of pods that have to call each other is missing; set it "
               "with "
               "SML_NUM_HOSTS")
        .with_hint(kAlone);
  }
  if (!index || !hosts) return std::optional<plan::HostList>();  // an Indexed Job usually is many jobs of one pod
  const Result<std::size_t> count = count_of("SML_NUM_HOSTS", *hosts);
  if (!count) return count.error();
  if (*index != "0" && !secret) return only_in_the_first("pod " + show(*index, 20) + " of the job", "pod 0");
  const auto place = whole_number(*index);
  if (!place || *place >= *count) {
    return config_error("JOB_COMPLETION_INDEX: \"{}\" is no pod of the {} that SML_NUM_HOSTS counts", show(*index, 40),
                        *count);
  }
  if (!s.host_name.ends_with("-" + *index)) {
    return config_error(
        "JOB_COMPLETION_INDEX: it is {}, but the host name {} does not end in -{}; name the hosts "
        "with --hosts",
        *index, show(s.host_name), *index);
  }
  const Result<std::string> etc_hosts = s.read_file("/etc/hosts", kMaxEtcHosts);
  const std::string domain = etc_hosts ? domain_of(s.host_name, *etc_hosts) : std::string();
  const std::string stem = s.host_name.substr(0, s.host_name.size() - index->size());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < *count; ++i) names.push_back(fmt::format("{}{}{}", stem, i, domain));
  FoundHosts found = numbered(std::move(names), "JOB_COMPLETION_INDEX");
  if (found && secret && *count > 1)
    (*found)->calls = {(*found)->hosts[*place].name, "", plan::CallingHosts::Names::Real};
  return found;
}

FoundHosts pytorchjob_hosts(const SourceContext& s) {
  const auto nodes = s.variable("PET_NNODES");
  if (!nodes) return std::optional<plan::HostList>();
  const Result<std::size_t> count = count_of("PET_NNODES", *nodes);
  if (!count) return count.error();
  const Result<std::optional<std::uint32_t>> slots = pet_slots(s);
  if (!slots) return slots.error();
  const Pods pods = pods_of(s, *count);
  const bool secret = s.job_secret == JobSecret::Given;
  if (pods.names.empty() && !secret) return not_named(*count, pods.first);
  if (pods.rank.value_or("0") != "0" && *count > 1 && !secret) {
    return only_in_the_first(fmt::format("host {} of a PyTorchJob", show(*pods.rank, 20)), show(pods.first, 100));
  }
  FoundHosts found = numbered(pods.names.empty() ? made_up(*count) : pods.names, "PET_NNODES");
  if (!found) return found;
  for (plan::Host& host : (*found)->hosts) host.slots = *slots;
  if (secret && *count > 1) (*found)->calls = calls_of(s, pods, **found);
  return found;
}

}  // namespace sml::hosts
