// Finds workers that speak MPI and that nobody brings together: by what their program is linked with, before the start,
// and by the libraries that they and their children have mapped, at a few moments after it. Between those it costs
// nothing.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include <sys/types.h>

#include "common/core/clock.h"
#include "common/plan/worker_env.h"
#include "common/wire/messages.h"

namespace sml::agent {

// The MPI library that a program file is linked with; empty: none, or another launcher's variables are among those that
// its workers get.
std::string linked_mpi_library(const std::string& program, const plan::Environment& environment);

// Whether the process, or one that it has started, has torch's library loaded.
bool has_torch(pid_t worker);

class MpiWatch {
 public:
  // Somebody wants to know. Before begin(), which does nothing otherwise.
  void want(plan::MpiMeeting meeting) {
    wanted_ = true;
    meeting_ = meeting;
  }
  bool wanted() const { return wanted_; }
  // By which a service would bring the rank together with the others; none: nobody would.
  void note_offer(Rank rank, plan::Environment offer) { offers_[rank] = std::move(offer); }
  // Again, where more have been started.
  void begin(TimePoint now);
  void end() { due_.reset(); }
  std::optional<TimePoint> due() const { return due_; }  // when to look; nothing: no more

  // One that has come to a service is none.
  struct Candidate {
    Rank rank;
    pid_t pid = 0;
  };
  // Looks at the workers, or some of many, and their children; ends with the first that is found.
  std::optional<wire::MpiUse> look(std::span<const Candidate> workers, TimePoint now);

  // The worker's own program is linked with that library.
  void note_program(Rank rank, std::string program, std::string library);
  // A worker has ended well and never joined the others. A clause that follows "rank 3", where it, or a process of its,
  // has surely begun MPI alone, and nobody has asked for that.
  std::optional<std::string> lone_at_end(Rank rank) const;

 private:
  bool is_lone(const std::string& library, const plan::Environment& offer) const;
  std::optional<wire::MpiUse> look_at(const Candidate& worker);

  bool wanted_ = false;
  plan::MpiMeeting meeting_ = plan::MpiMeeting::None;
  std::unordered_map<Rank, plan::Environment> offers_;
  std::unordered_map<Rank, wire::MpiUse> seen_;  // of processes that surely begin MPI
  TimePoint began_;
  bool looks_at_all_ = false;
  std::size_t looks_ = 0;
  std::optional<TimePoint> due_;
};

}  // namespace sml::agent
