// What the workers of a host run, and the variables that they get: what their programs share, what the hosts' meeting
// brought, and what each has of its own.
#pragma once
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/core/error.h"
#include "common/plan/host_files.h"
#include "common/plan/mpi_use.h"
#include "common/plan/worker_env.h"
#include "common/wire/messages.h"
#include "launcher/agent/network.h"

namespace sml::agent {

class WorkerEnvironments {
 public:
  // `login` is what the agent was started with; `network` outlives this.
  WorkerEnvironments(Network& network, std::vector<wire::App> apps, const plan::Environment& login);

  // Further programs, while the others run; they follow those that there are. The errors of those that cannot run.
  std::vector<Error> add(std::vector<wire::App> apps, const plan::Environment& login);
  // Where each program is on this host, once per program: nothing that we set decides where it is found. The errors of
  // those that cannot run.
  std::vector<Error> find_programs();
  // The programs that speak MPI whose ranks `meeting` does not bring together, by the first rank of each.
  std::vector<wire::MpiUse> find_lone_mpi(std::span<const wire::Worker* const> workers, plan::MpiMeeting meeting) const;
  // The MPI library that the program is linked with; empty: none, or another launcher is to serve it.
  const std::string& mpi_library(std::uint32_t index) const { return mpi_libraries_[index]; }
  // All that is to be seen of MPI in the program; looked for each time.
  plan::MpiFinding find_mpi(std::uint32_t index) const;
  // Whether the program might use MPI; looked at once.
  plan::MpiChance mpi_chance(std::uint32_t index) const { return mpi_chances_[index]; }
  bool might_use_mpi() const;  // one of them
  // Those that the workers are to use, as names and networks; answers the addresses of those chosen, none without a
  // wish.
  Result<std::vector<std::string>> choose_interfaces(const std::vector<std::string>& wanted);
  // What became known when the hosts met.
  void meet(wire::Start& message);

  std::size_t count() const { return apps_.size(); }  // of programs
  const wire::App& app(std::uint32_t index) const { return apps_[index]; }
  const plan::Environment& shared(std::uint32_t index) const { return shared_[index]; }  // by all ranks of that program
  const std::string& program(std::uint32_t index) const { return programs_[index]; }     // the file
  std::string path(std::uint32_t index) const;  // absolute; empty: there is none
  const std::vector<std::string>& programs() const { return programs_; }
  std::vector<std::string> argv(const wire::Worker& worker) const;
  // `own` outranks what the plan says of the worker.
  plan::Environment of(const wire::Worker& worker, const plan::Environment& own) const;

 private:
  enum class Horovod : std::uint8_t { AtStore, ByMpi };  // how its processes meet

  plan::CommandLine command_line(std::uint32_t index) const;  // good for as long as this is
  Result<void> check_horovod(std::uint32_t index) const;      // that it can meet as the user says
  Horovod how_horovod_meets(std::uint32_t index) const;
  void compose(const wire::App& app, const plan::Environment& login);
  std::vector<Error> find_programs_from(std::size_t first);

  Network& network_;
  std::vector<wire::App> apps_;
  std::vector<plan::Environment> shared_;     // by app
  std::vector<std::string> programs_;         // by app: the file that argv[0] is
  std::vector<plan::MpiChance> mpi_chances_;  // by app
  std::vector<std::string> mpi_libraries_;    // by app
  std::vector<Horovod> horovod_;              // by app
  plan::Environment rendezvous_;
  std::unordered_map<Rank, plan::Environment> of_rank_;
  std::vector<std::string> interfaces_;  // chosen ones, when the user says which
  plan::Environment interface_;          // variables that name it, or the one towards MASTER_ADDR
};

}  // namespace sml::agent
