// Parses requests of MPI ranks to PMI to spawn more ranks (MPI_Comm_spawn and MPI_Comm_spawn_multiple). Pure and
// bounded.
//
// Sources: MPICH's src/pmi (src/pmi_v1.c, src/pmi_msg.c, src/pmi_v2.c, doc/pmi2_design.txt), Slurm's
// src/plugins/mpi/pmi2. In PMI-1 each program is a message of its own, and only the last gets a reply; PMI-2 has all in
// one message.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "common/core/error.h"
#include "common/plan/ranks/spawn_map.h"
#include "common/wire/pmi_wire.h"
#include "common/wire/wire_up_messages.h"

namespace sml::agent {

struct PmiSpawnRequest {
  std::vector<plan::SpawnProgram> programs;
  std::vector<wire::SpawnKey> keys;  // keys that the new ranks find in their key space
  std::string refusal;               // why the request, although valid, cannot be met: follows "it"; empty: it can
};

// Applies an info key that MPI reserves, and one by which MPI libraries name hosts; an implementation need not know
// others. Returns why the request cannot be met, as PmiSpawnRequest::refusal; empty: the key is no reason.
std::string heed_spawn_info(plan::SpawnProgram& program, const std::string& key, const std::string& value);

// Collects the messages of one client until a request is complete.
class PmiSpawnReader {
 public:
  static constexpr std::size_t kMost = std::size_t{256} << 10;  // bytes of all programs of one request
  static constexpr std::size_t kMostPrograms = 1024;

  // Returns true if the request is complete and take() returns it; false if more messages belong to it. Error
  // (Protocol): a part of a sentence that follows "it".
  Result<bool> add(wire::PmiDialect dialect, const wire::PmiMessage& message);
  PmiSpawnRequest take();  // begins a new request

 private:
  Result<bool> add_all(const wire::PmiMessage& message);
  Result<void> add_program(wire::PmiDialect dialect, std::string program, const wire::PmiMessage& part);
  Result<void> add_keys(wire::PmiDialect dialect, const wire::PmiMessage& part);

  PmiSpawnRequest request_;
  std::size_t size_ = 0;  // bytes of request_'s programs
};

}  // namespace sml::agent
