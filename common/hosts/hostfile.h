// Files with one host a line, as Open MPI, MPICH, DeepSpeed, Horovod, the MPI operator and batch schedulers write them.
// The dialects are told apart line by line, so a file may mix them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/host.h"

namespace sml::hosts {

inline constexpr std::size_t kMaxHostfileBytes = 16 << 20;

// LINE = [ EXPRESSION *( blanks SETTING ) ] [ "#" comment ]; EXPRESSION as in host_expression.h;
// SETTING = key [blanks] "=" [blanks] value, with these keys (capitals make no difference, nor does "-" for "_"):
//   slots, cpu, cpus, count           slots of the host (Open MPI: orte-hostfile; DeepSpeed, Horovod: slots)
//   max_slots, slots_max, ...         must not be below the slots; names them where nothing else does
//   user, username, user_name         whom to log in as (MPICH, Open MPI)
//   port                              of the SSH server (Open MPI)
//   binding (MPICH), boards, sockets, cores, threads (Open MPI)   known, and without effect
// A host on several lines is merged, see host_collector.h. Empty lines, CRLF and a byte order mark are fine. Takes time
// in proportion to the length of the text. Errors (kind Config) name `path`, line and column, counted in bytes from 1.
Result<std::vector<plan::Host>> parse_hostfile(std::string_view text, std::string_view path);

}  // namespace sml::hosts
