// The programs and variables of the workers of a host: what the ranks of a program share, what the rendezvous adds, and
// what each worker has of its own.
#pragma once
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/core/error.h"
#include "common/plan/environment/worker_env.h"
#include "common/plan/program/host_files.h"
#include "common/plan/program/mpi_use.h"
#include "common/wire/messages.h"
#include "launcher/agent/core/network.h"

namespace sml::agent {

class WorkerEnvironments {
 public:
  // `login` is the environment that the agent was started with. `network` must outlive this object.
  WorkerEnvironments(Network& network, std::vector<wire::App> apps, const plan::Environment& login);

  // Adds programs, while others may run; their indexes follow the existing ones.
  void add(std::vector<wire::App> apps, const plan::Environment& login);
  // Finds each program's file on this host, once per program, as no variable that the launcher sets affects the
  // search, and looks for signs of MPI and Horovod in it. Returns the errors of programs that cannot run. Blocks for as
  // long as a file system takes: so it is called on a copy of this object, on another thread, and take_programs() then
  // takes the copy's programs and findings. The functions below return findings only after that.
  std::vector<Error> find_programs();
  void take_programs(WorkerEnvironments copy);
  // True if all programs have been looked for.
  bool has_findings() const { return mpi_.size() == apps_.size(); }
  // The programs that are linked with an MPI library and whose ranks `pmi_mode` does not connect, each with its first
  // rank among `workers`.
  std::vector<wire::MpiUse> find_mpi_singletons(std::span<const wire::Worker* const> workers,
                                                plan::PmiMode pmi_mode) const;
  // The MPI library that the program is linked with; empty if there is none or another launcher serves it.
  const std::string& mpi_library(std::uint32_t index) const { return mpi_libraries_[index]; }
  const plan::MpiFinding& mpi(std::uint32_t index) const { return mpi_[index]; }  // all signs of MPI in the program
  // Whether the program might use MPI; checked once.
  plan::MpiChance mpi_chance(std::uint32_t index) const { return mpi_chances_[index]; }
  bool might_use_mpi() const;  // any of them
  // Chooses the interfaces for the workers; `wanted` has names and networks. Returns the addresses of the chosen ones;
  // none if `wanted` is empty. Error: this host has no such interface.
  Result<std::vector<std::string>> choose_interfaces(const std::vector<std::string>& wanted);
  // Moves the variables of the rendezvous out of the message; of() adds them from then on. If no interfaces have been
  // chosen, finds the one towards MASTER_ADDR.
  void meet(wire::Start& message);

  std::size_t count() const { return apps_.size(); }  // of programs
  const wire::App& app(std::uint32_t index) const { return apps_[index]; }
  const plan::Environment& shared(std::uint32_t index) const { return shared_[index]; }  // by all ranks of that program
  // The file of the program, perhaps relative to its working directory; empty if there is none.
  const std::string& program(std::uint32_t index) const { return programs_[index]; }
  std::string path(std::uint32_t index) const;  // the same, absolute
  const std::vector<std::string>& programs() const { return programs_; }
  // The command line of a worker, with --local_rank if its program asks for that.
  std::vector<std::string> argv(const wire::Worker& worker) const;
  // The whole environment of a worker. To be called after meet(). `own` overrides what the plan sets for the worker.
  plan::Environment of(const wire::Worker& worker, const plan::Environment& own) const;

 private:
  // How the ranks of a program find each other if it uses Horovod.
  enum class Horovod : std::uint8_t { AtStore, ByMpi };

  plan::CommandLine command_line(std::uint32_t index) const;  // valid as long as this object
  plan::MpiFinding find_mpi(std::uint32_t index) const;
  Result<void> check_horovod(std::uint32_t index) const;  // checks the build against the user's options
  Horovod how_horovod_meets(std::uint32_t index) const;
  void compose(const wire::App& app, const plan::Environment& login);  // appends to shared_

  Network& network_;
  std::vector<wire::App> apps_;
  std::vector<plan::Environment> shared_;     // by app: the variables that all its ranks have in common
  std::vector<std::string> programs_;         // by app: the file of argv[0]
  std::vector<plan::MpiChance> mpi_chances_;  // by app
  std::vector<std::string> mpi_libraries_;    // by app
  std::vector<plan::MpiFinding> mpi_;         // by app
  std::vector<Horovod> horovod_;              // by app
  plan::Environment rendezvous_;
  std::unordered_map<Rank, plan::Environment> of_rank_;  // variables of the rendezvous for one rank alone
  std::vector<std::string> interfaces_;                  // names of the interfaces that the user has chosen
  plan::Environment interface_;  // variables that name interfaces_, or else the interface towards MASTER_ADDR
};

}  // namespace sml::agent
