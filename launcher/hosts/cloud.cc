// Jobs of platforms that give each host the names of the others, and start the same command on each of them. As with
// pods (kubernetes.cc), a secret shows that the hosts call the first; without one, only the first runs sml-run, and
// connects to the others by SSH, which SkyPilot, dstack and Volcano's plugin ssh set up.
//
// Sources: SkyPilot, docs, "Distributed multi-node jobs", "Environment variables"; dstack, docs, "Distributed tasks",
// "System environment variables"; kubernetes-sigs/lws, docs/reference, "Labels, annotations and environment variables";
// volcano-sh/volcano, docs/user-guide, "How to use the svc plugin", "How to use the MPI plugin".
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "common/core/input_error.h"
#include "common/core/letters.h"
#include "common/core/text.h"
#include "launcher/hosts/batch/batch_systems.h"
#include "launcher/hosts/fields.h"

namespace sml::hosts {

namespace {

using std::string_view;
constexpr string_view kSeparators = ", \t\r\n";
constexpr const char* kAloneHere = "--host-source local runs a job of its own here";

// Names or addresses, on lines of their own or with commas between. Error: one of them is no host.
Result<std::vector<plan::Host>> listed(string_view source, string_view text) {
  std::vector<plan::Host> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(kSeparators), text.size());
    const string_view name = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (name.empty()) continue;
    if (!plan::valid_host_name(name)) return config_error("{}: \"{}\" is no host", source, show(name, 100));
    if (out.size() == plan::kMaxHosts) return config_error("{}: it names too many hosts", source);
    out.push_back({std::string(name), {}, std::nullopt});
  }
  if (out.empty()) return config_error("{}: it names no host", source);
  return out;
}

// The list as that of a job in which this host has the place `own`, known from the variable `place`.
FoundHosts job_of(plan::HostList list, std::uint64_t own, string_view place, const SourceContext& s) {
  if (own >= list.hosts.size()) {
    return config_error("{}: {} is no place among the {} hosts of {}", place, own, list.hosts.size(), list.source)
        .with_hint(kAloneHere);
  }
  if (list.hosts.size() == 1) return std::optional(std::move(list));
  if (s.job_secret == JobSecret::Given) {
    list.calls = {list.hosts[own].name, "", plan::CallingHosts::Names::Real};
  } else if (own != 0) {
    return usage_error(
               "this is host {} ({}), and there is no secret: with the same SML_JOB_SECRET on every host they "
               "call the first, without one start sml-run on host 0 alone",
               own, place)
        .with_hint(kAloneHere);
  }
  return std::optional(std::move(list));
}

struct Variables {
  string_view hosts;
  string_view place;
  string_view gpus;  // on each host
};

FoundHosts hosts_of_variables(const Variables& names, const SourceContext& s) {
  const auto list = s.variable(std::string(names.hosts));
  const auto place = s.variable(std::string(names.place));
  if (!list || !place) return std::optional<plan::HostList>();
  Result<std::vector<plan::Host>> hosts = listed(names.hosts, *list);
  if (!hosts) return hosts.error();
  const auto own = whole_number(*place);
  if (!own) return config_error("{}: \"{}\" is no number", names.place, show(*place, 40)).with_hint(kAloneHere);
  // SkyPilot may write a fraction of a GPU.
  const auto gpus = whole_number(s.variable(std::string(names.gpus)).value_or(""));
  plan::HostList out{std::move(*hosts), std::string(names.hosts), plan::SlotsAre::Capacity};
  if (gpus && *gpus > 0 && *gpus <= plan::kMaxSlotsPerHost) {
    for (plan::Host& host : out.hosts) host.slots = static_cast<std::uint32_t>(*gpus);
  }
  return job_of(std::move(out), *own, names.place, s);
}

// ---- Volcano

// Tasks by the names that its examples and plugins have for the one that leads.
bool leads(string_view variable) {
  for (const string_view name : {"MASTER", "LAUNCHER", "CHIEF", "HEAD", "LEADER"}) {
    if (variable.find(name) != string_view::npos) return true;
  }
  return false;
}

// The variables VC_TASK_HOSTS, one for each task of the job; those of a task that leads first.
std::vector<std::string> lists_of_volcano(const SourceContext& s) {
  constexpr string_view kPrefix = "VC_";
  constexpr string_view kSuffix = "_HOSTS";
  std::vector<std::string> out;
  if (!s.names) return out;
  for (std::string& name : s.names(kPrefix)) {
    if (name.ends_with(kSuffix) && name.size() > kPrefix.size() + kSuffix.size()) out.push_back(std::move(name));
  }
  std::sort(out.begin(), out.end());
  std::stable_partition(out.begin(), out.end(), leads);
  return out;
}

}  // namespace

FoundHosts skypilot_hosts(const SourceContext& s) {
  return hosts_of_variables({"SKYPILOT_NODE_IPS", "SKYPILOT_NODE_RANK", "SKYPILOT_NUM_GPUS_PER_NODE"}, s);
}

FoundHosts dstack_hosts(const SourceContext& s) {
  return hosts_of_variables({"DSTACK_NODES_IPS", "DSTACK_NODE_RANK", "DSTACK_GPUS_PER_NODE"}, s);
}

// Pods NAME-0, NAME-0-1, NAME-0-2, … of a LeaderWorkerSet; LWS_LEADER_ADDRESS is the name of the first.
FoundHosts lws_hosts(const SourceContext& s) {
  const auto leader = s.variable("LWS_LEADER_ADDRESS");
  const auto size = s.variable("LWS_GROUP_SIZE");
  if (!leader || !size) return std::optional<plan::HostList>();
  const auto count = whole_number(*size);
  if (!count || *count == 0 || *count > plan::kMaxHosts) {
    return config_error("LWS_GROUP_SIZE: \"{}\" is no number of hosts", show(*size, 40)).with_hint(kAloneHere);
  }
  const auto own = whole_number(s.variable("LWS_WORKER_INDEX").value_or(""));
  if (!own) return config_error("LWS_WORKER_INDEX: it is no number").with_hint(kAloneHere);
  const std::string label = leader->substr(0, leader->find('.'));
  const std::string domain = leader->substr(label.size());
  std::string names = *leader;
  for (std::uint64_t i = 1; i < *count; ++i) names += fmt::format(",{}-{}{}", label, i, domain);
  Result<std::vector<plan::Host>> hosts = listed("LWS_LEADER_ADDRESS", names);
  if (!hosts) return hosts.error();
  return job_of({std::move(*hosts), "LWS_LEADER_ADDRESS"}, *own, "LWS_WORKER_INDEX", s);
}

// The plugin for MPI gives the hosts of the workers to its master, which is none of them.
FoundHosts volcano_hosts(const SourceContext& s) {
  std::vector<std::string> lists = lists_of_volcano(s);
  if (lists.empty()) return std::optional<plan::HostList>();
  if (s.variable("MPI_HOST")) lists = {"MPI_HOST"};
  plan::HostList all{{}, lists.size() == 1 ? lists.front() : "VC_*_HOSTS"};
  std::set<std::string> seen;
  for (const std::string& name : lists) {
    Result<std::vector<plan::Host>> hosts = listed(name, s.variable(name).value_or(""));
    if (!hosts) return hosts.error();
    for (plan::Host& host : *hosts) {
      if (seen.insert(host.name).second) all.hosts.push_back(std::move(host));
    }
  }
  const auto own = std::find_if(all.hosts.begin(), all.hosts.end(), [&](const plan::Host& host) {
    return first_label(host.name) == first_label(s.host_name);
  });
  if (own == all.hosts.end()) return std::optional(std::move(all));
  const auto place = static_cast<std::uint64_t>(own - all.hosts.begin());
  return job_of(std::move(all), place, "by its name", s);
}

}  // namespace sml::hosts
