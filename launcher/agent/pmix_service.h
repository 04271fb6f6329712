// PMIx for the workers of a host, so that Open MPI's ranks find each other: libpmix by its helper, what follows from it
// by rendezvous::pmix::Machine.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <sys/types.h>

#include "common/plan/job_shape.h"
#include "common/rendezvous/pmix_job_data.h"
#include "common/rendezvous/pmix_machine.h"
#include "launcher/agent/host_service.h"
#include "launcher/agent/pmix_helper.h"

namespace sml::agent {

// Whether the workers surely use it: then none is started without.
enum class PmixNeed : std::uint8_t { Sure, Perhaps };

// What one host is told of the job.
struct PmixWish {
  std::uint32_t host = 0;  // this one, in the shape; beyond it: see wire::MpiPlan
  std::string host_name;
  plan::JobShape shape;
  std::string name_space;                         // the same on all hosts, and known to workers alone
  std::string library;                            // the one to be taken; empty: the host's own
  std::string program;                            // absolute: its libpmix comes first
  plan::Environment environment;                  // its
  std::vector<rendezvous::pmix::Place> places{};  // of the bound ranks of this host
  PmixNeed need = PmixNeed::Sure;
};

// The folder in the scratch folder that libpmix works in is the user's alone, and goes with that.
class PmixService final : public HostService {
 public:
  PmixService(const ServiceContext& context, PmixWish wish)
      : context_(context), wish_(std::move(wish)), helper_(context.loop) {}

  // Starts the helper and libpmix in it: whatever can fail, fails here. Where it is not surely needed, that is no
  // error: ranks that want it after all run alone, and whoever looks for such will find them.
  Result<void> check(wire::Prepared& answer) override;
  void start(const wire::Start&) override { started_ = true; }
  plan::Environment variables(Rank rank) const override;
  bool has_joined(Rank rank) const override { return machine_ && machine_->has_joined(rank); }
  bool has_ever_joined(Rank rank) const override { return machine_ && machine_->has_ever_joined(rank); }
  std::size_t ever_joined() const override { return machine_ ? machine_->ever_joined() : 0; }
  void worker_ended(Rank rank, const ExitStatus& status) override;
  void end() override;
  void hear(const wire::ToAgent& message) override;
  bool add_world(const wire::AddWorkers& m, std::span<const WorkerShare> shares, const WorldReady& ready) override;
  bool process_ended(pid_t pid, const ExitStatus& status) override;

 private:
  Result<void> load();
  std::vector<std::string> libraries() const;
  Result<void> serve(const rendezvous::pmix::JobData& job);
  Error refusal(const Error& why) const;
  rendezvous::pmix::JobData job_of(const wire::AddWorkers& m) const;
  bool take_world(const rendezvous::pmix::FromHelper& answer);
  void start_world(const wire::StartAdded& m);
  void keep(rendezvous::pmix::RankEnvironment& one, const plan::Environment& more);
  void listen();
  void carry_out();
  void lose(const std::string& why);

  const ServiceContext& context_;
  PmixWish wish_;
  PmixHelper helper_;
  std::optional<rendezvous::pmix::Machine> machine_;
  std::unordered_map<Rank, plan::Environment> variables_;
  std::string loaded_;  // file and version
  std::string name_space_;
  std::string host_;  // its name
  // Ranks that may come, or have.
  struct World {
    wire::AddWorkers plan;
    WorldReady ready;  // empty: it is
  };
  std::optional<World> world_;
  bool started_ = false;
  bool ending_ = false;
};

}  // namespace sml::agent
