#include "launcher/options/text/guesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/core/text.h"

namespace sml {

namespace {

using std::string_view;

struct ForeignOption {
  string_view names;  // without dashes, "-" for "_", separated by blanks
  string_view meant;  // an option, or a sentence
};
constexpr std::array kForeignOptions{
    ForeignOption{"restart restarts retry retries max-retries num-restarts max-restart", "--max-restarts"},
    ForeignOption{"log logs logdir log-file log-path output-dir out-dir outdir output-path stdout stderr", "--log-dir"},
    ForeignOption{"workers num-workers nprocs num-procs procs processes num-processes nproc num-ranks ranks "
                  "world-size size tasks num-tasks",
                  "-np"},
    ForeignOption{"num-hosts num-machines machines nnode num-node", "--nnodes"},
    ForeignOption{"nprocs-per-node procs-per-node processes-per-node workers-per-node tasks-per-node "
                  "workers-per-host procs-per-host gpus-per-host gpu num-gpu",
                  "--nproc-per-node"},
    ForeignOption{"walltime wall-time time-limit max-time max-runtime deadline", "--timeout"},
    ForeignOption{"hang hang-timeout watchdog stall-timeout silent silence", "--warn-silent"},
    ForeignOption{"cwd workdir work-dir working-dir working-directory directory dir", "--wdir"},
    ForeignOption{"environment setenv var", "-x"},
    ForeignOption{"user login", "--ssh-user"},
    ForeignOption{"port", "--ssh-port"},
    ForeignOption{"identity identity-file key ssh-key", "--ssh-identity-file"},
    ForeignOption{"json json-report summary result", "--report"},
    ForeignOption{"only only-ranks only-rank filter show-rank", "--show-ranks"},
    ForeignOption{"rank-prefix label-output", "--tag"},
    ForeignOption{"preview noop", "--dry-run"},
    ForeignOption{"preflight diagnose doctor", "--check"},
    ForeignOption{"keep-going ignore-errors continue-on-error", "--on-failure continue"},
    ForeignOption{"master coordinator leader", "--head"},
    ForeignOption{"detach daemon background", "put nohup before the line and & behind it"},
    ForeignOption{"list jobs", "write sml-run ps"},
};

bool has_name(string_view words, string_view wanted) {
  while (!words.empty()) {
    if (take_until(words, ' ') == wanted) return true;
  }
  return false;
}

constexpr std::array kOtherTopics{
    OtherTopic{"debug debugger debugging pdb gdb breakpoint interactive",
               "Rank 0 in a debugger, and its lines alone:\n"
               "  sml-run --show-ranks 0 -np 1 python3 -m pdb train.py : -np 3 python3 train.py\n"
               "breakpoint() in another rank, which gets the input:\n"
               "  sml-run -np 4 --stdin 2 --show-ranks 2 python3 train.py\n"
               "Ctrl-C ends the job. More: man sml-run-guide, DEBUGGING ONE RANK.\n",
               "--stdin --show-ranks"},
    OtherTopic{"profile profiler profiling nsys py-spy cprofile",
               "One rank with a profiler, the others as they are:\n"
               "  sml-run -np 1 python3 -m cProfile -o rank0.prof train.py : -np 3 python3 train.py\n"
               "More: man sml-run-guide, PROFILING.\n",
               "--timeline --trace"},
    OtherTopic{"hang hangs hung stuck stall stalled deadlock silent silence watchdog stack stack-trace",
               "Where the ranks of a running job are, now:  sml-run stacks\n"
               "End a job when a rank falls silent, with stacks of Python, and after two hours in any case:\n"
               "  sml-run --timeout 2h --warn-silent 5m --on-silent stop -np 4 python3 train.py\n"
               "More: man sml-run-failures.\n",
               "progress --timeout"},
    OtherTopic{"secret secrets token tokens password credentials",
               "A variable that looks like a secret reaches other hosts only if it is asked for:\n"
               "  sml-run -H algo-1,algo-2 -x HF_TOKEN python3 train.py\n"
               "Hosts that call each other prove a secret:  sml-run --make-secret\n"
               "More: man sml-run-guide, SECRETS.\n",
               "-x --env-file --export-secrets --secret-file --make-secret"},
    OtherTopic{"slurm sbatch salloc pbs lsf sge flux batch scheduler",
               "In a job of a batch system its hosts are found, and reached by its own starter:\n"
               "  sml-run --nproc-per-node 8 python3 train.py\n"
               "More: man sml-run-hosts, and sml-run-launchers for lines of srun.\n",
               "--host-source --start-by --nproc-per-node"},
    OtherTopic{"no-ssh nossh without-ssh container containers docker pod pods kubernetes k8s kubectl dial-in",
               "Hosts without SSH: the same line on every host, with an address of the first, and a secret of all:\n"
               "  sml-run --make-secret                # once; prints the file to copy to the other hosts\n"
               "  sml-run --nnodes 2 --head HOST --nproc-per-node 8 python3 train.py\n"
               "On Kubernetes, SageMaker and AWS Batch the platform names them. More: man sml-run-hosts.\n",
               "every-host"},
    OtherTopic{"torchrun torch pytorch",
               "A line of torchrun is taken as it stands: write sml-run for torchrun, or call sml-run by that name\n"
               "(--install-links). A script of PyTorch needs no option. More: man sml-run-launchers.\n",
               "rendezvous"},
    OtherTopic{"mpirun mpiexec mpi openmpi mpich hydra orterun pmi pmix",
               "A line of mpirun is taken as it stands: write sml-run for mpirun, or call sml-run by that name\n"
               "(--install-links). Programs of Open MPI and MPICH find each other. More: man sml-run-mpi and\n"
               "sml-run-launchers.\n",
               "--mpi --pmix --bind-to --map-by"},
    OtherTopic{"srun horovodrun horovod deepspeed accelerate launcher launchers links",
               "Lines of other launchers are taken as they stand by their names, which sml-run --install-links DIR\n"
               "makes; most of their long options by the name sml-run, too. More: man sml-run-launchers.\n",
               "--install-links --preset"},
    OtherTopic{"env variable variables", "", "environment"},
    OtherTopic{"list jobs job running-jobs ids", "", "running"},
    OtherTopic{"gpu gpus cuda accelerator accelerators",
               "One worker for each GPU:  sml-run --nproc-per-node gpu python3 train.py\n", "devices"},
    OtherTopic{"restart retry retries elastic spare", "", "restarts"},
    OtherTopic{"log logs logging", "", "--log-dir --log-layout --log-overwrite --log-on-host --log-max-size --report"},
    OtherTopic{"json", "Objects and their keys: man sml-run-json.\n", "records --format"},
    OtherTopic{"exit exit-status exit-code",
               "0: all workers have; 2: wrong line; 123: --watch, --on-silent; 124: --timeout; 125: host, launcher;\n"
               "126, 127: program; else that of the rank that failed first. More: man sml-run, EXIT STATUS.\n",
               "--on-failure"},
    OtherTopic{"config settings defaults file", "", "--config --explain --app"},
    OtherTopic{"bind binding affinity numa cpu cpus cores", "", "placement"},
    OtherTopic{"mpmd", "", "programs"},
    OtherTopic{"manual man guide examples example doc docs documentation",
               "A line for each task; man sml-run-guide has more about each:\n"
               "  four workers, here          sml-run -np 4 python3 train.py\n"
               "  a worker for each GPU       sml-run --nproc-per-node gpu python3 train.py\n"
               "  other hosts, by SSH         sml-run -H algo-[1-2]:8 -x LR=0.1 python3 train.py\n"
               "  look before the start       sml-run -H algo-[1-2]:8 --check python3 train.py\n"
               "  hosts without SSH           sml-run --nnodes 2 --head HOST --nproc-per-node 8 python3 train.py\n"
               "  a program of MPI            sml-run -np 4 --bind-to core ./solver\n"
               "  several programs            sml-run -np 1 python3 ps.py : -np 4 python3 train.py\n"
               "  go on after a failure       sml-run -np 4 --max-restarts 3 python3 train.py\n"
               "  end what hangs              sml-run --timeout 2h --warn-silent 5m --on-silent stop python3 t.py\n"
               "  rank 0 in a debugger        sml-run --show-ranks 0 -np 1 python3 -m pdb a.py : -np 3 python3 a.py\n"
               "  keep what it prints         sml-run -np 4 --log-dir logs --report end.json python3 train.py\n"
               "  without your session        nohup sml-run -np 4 --log-dir logs python3 train.py >job.out 2>&1 &\n"
               "  jobs that run               sml-run ps\n",
               ""},
};

}  // namespace

std::string advice_on_foreign_option(string_view name) {
  std::string dashed(name);
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  for (const ForeignOption& option : kForeignOptions) {
    if (!has_name(option.names, dashed)) continue;
    return option.meant.starts_with('-') ? fmt::format("did you mean {}?", option.meant) : std::string(option.meant);
  }
  return "";
}

const OtherTopic* other_topic(string_view word) {
  const auto* found = std::find_if(kOtherTopics.begin(), kOtherTopics.end(),
                                   [&](const OtherTopic& topic) { return has_name(topic.words, word); });
  return found == kOtherTopics.end() ? nullptr : found;
}

std::span<const OtherTopic> other_topics() { return kOtherTopics; }

}  // namespace sml
