// PMIx for the workers of a host, so that Open MPI's ranks find each other. The helper runs libpmix;
// pmix::Machine decides what follows from its messages.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <sys/types.h>

#include "common/plan/ranks/job_shape.h"
#include "launcher/agent/core/host_service.h"
#include "launcher/agent/mpi/pmix_helper.h"
#include "launcher/agent/mpi/pmix_job_data.h"
#include "launcher/agent/mpi/pmix_machine.h"

namespace sml::agent {

// Sure: the workers use PMIx, so none is started if PMIx cannot be served. Perhaps: they may do without.
enum class PmixNeed : std::uint8_t { Sure, Perhaps };

// The data of the job that the service of one host needs.
struct PmixRequest {
  std::uint32_t host = 0;  // the index of this host in `shape`; beyond its end: see wire::MpiPlan
  std::string host_name;
  plan::JobShape shape;
  std::string name_space;             // the same on all hosts; only the workers know it
  std::string library;                // the file to load; empty: find the host's own
  std::string program;                // absolute path; its libpmix is preferred
  plan::Environment environment;      // of `program`
  std::vector<pmix::Place> places{};  // of the bound ranks of this host
  PmixNeed need = PmixNeed::Sure;
};

// libpmix keeps its files in a folder inside the scratch folder. Only the user can access that folder, and it is
// removed with the scratch folder.
class PmixService final : public HostService {
 public:
  PmixService(const ServiceContext& context, PmixRequest request)
      : context_(context), request_(std::move(request)), helper_(context.system.loop) {}

  // Starts the helper, loads libpmix in it and starts libpmix's server: blocks for at most some 40 s. Whether PMIx can
  // be served shows here. With PmixNeed::Perhaps a failure is no error: ranks that need PMIx after all run alone, and
  // MpiWatch finds them.
  Result<void> check(wire::Prepared& answer) override;
  void start(const wire::Start&) override { started_ = true; }
  plan::Environment variables(Rank rank) const override;
  bool has_joined(Rank rank) const override { return machine_ && machine_->has_joined(rank); }
  bool has_ever_joined(Rank rank) const override { return machine_ && machine_->has_ever_joined(rank); }
  std::size_t ever_joined() const override { return machine_ ? machine_->ever_joined() : 0; }
  void worker_ended(Rank rank, const ExitStatus& status) override;
  void end() override;
  void handle(const wire::ToAgent& message) override;
  bool add_world(const wire::AddWorkers& m, std::span<const ResourceAssignment> shares,
                 const WorldReady& ready) override;
  bool process_ended(pid_t pid, const ExitStatus& status) override;

 private:
  Result<void> load();
  void find_prefix();
  plan::Environment open_mpi_variables(const pmix::JobData& job) const;
  std::vector<std::string> libraries() const;
  plan::Environment server_environment(const std::vector<std::string>& files) const;
  Result<void> serve(const pmix::JobData& job);
  Error refusal(const Error& why) const;
  pmix::JobData job_of(const wire::AddWorkers& m) const;
  bool take_world(const pmix::FromHelper& answer);
  void start_world(const wire::StartAdded& m);
  void keep(pmix::RankEnvironment& one, const plan::Environment& more);
  void listen();
  void carry_out();                   // the machine's deeds
  void lose(const std::string& why);  // the helper has ended or broken the protocol

  const ServiceContext& context_;
  PmixRequest request_;
  PmixHelper helper_;
  std::optional<pmix::Machine> machine_;  // nullopt: PMIx is not served
  std::unordered_map<Rank, plan::Environment> variables_;
  std::string loaded_;  // libpmix's file and version, for messages
  std::string prefix_;  // OPAL_PREFIX for the workers; empty: not set
  std::string name_space_;
  std::string host_;  // its name
  // Spawned ranks for which the launcher has not decided yet whether they start.
  struct World {
    wire::AddWorkers plan;
    WorldReady ready;  // empty once it has been called
  };
  std::optional<World> world_;
  bool started_ = false;
  bool ending_ = false;  // the end of the helper is no failure any more
};

}  // namespace sml::agent
