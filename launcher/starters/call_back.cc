// Systems whose starters give the program that they start no pipe to their caller: PBS (pbs_tmrsh, pbsdsh) and PALS.
// Agents would have to call the launcher, which they do not do yet.
#include "launcher/starters/starters.h"

namespace sml::starters {

const Starter& pbs() {
  static constexpr Starter starter{
      .name = "pbs",
      .system = "PBS",
      .tool = "pbs_tmrsh",
      .refusal =
          "pbs_tmrsh and pbsdsh give no pipe to what they start, and sml-run cannot start agents without one; "
          "start sml-run itself on every host with pbsdsh, and --nnodes and --head, or take --start-by ssh"};
  return starter;
}

const Starter& pals() {
  static constexpr Starter starter{
      .name = "pals",
      .system = "PALS",
      .tool = "mpiexec",
      .refusal =
          "PALS's mpiexec and aprun give a pipe to one host alone, and sml-run cannot start agents without one; "
          "start sml-run itself on every host with mpiexec --ppn 1, and --nnodes and --head, or take "
          "--start-by ssh"};
  return starter;
}

}  // namespace sml::starters
