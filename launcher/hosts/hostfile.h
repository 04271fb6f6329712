// Parses files with one host per line, as written for Open MPI, MPICH, DeepSpeed, Horovod, the MPI operator and by
// batch schedulers. The dialect is recognized line by line, so a file may mix them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error.h"
#include "common/plan/machine/host.h"

namespace sml::hosts {

inline constexpr std::size_t kMaxHostfileBytes = 16 << 20;

// LINE = [ EXPRESSION *( blanks SETTING ) ] [ "#" comment ]; EXPRESSION as in host_expression.h;
// SETTING = key [blanks] "=" [blanks] value, with these keys (case is ignored, and "-" equals "_"):
//   slots, cpu, cpus, count           slots of the host (Open MPI: orte-hostfile; DeepSpeed, Horovod: slots)
//   max_slots, slots_max, ...         must not be below the slots; is their number if no other setting gives it
//   user, username, user_name         user to log in as (MPICH, Open MPI)
//   port                              of the SSH server (Open MPI)
//   binding (MPICH), boards, sockets, cores, threads (Open MPI)   accepted, but without effect
// A host on several lines is merged, see host_collector.h. Empty lines, CRLF and a byte order mark are accepted. Takes
// time linear in the length of the text. Errors (kind Config) name `path`, line and column, counted in bytes from 1.
Result<std::vector<plan::Host>> parse_hostfile(std::string_view text, std::string_view path);

}  // namespace sml::hosts
