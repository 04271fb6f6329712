#!/usr/bin/env python3
"""Lines that users typed and that once went wrong: runs each again and prints a table of what it printed then and prints
now, for a person to read. What no short line shows is held by tests, which the table names; that they exist is checked first.

    reported.py [-k WORD] [--list]

Each line is a shell script that runs on the testbed's host `head` with $S (sml-run), $L (a folder with its links) and
$W (a scratch folder); what has to be done on another host before runs there first. Root is needed, as for the other
end-to-end tests.
"""
import argparse
import ast
import dataclasses
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from harness import SML_RUN, TESTBED, Testbed, watchdog  # noqa: E402

TESTS = pathlib.Path(__file__).resolve().parents[2]
PRELUDE = f"""
deny() {{ python3 {TESTS}/e2e/deny.py "$1" "$2" "$2" "${{@:3}}"; }}
"""

@dataclasses.dataclass(frozen=True)
class Line:
    name: str
    script: str
    then: str  # what came when it was reported
    before: tuple = ()  # (host, shell script) that runs first


@dataclasses.dataclass(frozen=True)
class Held:
    name: str
    then: str
    tests: tuple  # "FILE CLASS.METHOD" or, of C++, "FILE CASE", below tests/

    script = ""


IN_SLURM = "export SLURM_JOB_ID=1 SLURM_JOB_NODELIST=$(hostname) SLURM_TASKS_PER_NODE=2 SLURM_NTASKS=2; "
PROGRAM = """cat > $W/p.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(void) { int r, n; MPI_Init(0, 0); MPI_Comm_rank(MPI_COMM_WORLD, &r); MPI_Comm_size(MPI_COMM_WORLD, &n); printf("%d/%d\\n", r, n); MPI_Finalize(); return 0; }
END
mpicc.openmpi -o $W/p $W/p.c
"""

LINES = [
    # ---- from public bug reports
    Line("ssh_config: +list", "printf 'Host *\\n HostKeyAlgorithms +ssh-rsa\\n' > $W/cfg; chmod 600 $W/cfg; $S --ssh-config $W/cfg -H algo-1:1 hostname",
         "libssh has none of the HostKeyAlgorithms of the ssh config; 2"),
    Line("ssh_config: -list", "printf 'Host *\\n Ciphers -aes128*\\n' > $W/cfg; chmod 600 $W/cfg; $S --ssh-config $W/cfg -H algo-1:1 hostname", "refused; 2"),
    Line("ssh_config: ^list", "printf 'Host *\\n KexAlgorithms ^ecdh-sha2-nistp256\\n' > $W/cfg; chmod 600 $W/cfg; $S --ssh-config $W/cfg -H algo-1:1 hostname", "refused; 2"),
    Line("ssh_config: Match exec", "printf 'Match exec \"true\" host node1\\n HostName algo-1\\n' > $W/cfg; chmod 600 $W/cfg; $S --ssh-config $W/cfg -H node1:1 hostname", "cannot resolve node1, no word; 125"),
    Line("exec of another shell in .bashrc", "$S --start-timeout 12 -H algo-3:1 true",
         "not ready after 12 s (starting the agent); hint: --start-timeout waits longer", before=("algo-3", "echo 'exec cat' > ~/.bashrc")),
    Line("two containers behind one address", "$S --accept-new-host-keys -H algo-1:2201/1,algo-1:2202/1 hostname", "refused, no way named; 2", before=("algo-1", "/usr/sbin/sshd -f /run/sshd/sshd_config -p 2201; /usr/sbin/sshd -f /run/sshd/sshd_config -p 2202")),
    Line("no pidfd_open", "deny ENOSYS 434 $S -np 2 echo hi", "internal error: assign: Bad file descriptor [boost...]; 125"),
    Line("clone3 answered with EPERM", "deny EPERM 435 $S -np 2 echo hi", "cannot start sml-run-agent: operation not permitted; 125"),
    Line("memfd_create denied", "deny EPERM 319 $S -np 2 echo hi", "125"),
    Line("BOM in a Horovod YAML", "printf '\\357\\273\\277params:\\n  fusion_threshold_mb: 32\\n' > $W/h.yaml; $L/horovodrun --config-file $W/h.yaml -np 1 sh -c 'echo [$HOROVOD_FUSION_THRESHOLD]'", "[]"),
    Line("BOM in an --app file", "printf '\\357\\273\\277-np 1 echo a\\n' > $W/app; $S --app $W/app", "misleading words; 2"),
    Line("ENV and HOST of the caller", "ENV=prod HOST=db $S -H localhost:1,algo-1:1 sh -c 'echo $RANK [$ENV] [$HOST]'", "0 prod db and 1, no word"),
    Line("a heterogeneous Slurm job", "SLURM_JOB_ID=1 SLURM_HET_SIZE=2 SLURM_JOB_NODELIST=a SLURM_TASKS_PER_NODE=1 SLURM_NTASKS=1 SLURM_JOB_NODELIST_HET_GROUP_0=a SLURM_JOB_NODELIST_HET_GROUP_1='b[1-2]' $S --dry-run true | head -3", "1 worker on a, no word"),
    Line("exported functions by -x", "module() { echo ok; }; export -f module; $S -x 'BASH_FUNC_*' -H algo-1:1 bash -c module", "module: command not found"),
    Line("B1: a name that comes late", "(sleep 3; echo \"$(getent hosts algo-1 | cut -d' ' -f1) pod-0.svc\" >> /etc/hosts) & $S --accept-new-host-keys --wait-for-hosts --start-timeout 60 -H pod-0.svc:1 hostname", "cannot resolve the host name; 125"),
    Line("B1: an SSH server that comes late", "$S --accept-new-host-keys --wait-for-hosts --start-timeout 60 -H algo-4:2299/1 hostname", "connection refused; 125",
         before=("algo-4", "(sleep 4; exec /usr/sbin/sshd -f /run/sshd/sshd_config -p 2299) > /dev/null 2>&1 &")),
    Line("B1: ConnectionAttempts", "printf 'Host *\\n ConnectionAttempts 30\\n StrictHostKeyChecking no\\n' > $W/cfg; chmod 600 $W/cfg; $S --ssh-config $W/cfg -H algo-4:2298/1 hostname", "connection refused; 125",
         before=("algo-4", "(sleep 4; exec /usr/sbin/sshd -f /run/sshd/sshd_config -p 2298) > /dev/null 2>&1 &")),
    Held("B9: an account for sftp only", "not ready after 12 s; hint: --start-timeout waits longer", ("e2e/test_deployment.py Logins.test_an_account_for_sftp_only",)),
    Line("B12: BOM in a YAML of accelerate", "printf '\\357\\273\\277num_processes: 2\\n' > $W/a.yaml; $L/accelerate launch --config_file $W/a.yaml --no_python sh -c 'echo $RANK'", "misleading words; 2"),
    Line("B13: TMP of the caller", "TMP=/run $S -H localhost:1,algo-1:1 sh -c 'echo $RANK [$TMP]'", "0 /run and 1, no word"),
    Held("B3: limits, umask and functions in a Slurm job", "the batch script's node alone had them",
         ("e2e/test_schedulers.py Slurm.test_all_hosts_have_what_the_batch_script_has", "e2e/test_starters.py Slurm.test_limits_and_umask_are_those_of_the_batch_script")),
    Line("B4: SLURM_LABELIO", IN_SLURM + "SLURM_LABELIO=1 $L/srun -n2 hostname", "no labels"),
    Line("B4: SLURM_KILL_BAD_EXIT", IN_SLURM + "SLURM_KILL_BAD_EXIT=1 $L/srun -n2 sh -c '[ $SLURM_PROCID = 0 ] && exit 3; sleep 4; echo late'", "late"),
    Line("B4: SLURM_STDOUTMODE", IN_SLURM + "cd $W; SLURM_STDOUTMODE=o.%t $L/srun -n2 sh -c 'echo $SLURM_PROCID'; head o.*", "0, 1 on the terminal"),
    Line("B4: SLURM_WORKING_DIR", IN_SLURM + "SLURM_WORKING_DIR=/usr $L/srun -n1 pwd", "the caller's"),
    Line("B4: SLURM_TASK_PROLOG", IN_SLURM + "printf '#!/bin/sh\\necho export FOO=1\\n' > $W/pro; chmod +x $W/pro; SLURM_TASK_PROLOG=$W/pro $L/srun -n1 sh -c 'echo [$FOO]'", "[], no word"),
    Line("B4: SLURM_EXPORT_ENV", IN_SLURM + "SLURM_EXPORT_ENV=NONE FOO=1 $L/srun -n1 sh -c 'echo [$FOO]'", "[1]"),
    Held("B7: certificates of a user's keys", "the login is refused", ("e2e/test_ssh_config.py Ways.test_a_certificate_beside_the_key",)),
    Line("B10: memory that cannot be executed", "unshare --pid --fork --mount-proc sh -c \"echo 1 > /proc/sys/vm/memfd_noexec; $S -np 2 echo hi\"", "permission denied; 125"),
    Held("B11: a data loader that the kernel kills", "no word of memory",
         ("e2e/test_endings.py Memory.test_a_data_loader_that_the_kernel_has_killed_is_told", "e2e/test_endings.py Memory.test_one_that_no_rank_has_failed_for_is_told_once")),
    Line("B16: CUDA_VISIBLE_DEVICES=NoDevFiles", "CUDA_VISIBLE_DEVICES=NoDevFiles $S --visible-devices per-rank -np 2 true", "there is only 1 NVIDIA GPU"),
    # ---- a first day
    Held("N1: TERM to several hosts that call", "killed at once, nothing saved", ("e2e/test_stops.py ThatCall.test_all_of_them",)),
    Held("N2: a terminal of another user", "blocks until Enter", ("e2e/test_stalls.py Terminals.test_output_comes_and_input_is_taken", "e2e/test_stalls.py Terminals.test_ctrl_c_is_obeyed")),
    Held("N3: the prompt of rank 0", "comes after the answer",
         ("e2e/test_output.py Contract.test_a_prompt_of_the_rank_that_has_the_input_is_shown", "e2e/test_progress.py OnATerminal.test_a_prompt_is_shown_and_stays_below_the_lines_of_others")),
    Held("N4: the files for Kubernetes with the documents' image", "there is no file train.py; 2",
         ("e2e/test_pods.py Pods.test_an_indexed_job", "e2e/test_pods.py Pods.test_a_pytorchjob", "e2e/test_pods.py Pods.test_an_elastic_pytorchjob", "e2e/test_pods.py Pods.test_an_mpijob",
          "e2e/test_documents.py Kubernetes.test_they_are_valid")),
    Held("N5: SageMaker without train", "the host refused the login; 125", ("e2e/test_pods.py Sagemaker.test_containers_call_each_other_without_train",)),
    Line("N6: a line of torchrun without a secret", "for i in 1 2; do HOME=/nonexistent $L/torchrun --nnodes 2 --nproc-per-node 1 --rdzv-id 1 --rdzv-backend c10d --rdzv-endpoint localhost:29578 --rdzv-conf join_timeout=30 --no-python sh -c 'echo $RANK of $WORLD_SIZE' & done; wait", "share no secret; 2"),
    Held("N8.1: bash completion where bash-completion is loaded", "start-stop-daemon stat", ("e2e/test_completion.py Completion.test_bash_offers_words_where_bash_completion_is_loaded",)),
    Line("N8.2: completion for a wheel in a venv", "eval \"$($S --completion bash)\"; complete -p sml-run", "no shell finds it"),
    Held("N8.3: the folder of zsh's completion", "vendor-completions, which zsh looks in below /usr of Debian alone",
         ("e2e/test_install.py Install.test_completions_are_those_of_the_program", "release/test_release.py Tarball.test_it_runs_where_it_is_unpacked")),
    Held("N8.4: what the tarball leaves in /usr/local", "LICENSE and README.md", ("release/test_release.py Tarball.test_it_runs_where_it_is_unpacked",)),
    Held("C8: a frozen host", "no ssh key exchange within 3 s; hint: ConnectTimeout in the ssh config", ("e2e/test_unreachable.py Networks.test_a_frozen_host_ends_at_the_connect_timeout",)),
    Line("C14: --preset tensorflow", "$S --preset tensorflow true", "is not tf, jax, ..."),
    Line("C20: a start-up file that asks", "$S --start-timeout 12 -H algo-4:1 true", "12 times \"waiting for algo-4 (starting the agent)\"; hint: --start-timeout waits longer",
         before=("algo-4", "mkfifo /run/door; echo 'read answer < /run/door' > ~/.bashrc")),
    Line("TERM to a worker's whole job twice", "$S -np 2 sh -c 'trap \"sleep 1; echo saved; exit 0\" TERM; echo up; while :; do sleep 0.1; done' & p=$!; sleep 2; kill -TERM $p; kill -TERM $p; wait $p", "no \"saved\""),
    Held("S1: scancel", "nothing saved, 4 of 4", ("e2e/test_stops.py Scancel.test_running", "e2e/test_stops.py Scancel.test_on_two_nodes", "e2e/test_stops.py Scancel.test_one_in_each_task_of_a_step",
          "e2e/test_steps_that_call.py ManyHosts.test_scancel_gives_the_grace_and_leaves_nothing")),
    Line("S2: timeout(1)", "timeout 2 $S -np 2 sh -c 'trap \"sleep 1; echo saved; exit 0\" TERM; echo up; while :; do sleep 0.1; done'", "no \"saved\""),
    Held("S2: a closed terminal", "nothing saved, 4 of 5", ("e2e/test_stops.py Running.test_a_closed_terminal", "e2e/test_stops.py Stopping.test_a_closed_terminal")),
    Line("--max-restarts of a program without a framework", "$S -np 1 --max-restarts 3 --restart-delay 0s:0s python3 -c 'import sys; sys.exit(7)'", "2 attempts, status 93"),
    Line("--head alone", "$S --head 10.0.0.1 hostname", "this machine does not show which of the 1 hosts this one is"),
    Line("--nnodes alone", "$S --nnodes 2 hostname", "--nnodes does not show which of the 2 hosts this one is"),
    Line("no secret", "HOME=/nonexistent $S --nnodes 2 --head 127.0.0.1 hostname", "a hint of 60 words"),
    Line("--log-dir that cannot be made", "$S --log-dir /dev/null/dir true", "no files can be made in /"),
    Line("--include of an unknown host", "$S -H algo-[1-2] --include algo-3 true", "\"algo-3\" is none of the job's hosts: algo-3"),
    Line("a blank in -H", "$S -H algo-1:2, algo-2:2 true", "ends with a comma; remove it"),
    Line("hosts by the shell's braces", "$S -H algo-{1,2} true", "there is no program algo-2; is it installed there"),
    Line("a quoted line", "$S -np 2 'python3 train.py --epochs 1'", "there is no program python3 train.py --epochs 1"),
    Line("a variable before the program", "$S FOO=1 python3 t.py", "there is no program FOO=1"),
    Line("-m", "$S -m train", "unknown option -m"),
    Line("--preset torch", "$S --preset torch true", "is not tf, jax, ..."),
    Line("--master_addr localhost", "$S --master_addr localhost true", "is not a numeric address"),
    Line("a long dash", "$S –np 2 true", "there is no program –np"),
    Line("a script without #!", "printf 'echo hi\\n' > $W/x.sh; chmod +x $W/x.sh; $S $W/x.sh", "exec format error"),
    Line("Windows line ends behind env", "printf '#!/usr/bin/env python3\\r\\n' > $W/w.py; chmod +x $W/w.py; $S $W/w.py", "python3\\r: no such file"),
    Line("a mistyped sub-command", "$S statu", "did you mean stat?"),
    Line("help", "$S help", "there is no program help"),
    Line("--help status", "$S --help status | head -3", "there is no help on status"),
    Line("-x with a list", "$S -x FOO,BAR true", "no variable name"),
    Line("-np2", "$S -np2 true", "did you mean --np?"),
    Line("-H twice", "$S -H algo-1 -H algo-2 hostname", "the last wins without a word"),
    Line("--hostfile beside -H", "echo algo-1 > $W/hf; $S --hostfile $W/hf -H algo-2 hostname", "the file is ignored without a word"),
    Line("one file for two records", "$S --events $W/F --report $W/F true", "one overwrites the other without a word"),
    Line("N8.9: one file for a timeline and a report", "$S --timeline $W/F.html --report $W/F.html true", "one overwrites the other without a word"),
    Line("unknown variables", "SML_NPP=2 SML_HOST=algo-1 SML_FOO=1 $S true", "no word of three of them"),
    Line("workers that cannot be bound", "$S -np 8 --bind-to core true", "no \"warning:\""),
    Line("N8.15: one of something", "$S --verbose -H algo-1:1 true", "1 workers run"),
    Line("N8.15: one other host", "SML_JOB_SECRET=0123456789abcdef0123456789abcdef $S --verbose --nnodes 2 --node-rank 0 --head 127.0.0.1:29579 --start-timeout 3 true", "1 others are to call its port"),
    Line("--install-links without a folder", "$S --install-links $W/new/links | head -2", "no such file or directory; 2"),
    Line("a key that others can read", "printf 'Host *\\n IdentitiesOnly yes\\n IdentityFile /none\\n' > $W/only; chmod 600 $W/only; ssh-keygen -q -t ed25519 -N '' -f $W/k; chmod 644 $W/k; SSH_AUTH_SOCK= $S --ssh-config $W/only -i $W/k -H algo-1:1 true", "start an ssh agent ... or name a key"),
    Line("a key with a passphrase", "printf 'Host *\\n IdentitiesOnly yes\\n IdentityFile /none\\n' > $W/only; chmod 600 $W/only; ssh-keygen -q -t ed25519 -N secret -f $W/k4; SSH_AUTH_SOCK= $S --ssh-config $W/only -i $W/k4 -H algo-1:1 true", "there is no key to log in with (/tmp/k4: encrypted)"),
    Line("unknown host keys", "printf 'Host *\\n UserKnownHostsFile /dev/null\\n GlobalKnownHostsFile /dev/null\\n' > $W/new; chmod 600 $W/new; $S --ssh-config $W/new -H algo-1:1,algo-2:1 true", "two lines for each host"),
    # ---- with frameworks
    Line("one worker of `train`", "mkdir -p $W/ml/input/config $W/ml/code; echo '{\"current_host\":\"algo-1\",\"hosts\":[\"algo-1\"]}' > $W/ml/input/config/resourceconfig.json; echo 'import os; print(sorted(k for k in os.environ if k in (\"RANK\", \"WORLD_SIZE\", \"LOCAL_RANK\")))' > $W/ml/code/t.py; SAGEMAKER_BASE_DIR=$W/ml SAGEMAKER_PROGRAM=t.py $S train 2>/dev/null",
         "RANK, LOCAL_RANK, WORLD_SIZE"),
    Line("deepspeed's --local_rank", "echo 'import sys; print(sys.argv[1:])' > $W/a.py; $L/deepspeed --num_gpus 2 $W/a.py", "[]"),
    Line("deepspeed's environment file", "echo MINE=fromfile > $W/.deepspeed_env; printf 'algo-1 slots=1\\nalgo-2 slots=1\\n' > $W/hosts; cd $W; echo 'import os; print(os.environ.get(\"MINE\"))' > $W/e.py; $L/deepspeed --hostfile $W/hosts $W/e.py", "[]"),
    Line("torchrun's prefix template", "TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE='[rank${rank}]: ' $L/torchrun --nproc-per-node 2 --tee 3 --no-python echo creating 2>&1", "[default0]:creating"),
    Line("--log-line-prefix-template", "$L/torchrun --nproc-per-node 1 --tee 3 --log-line-prefix-template '<${role_name}${local_rank}>' --no-python echo creating 2>&1", "refused"),
    Line("the parent's error file", "TORCHELASTIC_ERROR_FILE=$W/parent.json $L/torchrun --nproc-per-node 1 --no-python sh -c 'echo \"{\\\"message\\\": \\\"of the child\\\"}\" > $TORCHELASTIC_ERROR_FILE; exit 3'; cat $W/parent.json", "no file"),
    Line("two torchruns on one machine", "for i in 1 2; do $L/torchrun --nnodes 1:2 --nproc-per-node 1 --rdzv-backend c10d --rdzv-endpoint localhost:29577 --rdzv-id t --rdzv-conf last_call_timeout=3 --no-python sh -c 'echo $RANK of $WORLD_SIZE; sleep 2' & done; wait", "the second ends: port in use"),
    Line("an etcd back end", "$L/torchrun --nnodes 2 --rdzv-backend etcd-v2 --rdzv-endpoint etcd:2379 --no-python true", "waits for the head"),
    Line("blacklist cooldown", "$L/horovodrun -np 1 --min-np 1 --host-discovery-script 'echo localhost:1' --blacklist-cooldown-range 1 2 true", "refused; 2"),
    Held("R3: JAX under mpirun", "coordinator_address should be defined; 1",
         ("frameworks/test_jax.py Jax.test_mpirun_needs_no_preset", "frameworks/test_jax.py Jax.test_without_either_no_rank_runs_alone_and_the_preset_is_named")),
    Held("R4: lines of torchrun that differ between hosts", "125 on one, and the other waits",
         ("integration/calling_hosts_test.cc calling hosts: each runs its own command in its own directory",
          "integration/calling_torchrun_test.cc calling torchrun: slots and roles are those of each host's own line",
          "integration/calling_torchrun_test.cc calling torchrun: slots and roles are those of each host that has come")),
    Line("R5: deepspeed --bind_cores_to_rank", "echo 'import os; print(sorted(os.sched_getaffinity(0)))' > $W/b.py; $L/deepspeed --num_gpus 2 --bind_cores_to_rank $W/b.py", "refused; 2"),
    Line("R5: deepspeed --bind_core_list", "echo 'import os; print(sorted(os.sched_getaffinity(0)))' > $W/b.py; $L/deepspeed --num_gpus 2 --bind_cores_to_rank --bind_core_list 0-1 $W/b.py", "refused; 2"),
    Line("R5: DS_ENV_FILE", "echo MINE=named > $W/env; printf 'algo-1 slots=1\\nalgo-2 slots=1\\n' > $W/hosts; echo 'import os; print(os.environ.get(\"MINE\"))' > $W/e.py; DS_ENV_FILE=$W/env $L/deepspeed --hostfile $W/hosts $W/e.py", "None"),
    Line("R5: /job/hostfile", "mkdir -p /job; printf 'algo-1 slots=1\\nalgo-2 slots=1\\n' > /job/hostfile; echo 'import os; print(os.uname().nodename)' > $W/h.py; $L/deepspeed $W/h.py; rm -r /job", "this machine alone"),
    Line("R5: deepspeed --no_ssh", "echo 'import os; print(os.environ[\"RANK\"], os.environ[\"WORLD_SIZE\"])' > $W/r.py; printf 'algo-1 slots=1\\nalgo-2 slots=1\\n' > $W/hosts; for i in 1 2; do ssh algo-$i SML_JOB_SECRET=of-this-job-alone $L/deepspeed --hostfile $W/hosts --no_ssh --node_rank $((i - 1)) --master_addr algo-1 --master_port 29580 $W/r.py & done; wait", "refused; 2"),
    Held("R6: all hosts of an elastic job of Horovod fail, or a host leaves when no reset is left", "waits for 10 min; goes on",
         ("e2e/test_elastic.py Elastic.test_all_fail", "e2e/test_elastic.py Hosts.test_a_host_that_leaves_when_no_reset_is_left_ends_the_job")),
    Line("R10: --no-python with --module", "$L/torchrun --no-python --module os", "the last one was taken"),
    Line("R10: deepspeed --include of a host that is none", "printf 'algo-1 slots=1\\n' > $W/hosts; touch $W/n.py; $L/deepspeed --hostfile $W/hosts --include localhost:0 $W/n.py", "\"localhost:0\" is none of the job's hosts: localhost"),
    Line("R10: options of torchrun's help that are refused", "$L/torchrun --help | grep -E -- '--(duplicate|run-path|log-line|virtual|monitor-interval|rdzv-backend|event-log|start-method)'", "four that are refused, without the last five"),
    # ---- batch systems
    Held("F2: an allocation without SSH servers", "connection refused; 125", ("e2e/test_starters.py Slurm.test_a_batch_script_needs_no_option",)),
    Held("F3: torchrun on each node by srun", "share no secret; 2", ("e2e/test_steps.py Steps.test_the_line_of_every_guide_is_one_job",)),
    Held("F5: the variables of srun's own step", "SLURM_NTASKS=1 and others in remote workers", ("e2e/test_starters.py Slurm.test_workers_have_the_environment_of_the_batch_script",
          "e2e/test_starters.py Slurm.test_srun_as_the_command_to_the_hosts_leaves_nothing_of_its_own_step")),
    Held("F6: the variables of qrsh", "QRSH_COMMAND and QRSH_PORT in remote workers",
         ("e2e/test_grid_engine.py GridEngine.test_a_batch_script_needs_no_option",
          "e2e/test_grid_engine.py GridEngine.test_qrsh_as_the_command_to_the_hosts_leaves_nothing_of_its_own", "e2e/test_starters.py StandIns.test_each_starts_the_job_of_its_system")),
    Held("F7: hyperparameters as version 3 of the SDK gives them", "--flag True -n 3, sorted", ("e2e/test_sagemaker_train.py Train.test_hyperparameters_in_the_style_of_version_3",)),
    Line("F8: accelerate launch --use_fp8", "$L/accelerate launch --use_fp8 --num_processes 1 --no_python true", "unknown option; 2"),
    Line("F8: accelerate launch --gradient_accumulation_steps", "$L/accelerate launch --gradient_accumulation_steps 2 --num_processes 1 --no_python echo hi", "unknown option; 2"),
    Line("F9: --virtual-local-rank", "$L/torchrun --nproc-per-node 2 --virtual-local-rank --no-python sh -c 'echo $RANK $LOCAL_RANK'", "refused; 2"),
    Line("F9: --duplicate-stdout-filters", "$L/torchrun --nproc-per-node 1 --log-dir $W/logs --duplicate-stdout-filters keep --no-python sh -c 'echo keep; echo drop'; cat $W/logs/*", "refused; 2"),
    Line("F9: --numa-binding exclusive", "$L/torchrun --nproc-per-node 1 --numa-binding exclusive --no-python echo hi", "refused; 2"),
    Line("F9: --print-completion", "$L/torchrun --print-completion bash | head -3", "refused; 2"),
    Line("srun with resourceconfig.json", "mkdir -p $W/sm/input/config; echo '{\"current_host\":\"n1\",\"hosts\":[\"n1\",\"n2\"]}' > $W/sm/input/config/resourceconfig.json; SAGEMAKER_BASE_DIR=$W/sm SLURM_JOB_ID=1 SLURM_JOB_NODELIST='n[1-2]' SLURM_TASKS_PER_NODE='1(x2)' SLURM_NTASKS=2 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2 $S --dry-run true | head -3", "the job runs twice; 0"),
    Line("one rank with a torch store", "echo 'import os, socket; socket.create_connection((os.environ[\"MASTER_ADDR\"], int(os.environ[\"MASTER_PORT\"]))); print(\"met\")' > $W/st.py; $S -np 1 --torch-store python3 $W/st.py", "connection refused"),
    Line("F4: a store of torchrun's one rank", "echo 'import os, socket; socket.create_connection((os.environ[\"MASTER_ADDR\"], int(os.environ[\"MASTER_PORT\"]))); print(\"met\")' > $W/st.py; $L/torchrun --nproc-per-node 1 $W/st.py", "times out"),
    # ---- MPI libraries
    Line("Open MPI in a Slurm job", PROGRAM + "$S -np 2 -x SLURM_NODELIST=x -x SLURM_JOBID=5 $W/p", "0/1, 0/1; status 0"),
    Line("Open MPI behind a shell", PROGRAM + "$S -np 2 bash -c 'exec \"$0\"' $W/p", "0/1, 0/1; status 0"),
    Line("Open MPI behind a container's wrapper", PROGRAM + "$S -np 2 unshare --mount chroot / $W/p", "0/1, 0/1; status 0"),
    Held("JAX in a job of Slurm without a preset", "coordinator_address should be defined; 1", ("frameworks/test_jax.py InSlurm.test_no_launcher_needs_the_preset",)),
    Line("M, small: who ends without MPI_Finalize", "cat > $W/f.c <<'END'\n#include <mpi.h>\n#include <stdlib.h>\nint main(void) { MPI_Init(0, 0); exit(0); }\nEND\nmpicc.openmpi -o $W/f $W/f.c; $S -np 2 $W/f", "\"exited with status 1\" of ranks that ended with 0"),
    Line("M, small: MPI_Abort with 0", "cat > $W/z.c <<'END'\n#include <mpi.h>\nint main(void) { MPI_Init(0, 0); MPI_Abort(MPI_COMM_WORLD, 0); }\nEND\nmpicc.openmpi -o $W/z $W/z.c; $S -np 2 $W/z", "status 1, which no document says"),
    Line("M, small: hydra's -bind-to user:", "ln -sf $S $L/mpiexec.hydra; $L/mpiexec.hydra -bind-to user:1,0 -n 2 sh -c 'grep Cpus_allowed_list /proc/self/status'", "refused; 2"),
    Line("M, small: hydra's -bind-to hwthread:1", "ln -sf $S $L/mpiexec.hydra; $L/mpiexec.hydra -bind-to hwthread:1 -n 2 sh -c 'grep Cpus_allowed_list /proc/self/status'", "refused; 2"),
    Held("M, small: room to spawn under -np 1", "there is no room", ("e2e/test_mpi.py Spawning.test_no_room_is_said_and_none_is_missing_where_nobody_has_counted_slots",)),
    Line("M, small: MPI_UNIVERSE_SIZE", "cat > $W/u.c <<'END'\n#include <mpi.h>\n#include <stdio.h>\nint main(void) { MPI_Init(0, 0); int *u, set; MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &u, &set); printf(\"%d\\n\", set ? *u : -1); MPI_Finalize(); return 0; }\nEND\nmpicc.openmpi -o $W/u $W/u.c; $S -np 1 $W/u; $S -np 3 --oversubscribe $W/u", "the ranks under --oversubscribe, where Open MPI says the slots"),
    Line("M, small: the order of hosts in a sentence", "$S -H algo-[1-3]:1 --grace 1s sh -c '[ $RANK = 1 ] && exit 3; trap \"exit 0\" TERM; sleep 60 & wait'", "algo-[2,1]: the order of arrival"),
    Line("C output of a killed rank", "printf '#include <stdio.h>\\n#include <signal.h>\\nint main(void) { printf(\"step 41\\\\n\"); raise(SIGSEGV); }' > $W/l.c && cc -o $W/l $W/l.c; $L/mpirun -np 1 $W/l", "no line"),
    Held("M2: error texts of Open MPI 5", "the code alone",
         ("e2e/test_open_mpi.py OnThisMachine.test_what_the_library_has_the_launcher_print_is_the_ranks_own_output", "frameworks/test_mpi_libraries.py Libraries.test_open_mpi_5")),
    Held("M4: sessions of MPICH 5, one after another", "sent a second \"init\"; 1", ("frameworks/test_mpi_libraries.py Libraries.test_mpich_5",)),
    Held("M5: spawned ranks that return to their first host", "hangs", ("frameworks/test_mpi_libraries.py Libraries.test_mpich_5", "unit/job_shape_test.cc PMI's mapping says of every rank where it is")),
    Held("M6: the info key \"path\" of MPI_Comm_spawn", "there is no program", ("e2e/test_mpi.py Spawning.test_a_program_is_looked_for_first_where_the_info_says",)),
    Held("M7: the rank of Open MPI 5 that was killed", "another is named, in half of the runs", ("frameworks/test_mpi_libraries.py Libraries.test_open_mpi_5",)),
    # ---- stops and recovery
    Held("S3: the first stop while the job stops by itself", "kills at once", ("e2e/test_stops.py Stopping.test_the_launcher", "e2e/test_stops.py Stopping.test_the_others")),
    Held("S4: who prints while it saves, when the launcher is gone", "BrokenPipeError",
         ("e2e/test_stops.py Running.test_the_launcher_is_killed", "e2e/test_stops.py Running.test_the_launcher_is_killed_when_nobody_reads_what_they_print", "e2e/test_stops.py OnHosts.test_the_launcher_is_killed")),
    Held("S5: a reset while a host is logged in to", "the agent did not start: the connection broke; 125",
         ("e2e/test_links.py Links.test_a_connection_that_is_reset_during_the_authentication", "e2e/test_links.py Links.test_a_connection_that_breaks_before_the_agent_runs",
          "e2e/test_links.py Links.test_a_connection_that_is_reset_while_the_agent_is_sent")),
    Held("S7: a stop of a host that has not called yet", "the others wait for --start-timeout", ("e2e/test_stops.py ThatCall.test_before_it_has_called",)),
    Held("S9: a host where no process can be made", "all restarts are used while a spare waits", ("e2e/test_hosts_lost.py Excluded.test_a_host_where_no_process_can_be_made_is_out",)),
    Held("S10: a file system that stands still", "nothing heard; 125",
         ("e2e/test_stalls.py FileSystems.test_under_stdout_and_events", "e2e/test_stalls.py FileSystems.test_under_log_dir", "e2e/test_stalls.py FileSystems.test_under_log_dir_of_a_host")),
    Line("TERM to the guardian", "$S -np 2 sh -c 'trap \"echo saved; exit 0\" TERM; echo up; while :; do sleep 0.1; done' & p=$!; sleep 2; pkill -TERM -x sml-run-guard; sleep 1; kill -TERM $p; wait $p", "125, nothing saved"),
    Line("--timeout while the job rests", "$S -np 1 --max-restarts 9 --max-fruitless 0 --restart-delay 15s:15s --timeout 2s sh -c 'exit 3'", "124 after 15 s, in a new attempt"),
    Line("one machine under two names", "$S --accept-new-host-keys -H a1,b1,algo-2 --max-restarts 1 --min-hosts 1 hostname", "b1: is the same machine as a1; 2",
         before=("head", "echo \"$(getent hosts algo-1 | cut -d' ' -f1) a1 b1\" >> /etc/hosts")),
]


def is_there(test):
    file, name = test.split(" ", 1)
    text = (TESTS / file).read_text() if (TESTS / file).exists() else ""
    if file.endswith(".cc"):
        return f'TEST_CASE("{name}"' in text
    case, method = name.split(".")
    return any(getattr(inner, "name", "") == method for outer in ast.parse(text).body if getattr(outer, "name", "") == case for inner in outer.body)


def run_line(line, bed, scratch):
    links = scratch / "links"
    env = {"S": str(SML_RUN), "L": str(links), "W": str(scratch)}
    if line.before:
        host, first = line.before
        bed.exec(host, ["sh", "-c", first])
    script = PRELUDE + f"mkdir -p {links}; $S --install-links {links} >/dev/null\n" + line.script
    done = subprocess.run([sys.executable, TESTBED, "--name", bed.name, "exec", *(word for k, v in env.items() for word in ("-e", f"{k}={v}")), "head",
                           "bash", "-c", script], capture_output=True, text=True, timeout=watchdog(), stdin=subprocess.DEVNULL)
    return done.returncode, (done.stdout + done.stderr).strip()


def cell(text):
    return text.replace("|", "\\|").replace("\n", "<br>")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-k", dest="word", default="", help="only the lines whose name or script has WORD")
    parser.add_argument("--list", action="store_true", help="print the names alone")
    given = parser.parse_args()
    gone = [test for line in LINES if isinstance(line, Held) for test in line.tests if not is_there(test)]
    if gone:
        sys.exit("no such tests: " + ", ".join(gone))
    lines = [line for line in LINES if given.word in line.name or given.word in line.script]
    if given.list:
        return print("\n".join(line.name for line in lines))
    print("| line | then | now |\n| --- | --- | --- |", flush=True)
    with Testbed() as bed:
        base = pathlib.Path("/run/sml-testbed", bed.name, "shared")
        bed.up(4)
        for line in lines:
            if isinstance(line, Held):
                print(f"| {cell(line.name)} | {cell(line.then)} | held by test {', '.join(line.tests)} |", flush=True)
                continue
            scratch = pathlib.Path(tempfile.mkdtemp(dir=base))
            try:
                status, text = run_line(line, bed, scratch)
            except subprocess.TimeoutExpired:
                status, text = "hangs", ""
            text = text.replace(str(scratch), "$W").replace(str(SML_RUN), "$S")
            print(f"| {cell(line.name)} | {cell(line.then)} | {cell(text[:600])}<br>status {status} |", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C.UTF-8")
    main()
