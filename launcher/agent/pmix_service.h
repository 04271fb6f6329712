// PMIx for the workers of a host, so that Open MPI's ranks find each other: libpmix by its helper, what follows from it
// by rendezvous::pmix::Machine.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <sys/types.h>

#include "common/plan/job_shape.h"
#include "common/rendezvous/pmix_job_data.h"
#include "common/rendezvous/pmix_machine.h"
#include "launcher/agent/host_service.h"
#include "launcher/agent/pmix_helper.h"
#include "launcher/agent/worker_environments.h"

namespace sml::agent {

// What one host is told of the job.
struct PmixWish {
  std::uint32_t host = 0;  // this one, in the shape; below its size
  plan::JobShape shape;
  std::string library;            // the one to be taken; empty: the host's own
  std::string program;            // absolute: its libpmix comes first
  plan::Environment environment;  // its
};

// The folder in the scratch folder that libpmix works in is the user's alone, and goes with that.
class PmixService final : public HostService {
 public:
  PmixService(const ServiceContext& context, PmixWish wish)
      : context_(context), wish_(std::move(wish)), helper_(context.loop) {}

  // Starts the helper and libpmix in it: whatever can fail, fails here.
  Result<void> check(wire::Prepared& answer) override;
  plan::Environment variables(Rank rank) const override;
  bool has_joined(Rank rank) const override { return machine_ && machine_->has_joined(rank); }
  void worker_ended(Rank rank, const ExitStatus& status) override;
  void end() override;
  void hear(const wire::ToAgent& message) override;
  bool process_ended(pid_t pid, const ExitStatus& status) override;

 private:
  Result<void> load();
  Result<void> serve(const rendezvous::pmix::JobData& job);
  Error refusal(const Error& why) const;
  void listen();
  void carry_out();
  void lose(const std::string& why);

  const ServiceContext& context_;
  PmixWish wish_;
  PmixHelper helper_;
  std::optional<rendezvous::pmix::Machine> machine_;
  std::unordered_map<Rank, plan::Environment> variables_;
  std::string loaded_;  // file and version
  bool ending_ = false;
};

// Null: nobody here needs it, or there is something else for them. `workers`: at least one.
std::unique_ptr<PmixService> make_pmix_service(const wire::MpiPlan& plan, std::span<const wire::Worker* const> workers,
                                               const WorkerEnvironments& environments, const ServiceContext& context);

}  // namespace sml::agent
