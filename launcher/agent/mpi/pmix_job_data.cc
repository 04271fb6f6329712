#include "launcher/agent/mpi/pmix_job_data.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace sml::agent::pmix {

namespace {

// One call for each entry, to keep the agent small.
void put(std::vector<Info>& to, const char* key, Type type, std::uint64_t number) {
  Info& info = to.emplace_back();
  info.key = key;
  info.type = type;
  info.number = number;
}
void put(std::vector<Info>& to, const char* key, std::uint64_t number) { put(to, key, Type::Uint32, number); }
void put_text(std::vector<Info>& to, const char* key, std::string text, Type type = Type::String) {
  put(to, key, type, 0);
  to.back().text = std::move(text);
}

std::string join(const std::vector<std::string>& parts, char between) {
  std::string out;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) out += between;
    out += part;
  }
  return out;
}

std::string list_of(const std::vector<Rank>& ranks) {
  std::string out;
  for (const Rank rank : ranks) {
    if (!out.empty()) out += ',';
    out += std::to_string(rank.value());
  }
  return out;
}

using RanksByHost = std::vector<std::vector<Rank>>;

RanksByHost ranks_by_host(const plan::JobShape& shape) {
  RanksByHost out(shape.hosts.size());
  std::uint32_t rank = 0;
  for (const plan::RankRun& run : shape.runs()) {
    for (std::uint32_t i = 0; i < run.count; ++i, ++rank) {
      if (run.host < out.size()) out[run.host].emplace_back(rank);
    }
  }
  return out;
}

std::string map_of(const RanksByHost& by_host) {
  std::string out;
  for (const std::vector<Rank>& ranks : by_host) {
    if (&ranks != &by_host.front()) out += ';';
    out += list_of(ranks);
  }
  return out;
}

// Adds the binding of a rank, for ranks of this host only.
void put_place(std::vector<Info>& to, const JobData& job, std::uint32_t rank) {
  for (const Place& place : job.places) {
    if (place.rank.value() != rank) continue;
    put_text(to, "pmix.cpuset", place.cpus);
    put_text(to, "pmix.locstr", place.locality);
  }
}

// Adds all ranks, in order. Ranks of one host are numbered in order, and so are those of a program.
void put_ranks(std::vector<Info>& to, const JobData& job) {
  const plan::JobShape& shape = job.shape;
  const std::vector<std::string> hosts = shape.hosts.all();
  std::vector<std::uint32_t> on_host(hosts.size()), of_program;
  std::uint32_t rank = 0;
  for (const plan::RankRun& run : shape.runs()) {
    if (run.host >= on_host.size()) continue;
    if (run.program >= of_program.size()) of_program.resize(run.program + std::size_t{1});
    for (std::uint32_t i = 0; i < run.count; ++i, ++rank) {
      const std::uint32_t local = on_host[run.host]++;
      put(to, "pmix.pdata", Type::Infos, 0);
      std::vector<Info>& items = to.back().items;
      put(items, "pmix.rank", Type::Rank, rank);
      put(items, "pmix.grank", Type::Rank, rank);
      put(items, "pmix.apprank", Type::Rank, of_program[run.program]++);
      put(items, "pmix.appnum", run.program);
      put(items, "pmix.lrank", Type::Uint16, local);
      put(items, "pmix.nrank", Type::Uint16, local);
      put(items, "pmix.nodeid", run.host);
      put_text(items, "pmix.hname", hosts[run.host]);
      if (run.host == job.host) put_place(items, job, rank);
    }
  }
}

std::uint32_t programs_of(const plan::JobShape& shape) {
  std::uint32_t out = 0;
  for (const plan::RankRun& run : shape.runs()) out = std::max(out, run.program + 1);
  return out;
}

void put_server(std::vector<Info>& to, const JobData& job) {
  put_text(to, "pmix.srvr.tmpdir", job.folder);
  put_text(to, "pmix.sys.tmpdir", job.folder);
  put_text(to, "pmix.srv.nspace", job.name_space + ".hosts");
  put(to, "pmix.srv.rank", Type::Rank, job.host);
  put_text(to, "pmix.hname", job.host_name);
  put(to, "pmix.srvr.share", Type::Bool, 1);
}

void put_variable(plan::Environment& to, const plan::Environment& theirs, const char* name, const std::string& value) {
  if (plan::find_variable(theirs, name) == nullptr) to.push_back(name + ("=" + value));
}

bool is_crowded(const JobData& job) { return job.cpus > 0 && ranks_of_host(job.shape, job.host).size() > job.cpus; }

// FNV-1a.
std::uint64_t hash_of(std::string_view bytes) {
  std::uint64_t out = 0xcbf29ce484222325;
  for (const char c : bytes) out = (out ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return out;
}

std::string hexadecimal(std::uint64_t value) {
  std::string out(16, '0');
  for (std::size_t i = out.size(); i-- > 0; value >>= 4) out[i] = "0123456789abcdef"[value & 0xf];
  return out;
}

}  // namespace

std::vector<Rank> ranks_of_host(const plan::JobShape& shape, std::uint32_t host) {
  RanksByHost all = ranks_by_host(shape);
  return host < all.size() ? std::move(all[host]) : std::vector<Rank>();
}

namespace {

// The job data that the ranks of a namespace may request.
std::vector<Info> make_job(const JobData& job) {
  const plan::JobShape& shape = job.shape;
  const RanksByHost by_host = ranks_by_host(shape);
  const std::vector<Rank> here = ranks_of_host(shape, job.host);
  const std::uint32_t size = shape.size(), universe = std::max(shape.universe, size);
  std::vector<Info> out;
  put_text(out, "pmix.jobid", job.name_space);
  put_text(out, "pmix.nmap", join(shape.hosts.all(), ','), Type::NodeNames);
  put_text(out, "pmix.pmap", map_of(by_host), Type::RanksOfNodes);
  put(out, "pmix.univ.size", universe);
  put(out, "pmix.max.size", universe);
  put(out, "pmix.job.size", size);
  put(out, "pmix.job.napps", programs_of(shape));
  put(out, "pmix.num.nodes", shape.hosts.size());
  put(out, "pmix.local.size", here.size());
  put(out, "pmix.node.size", here.size());
  put(out, "pmix.nodeid", job.host);
  if (!here.empty()) {  // Open MPI 5 takes an empty list for a list with one rank
    put(out, "pmix.lldr", Type::Rank, here.front().value());
    put_text(out, "pmix.lpeers", list_of(here));
  }
  put_text(out, "pmix.tmpdir", job.folder);
  put_text(out, "pmix.nsdir", job.folder);
  put(out, "pmix.tdir.rmclean", Type::Bool, 1);
  if (is_crowded(job)) put(out, "pmix.ndosub", Type::Bool, 1);
  if (job.parent) put(out, "pmix.spawned", Type::Bool, 1);
  if (job.parent) put(out, "pmix.parent", Type::Process, job.parent->value());
  put_ranks(out, job);
  return out;
}

}  // namespace

Serve make_serve(const JobData& job) {
  Serve out;
  out.name_space = job.name_space;
  out.size = job.shape.size();
  out.ranks = ranks_of_host(job.shape, job.host);
  put_server(out.server, job);
  out.job = make_job(job);
  return out;
}

AddWorld make_world(const JobData& job, Rank first) {
  AddWorld out;
  out.first = first;
  out.name_space = job.name_space;
  out.size = job.shape.size();
  for (const Rank rank : ranks_of_host(job.shape, job.host)) out.ranks.emplace_back(first.value() + rank.value());
  out.job = make_job(job);
  return out;
}

// Excludes the modules of Open MPI 2 to 4 that take a rank not started by their own launcher for a singleton: some do
// so inside an allocation of theirs, some always.
constexpr const char* kWithoutSingletons = "^alps,moab,orte,slurm";

plan::Environment open_mpi_variables(const JobData& job, const plan::Environment& theirs) {
  const std::string key = hexadecimal(hash_of(job.name_space)) + "-" + hexadecimal(hash_of(job.name_space + "-"));
  plan::Environment out;
  put_variable(out, theirs, "OMPI_MCA_schizo", kWithoutSingletons);
  put_variable(out, theirs, "OMPI_MCA_hwloc_base_binding_policy", "none");
  put_variable(out, theirs, "OMPI_MCA_orte_precondition_transports", key);
  if (is_crowded(job)) put_variable(out, theirs, "OMPI_MCA_mpi_yield_when_idle", "1");
  return out;
}

plan::Environment pmix_variables(const plan::Environment& theirs) {
  plan::Environment out;
  put_variable(out, theirs, "PMIX_MCA_psec", "native");
  put_variable(out, theirs, "PMIX_MCA_gds", "hash");
  return out;
}

}  // namespace sml::agent::pmix
