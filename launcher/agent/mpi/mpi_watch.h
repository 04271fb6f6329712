// Finds workers that use MPI but that no service can connect, so that each runs alone, as rank 0 of 1. Before the
// start, the evidence is the MPI library that their program is linked with. Afterwards, at a few moments in the first
// seconds, it is the libraries that the workers and their descendants have mapped, and the variables with which these
// processes were started. The watch costs nothing between these moments.
//
// look() does not report a worker that can still join the others, however long it has been running. If it ends without
// having joined, lone_at_end() reports it.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include <sys/types.h>

#include "common/core/clock.h"
#include "common/plan/environment/worker_env.h"
#include "common/wire/messages.h"

namespace sml::agent {

// The MPI library that a program file is linked with. Empty if there is none, or if the worker's environment has
// another launcher's variables: that launcher then connects the ranks.
std::string linked_mpi_library(const std::string& program, const plan::Environment& environment);

// True if the process or one of its descendants has torch's library mapped.
bool has_torch(pid_t worker);

class MpiWatch {
 public:
  // Enables the watch. To be called before begin(), which does nothing otherwise. `pmi_mode`: the interface by which
  // the job's ranks find each other.
  void want(plan::PmiMode pmi_mode) {
    wanted_ = true;
    pmi_mode_ = pmi_mode;
  }
  bool wanted() const { return wanted_; }
  // The variables by which a service would connect the rank with the others; empty if none would. To be called before
  // note_program().
  void note_offer(Rank rank, plan::Environment offer) { offers_[rank] = std::move(offer); }
  // Starts the series of looks; starts it anew when called again, after more workers have been started.
  void begin(TimePoint now);
  void end() { due_.reset(); }                           // looks no more
  std::optional<TimePoint> due() const { return due_; }  // when to look next; nullopt if it will not look again

  // A worker to look at. The caller leaves out ranks that have joined a service.
  struct Candidate {
    Rank rank;
    pid_t pid = 0;
  };
  // To be called when due. Looks at all workers, or at some of them if there are many, and at their descendants.
  // Returns the first that no service can connect, and looks no more then; nullopt if it has found none.
  std::optional<wire::MpiUse> look(std::span<const Candidate> workers, TimePoint now);

  // Records that the worker's own program is linked with that MPI library; does nothing if `library` is empty.
  void note_program(Rank rank, std::string program, std::string library);
  // To be called for a worker that has ended with status 0 and never joined the others. If the worker or one of its
  // descendants has certainly initialized MPI alone, and the user has not asked for that (--mpi none), returns the
  // error as a part of a sentence that follows "rank 3"; otherwise nullopt.
  std::optional<std::string> lone_at_end(Rank rank) const;

 private:
  std::optional<wire::MpiUse> look_at(const Candidate& worker);

  bool wanted_ = false;
  plan::PmiMode pmi_mode_ = plan::PmiMode::None;
  std::unordered_map<Rank, plan::Environment> offers_;
  std::unordered_map<Rank, wire::MpiUse> seen_;  // one process of each rank that certainly initializes MPI
  TimePoint began_;
  std::size_t looks_ = 0;  // number of looks that are over
  std::optional<TimePoint> due_;
};

}  // namespace sml::agent
