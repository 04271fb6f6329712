// Finds workers that use MPI but that no service can connect: before the start by the libraries that their program is
// linked with, and after it by the libraries that they and their children have mapped, and by the variables that these
// were started with, at a few moments. It costs nothing between these. A worker that can still join is not one, however
// long it has been running; lone_at_end() finds it if it ends without.
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

// The MPI library that a program file is linked with; empty if there is none, or if the worker's environment has
// another launcher's variables.
std::string linked_mpi_library(const std::string& program, const plan::Environment& environment);

// True if the process, or one that it has started, has torch's library loaded.
bool has_torch(pid_t worker);

class MpiWatch {
 public:
  // Enables the watch. To be called before begin(), which does nothing otherwise.
  void want(plan::PmiMode meeting) {
    wanted_ = true;
    meeting_ = meeting;
  }
  bool wanted() const { return wanted_; }
  // The variables by which a service would connect the rank with the others; empty if none would.
  void note_offer(Rank rank, plan::Environment offer) { offers_[rank] = std::move(offer); }
  // To be called again after more workers have been started.
  void begin(TimePoint now);
  void end() { due_.reset(); }
  std::optional<TimePoint> due() const { return due_; }  // when to look next; nullopt if it will not look again

  // A worker to look at. A rank that has joined a service is not one.
  struct Candidate {
    Rank rank;
    pid_t pid = 0;
  };
  // Looks at all workers, or at some if there are many, and at their children; returns the first that is found.
  std::optional<wire::MpiUse> look(std::span<const Candidate> workers, TimePoint now);

  // The worker's own program is linked with that library.
  void note_program(Rank rank, std::string program, std::string library);
  // Called for a worker that has ended with status 0 and never joined the others. Returns a clause that follows "rank
  // 3" if it, or one of its processes, has certainly initialized MPI alone and the user has not asked for that.
  std::optional<std::string> lone_at_end(Rank rank) const;

 private:
  std::optional<wire::MpiUse> look_at(const Candidate& worker);

  bool wanted_ = false;
  plan::PmiMode meeting_ = plan::PmiMode::None;
  std::unordered_map<Rank, plan::Environment> offers_;
  std::unordered_map<Rank, wire::MpiUse> seen_;  // processes that certainly initialize MPI
  TimePoint began_;
  std::size_t looks_ = 0;
  std::optional<TimePoint> due_;
};

}  // namespace sml::agent
