"""In a job of a batch system the hosts are reached by its own starter. Slurm is a real one, on hosts without an SSH server;
the others are stand-ins with the traps of the real ones, which use SSH where nobody sees it."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from harness import REPO, SML_RUN, HostsCase, TestCase, Testbed, gate, scaled, wait_until, watchdog_times
from jobs import heartbeat, sh, stop_sshd

MISSING = [program for program in ("slurmctld", "slurmd", "sbatch", "munged") if not shutil.which(program)]

# The hosts also have SageMaker's file, which would come first.
SML = f"{SML_RUN} --host-source slurm"
# Values that differ between two processes of one environment.
OF_A_PROCESS = {"_", "SHLVL", "PWD", "OLDPWD"}


def without_ssh(bed):
    for host in ("head", *bed.names()):
        stop_sshd(bed, host)


class SlurmCase(TestCase):
    """Tests in batch jobs of a real Slurm on all hosts, with 2 tasks each (1 where there are more than 8 hosts)."""

    hosts = 4
    root = None  # the folder of another Debian, whose Slurm it is

    @classmethod
    def slurm_up(cls):
        options = ["--root", cls.root] if cls.root else []
        subprocess.run([REPO / "tests/testbed/slurm-up", *options, "8"], env={**os.environ, "SML_TESTBED": cls.bed.name}, check=True,
                       stdout=subprocess.DEVNULL)

    @classmethod
    def setUpClass(cls):
        if cls.hosts > 8:
            cls.bed = cls.enterClassContext(Testbed())
            cls.bed.up(cls.hosts)
        else:
            cls.bed = Testbed.shared(cls.hosts)
        cls.tasks = 2 if cls.hosts <= 8 else 1
        cls.slurm_up()
        without_ssh(cls.bed)
        base = pathlib.Path(os.environ.get("SML_TESTBED_DIR", "/run/sml-testbed"))
        cls.shared = base / cls.bed.name / "shared"

    def setUp(self):
        self.output = self.shared / f"{self.id().rsplit('.', 1)[1]}.out"
        self.addCleanup(self.output.unlink, missing_ok=True)
        self.addCleanup(self.slurm, "scancel", "--user=root")

    def slurm(self, *words):
        """A command of Slurm, on the host from which jobs are submitted."""
        return self.bed.exec("head", [*(["chroot", str(self.root)] if self.root else []), *words])

    def submit(self, script, *options):
        """A batch job on all hosts; what it prints is in self.output."""
        file = self.shared / "job.sh"
        file.write_text("#!/bin/bash\n" + script)
        self.addCleanup(file.unlink, missing_ok=True)
        return ["sbatch", "--parsable", f"-N{self.hosts}", f"--ntasks-per-node={self.tasks}", "-o", str(self.output), *options, str(file)]

    def batch(self, script, *options):
        """The same, awaited: the job's status and what was printed."""
        done = self.slurm(*self.submit(script, "--wait", *options))
        return done.returncode, self.output.read_text(errors="replace")

    def started(self, script, *options):
        """The number of a job that runs."""
        done = self.slurm(*self.submit(script, *options))
        self.assert_status(done, 0)
        return done.stdout.strip()

    def printed(self):
        return self.output.read_text() if self.output.exists() else ""


@unittest.skipIf(MISSING, f"Slurm's {', '.join(MISSING)} not installed (tests/run installs it)")
class Slurm(SlurmCase):
    @gate
    def test_a_batch_script_needs_no_option(self):
        status, out = self.batch(f"{SML} --verbose python3 -c 'import os, socket; print(socket.gethostname(), os.environ[\"RANK\"])'")
        self.assertEqual(status, 0, out)
        self.assertEqual({ln for ln in out.splitlines() if ln.startswith("[")},
                         {f"[{rank}] algo-{1 + rank // 2} {rank}" for rank in range(8)})
        self.assertIn("the other hosts are reached by srun, as this is a job of Slurm", out)

    def test_the_status_is_that_of_the_rank(self):
        status, out = self.batch(f"{SML} sh -c 'test $RANK != 5 || exit 9; sleep 600'")
        self.assertEqual(status, 9, out)
        self.assertIn("rank 5 on algo-3 exited with status 9", out)
        self.assertNotIn("srun", out)

    def test_check_names_the_starter(self):
        status, out = self.batch(f"{SML} --check true")
        self.assertEqual(status, 0, out)
        self.assertIn("the other hosts are reached by srun", out)

    def test_workers_have_the_environment_of_the_batch_script(self):
        show = "import json, os, sys; json.dump(dict(os.environ), open(sys.argv[1] + os.environ.get('SML_RANK', ''), 'w'))"
        self.addCleanup(shutil.rmtree, self.shared / "env", True)
        (self.shared / "env").mkdir()
        status, out = self.batch(f"export MINE='a\nSLURM_STEP_ID=b'; python3 -c \"{show}\" {self.shared}/env/script\n"
                                 f"{SML} python3 -c \"{show}\" {self.shared}/env/rank", "-c2", "--gres-flags=disable-binding")
        self.assertEqual(status, 0, out)
        script, near, far = (json.loads((self.shared / "env" / name).read_text()) for name in ("script", "rank0", "rank6"))
        of_rank = {name for name in near if name not in script}
        self.assertEqual({name for name in far if name not in script}, of_rank | {"SML_HOST"})
        theirs = {name: value for name, value in script.items() if name not in of_rank | OF_A_PROCESS and not name.startswith("SLURM_STEP")}
        for name in ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_GTIDS", "SLURM_TASK_PID"):
            theirs.pop(name, None)
        self.assertEqual({name: value for name, value in far.items() if name in theirs}, theirs)

    def test_srun_as_the_command_to_the_hosts_leaves_nothing_of_its_own_step(self):
        command = "srun --overlap --mpi=none -N1 -n1 -w {host} {command}"
        names = "SLURM_NTASKS SLURM_NPROCS SLURM_CPU_BIND SLURM_SRUN_COMM_HOST SRUN_DEBUG SLURM_STEP_ID SLURM_PROCID"
        status, out = self.batch(f"{SML} --no-tag --quiet --ssh-command '{command}' sh -c "
                                 f"'test $RANK -lt 2 || for name in {names}; do eval \"echo $name \\${{$name-none}}\"; done'")
        self.assertEqual(status, 0, out)
        of_the_script = ["SLURM_NTASKS 8", "SLURM_NPROCS 8"]
        self.assertEqual(sorted(out.splitlines()), sorted(6 * (of_the_script + [f"{name} none" for name in names.split()[2:]])), out)

    def test_export_none_keeps_variables_from_other_hosts(self):
        status, out = self.batch(f"export MINE=1; {SML} --export none --quiet sh -c 'echo $SML_HOST ${{MINE:-none}} ${{SLURM_JOB_ID:+job}}'")
        self.assertEqual(status, 0, out)
        self.assertIn("algo-3 none job\n", out)

    def test_a_worker_may_call_srun_itself(self):
        inner = "srun --overlap -N4 -n4 --mpi=none hostname | sort | tr \"\\n\" \" \""
        status, out = self.batch(f"{SML} --no-tag sh -c 'test $RANK != 7 || {inner}'")
        self.assertEqual(status, 0, out)
        self.assertIn("algo-1 algo-2 algo-3 algo-4 ", out)

    def test_limits_and_umask_are_those_of_the_batch_script(self):
        show = "echo $(ulimit -n) $(ulimit -s) $(ulimit -c) $(umask) $(module)"
        status, out = self.batch("ulimit -S -n 4096; ulimit -S -s 4096; ulimit -S -c 0; umask 027; module() { echo ok; }\n"
                                 f"export -f module; {SML} --no-tag --quiet bash -c '{show}'")
        self.assertEqual(status, 0, out)
        self.assertEqual(out.splitlines(), ["4096 4096 0 0027 ok"] * 8)

    def test_60_mb_come_through_byte_for_byte(self):
        size = 60 << 20
        made = "import os, sys, random; random.seed(7); sys.stdout.buffer.write(random.randbytes(60 << 20))"
        script = (f"python3 -c '{made}' > {self.shared}/in\n"
                  f"{SML} -np 7 --quiet --no-tag --stdin 6 sh -c 'test $RANK != 6 || cat' < {self.shared}/in > {self.shared}/out")
        for name in ("in", "out"):
            self.addCleanup((self.shared / name).unlink, missing_ok=True)
        status, out = self.batch(script)
        self.assertEqual(status, 0, out)
        self.assertEqual((self.shared / "in").stat().st_size, size)
        self.assertEqual((self.shared / "in").read_bytes(), (self.shared / "out").read_bytes())

    def check_stopped(self, *command, options=()):
        """Each node's slurmd sends the signal when it can: the workers wait until sml-run has received it, too."""
        go = self.shared / "go"
        self.addCleanup(go.unlink, missing_ok=True)
        job = self.started(f"{SML} sh -c 'trap : TERM; echo up; until [ -e {go} ]; do sleep 0.1; done'", *options)
        wait_until(lambda: self.printed().count("up") == 8, self.printed)
        self.assert_status(self.slurm(*command, job), 0)
        wait_until(lambda: "stopping the workers (SIGTERM)" in self.printed(), self.printed)
        go.touch()
        self.bed.assert_clean()
        self.assertIn("sml-run: stopped by SIGTERM\n", self.printed())

    @gate
    def test_scancel_leaves_nothing(self):
        self.check_stopped("scancel")

    def test_a_requeue_leaves_nothing(self):
        self.check_stopped("scontrol", "requeuehold", options=["--requeue"])

    def test_the_death_of_srun_is_one_sentence(self):
        self.started(f"{SML} sh -c 'echo up; sleep 600'")
        wait_until(lambda: self.printed().count("up") == 8, self.printed)
        self.assert_status(self.bed.exec("algo-1", ["pkill", "-KILL", "-f", "srun .*--nodelist=algo-3"]), 0)
        wait_until(lambda: not self.slurm("squeue", "-h").stdout, self.printed)
        self.assertIn("algo-3: its agent has gone before its work was done: srun was killed by SIGKILL (killed)\n", self.printed())
        self.bed.assert_clean()

    def test_no_srun_in_path_is_one_sentence(self):
        status, out = self.batch(f"PATH=/bin/nothing {SML} --start-by srun true")
        self.assertEqual(status, 125, out)
        self.assertIn("the other hosts cannot be reached: there is no srun in PATH, by which Slurm starts programs there", out)

    def test_a_link_of_that_name_to_sml_run_is_no_srun(self):
        status, out = self.batch(f"mkdir /run/links; ln -s {SML_RUN} /run/links/srun; PATH=/run/links:$PATH {SML} hostname; "
                                 "s=$?; rm -r /run/links; exit $s")
        self.assertEqual(status, 0, out)
        self.assertEqual(out.count("algo-"), 8, out)

    def test_a_step_that_is_refused_is_one_sentence(self):
        status, out = self.batch(f"{SML_RUN} --start-by srun -H algo-1,algo-2,algo-3 true", "-N2", "-n2")
        self.assertEqual(status, 125, out)
        refused = [ln for ln in out.splitlines() if "the agent did not start" in ln]
        self.assertEqual(len(refused), 1, out)
        self.assertIn("algo-3", refused[0])

    def test_noise_of_the_starter_on_stdout_is_passed_over(self):
        noisy = "#!/bin/sh\n[ $1 = --version ] || { echo noise; echo noise >&2; }\nexec /usr/bin/srun \"$@\"\n"
        status, out = self.batch(f"mkdir /run/noisy; printf '{noisy}' > /run/noisy/srun; chmod 700 /run/noisy/srun; "
                                 f"PATH=/run/noisy:$PATH {SML} hostname; s=$?; rm -r /run/noisy; exit $s")
        self.assertEqual(status, 0, out)
        self.assertEqual(out.count("algo-"), 8, out)
        self.assertNotIn("noise", out)

    def test_an_allocation_without_a_batch_script_starts_from_outside(self):
        done = self.slurm("salloc", "--quiet", "-N4", "-n4", str(SML_RUN), "hostname")
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.split()), sorted(f"{word}" for r in range(4) for word in (f"[{r}]", f"algo-{r + 1}")))

    def test_the_time_limit_leaves_nothing(self):
        job = self.started(f"{SML} sh -c 'echo up; sleep 600'")
        wait_until(lambda: self.printed().count("up") == 8, self.printed)
        self.assert_status(self.slurm("scontrol", "update", f"jobid={job}", "timelimit=0:01"), 0)
        with watchdog_times(3):  # Slurm looks once in a minute
            self.bed.assert_clean()
        self.assertIn("TIME LIMIT", self.printed())

    def test_a_controller_that_does_not_answer_is_given_up(self):
        go = self.shared / "go"
        self.addCleanup(go.unlink, missing_ok=True)
        signal = lambda name: self.bed.exec("head", ["sh", "-c", f"kill -{name} $(cat /run/slurm/slurmctld.pid)"])  # noqa: E731
        limit = f"{scaled(3):g}"
        self.started(f"echo up; while [ ! -e {go} ]; do sleep 0.1; done; {SML} --start-timeout {limit}s true; echo status $?")
        wait_until(lambda: "up" in self.printed())
        self.addCleanup(signal, "CONT")
        signal("STOP")
        go.touch()
        wait_until(lambda: "status" in self.printed(), self.printed)
        self.assertIn("status 125", self.printed())
        self.assertIn(f"3 hosts: not ready after {limit} s (starting the agent): algo-[2-4]", self.printed())

    def test_half_of_the_nodes_are_down(self):
        self.bed.exec("head", ["true"])
        self.started(f"{SML} {' '.join(heartbeat(3)[0])} sh -c 'echo up; sleep 600'", "--no-kill")
        wait_until(lambda: self.printed().count("up") == 8, self.printed)
        self.bed.kill("algo-3", "algo-4")
        # Both are told in one line if they are missed at once, else the first.
        wait_until(lambda: re.search(r"^sml-run: (2 hosts|algo-[34]): ", self.printed(), re.M), self.printed)
        self.bed.assert_clean(["head", "algo-1", "algo-2"])
        self.bed.start("algo-3", "algo-4")
        self.slurm_up()
        for host in ("algo-3", "algo-4"):
            stop_sshd(self.bed, host)


# The words joined by blanks and read by a shell, a small environment with the call itself in it, no terminal. Beside a
# plain call, qrsh without -inherit would submit a job.
QRSH = """#!/bin/bash
[ "$1" = -inherit ] || { echo "qrsh: would submit a job" >&2; exit 1; }
echo "$2" >> /run/doors/called
grep -q "^$2 " "$PE_HOSTFILE" || { echo "error: executing task of job 3 failed: execution daemon on host \"$2\" didn't accept task" >&2; exit 1; }
host=$2; shift 2; line="$*"
exec ssh -o BatchMode=yes "$host" "exec env -i HOME=$HOME PATH=$PATH TMPDIR=/tmp JOB_ID=3 NSLOTS=1 NHOSTS=1 QRSH_PORT=x:1 \
QRSH_COMMAND=$(printf %q "$line") bash -c $(printf %q "$line")"
"""
# The user's login shell reads the words. With -n there would be no input.
BLAUNCH = """#!/bin/bash
echo "$1" >> /run/doors/called
case $1 in -*) echo "blaunch: option $1" >&2; exit 1;; esac
host=$1; shift
exec ssh -o BatchMode=yes "$host" "$*"
"""
# Ranks of brokers instead of hosts, exact words, the broker's environment.
FLUX = """#!/bin/bash
case "$1 $2" in
"getattr hostlist") echo "algo-[1-3]"; exit;;
"resource R") echo '{"version":1,"execution":{"R_lite":[{"rank":"0-2","children":{"core":"0-1"}}],"nodelist":["algo-[1-3]"]}}'; exit;;
"exec -r") ;;
*) exit 1;;
esac
host=algo-$(($3 + 1)); shift 3
[ "$1" = -d ] && { folder=$2; shift 2; }
echo "$host" >> /run/doors/called
exec ssh -o BatchMode=yes "$host" "cd $folder && exec env -i PATH=/usr/bin:/bin FLUX_URI=local:///broker $(printf '%q ' "$@")"
"""
OARSH = """#!/bin/bash
[ -n "$OAR_JOB_ID" ] || { echo "oarsh: no job" >&2; exit 255; }
echo "$1" >> /run/doors/called
exec ssh -o BatchMode=yes "$@"
"""
# Exact words, the environment of the container; a connection that is cut ends it with status 0 and leaves the program.
KUBECTL = """#!/bin/bash
[ "$1 $2 $4" = "exec -i --" ] || { echo "error: unknown words $*" >&2; exit 1; }
pod=$3; shift 4
echo "$pod" >> /run/doors/called
case $pod in algo-*) ;; *) echo "Error from server (NotFound): pods \"$pod\" not found" >&2; exit 1;; esac
ssh -o BatchMode=yes "$pod" "exec env -i PATH=/usr/bin:/bin HOME=/home/root $(printf '%q ' "$@")" <&0 &
echo $! > "/run/doors/$pod.pid"
wait $!; status=$?
[ $status -lt 128 ] || exit 0
exit $status
"""
SHOW = "echo $SML_HOST $RANK 'a  b' ${QRSH_COMMAND:+leaked}"


class StandIns(HostsCase):
    hosts = 3

    TOOLS = {"qrsh": QRSH, "blaunch": BLAUNCH, "flux": FLUX, "oarsh": OARSH, "kubectl": KUBECTL}

    def setUp(self):
        for name, text in self.TOOLS.items():
            self.bed.put("head", f"/run/doors/{name}", text, mode=0o755)
        self.bed.put("head", "/run/doors/pe", "".join(f"{h} 2 all.q@{h} UNDEFINED\n" for h in self.bed.names()))
        self.bed.put("head", "/run/doors/oar", "".join(f"{h}\n{h}\n" for h in self.bed.names()))
        self.addCleanup(self.bed.exec, "head", ["rm", "-rf", "/run/doors"])

    JOBS = {
        "qrsh": {"JOB_ID": "3", "PE_HOSTFILE": "/run/doors/pe", "SGE_ROOT": "/nowhere", "ARC": "lx-amd64"},
        "blaunch": {"LSB_JOBID": "3", "LSB_MCPU_HOSTS": "algo-1 2 algo-2 2 algo-3 2"},
        "flux": {"FLUX_URI": "local:///run/flux/local"},
        "oarsh": {"OAR_JOB_ID": "3", "OAR_NODEFILE": "/run/doors/oar"},
        "kubectl": {},
    }

    def sml(self, tool, *words):
        env = {"PATH": "/run/doors:/usr/bin:/bin:/usr/sbin:/sbin", **self.JOBS[tool]}
        options = ["--start-by", "kubectl", "-H", self.bed.hosts(2)] if tool == "kubectl" else ["--nproc-per-node", "2"]
        return self.bed.sml_run("head", *options, *words, env=env)

    def called(self):
        """The hosts that a tool has been called for."""
        return sorted(self.bed.path("head", "/run/doors/called").read_text().split())

    @gate
    def test_each_starts_the_job_of_its_system(self):
        for tool in self.TOOLS:
            with self.subTest(tool):
                self.bed.exec("head", ["rm", "-f", "/run/doors/called"])
                done = self.sml(tool, "--verbose", "--no-tag", "sh", "-c", SHOW)
                self.assert_status(done, 0)
                self.assertEqual(sorted(done.stdout.splitlines()), [f"algo-{1 + r // 2} {r} a  b" for r in range(6)])
                self.assertIn(f"the other hosts are reached by {tool}, as ", done.stderr)
                self.assertEqual(self.called(), self.bed.names())

    def test_bytes_and_status_come_through_each(self):
        data = bytes(range(256)) * 4096
        for tool in self.TOOLS:
            with self.subTest(tool):
                env = {"PATH": "/run/doors:/usr/bin:/bin:/usr/sbin:/sbin", **self.JOBS[tool]}
                options = ["--start-by", "kubectl", "-H", self.bed.hosts(2)] if tool == "kubectl" else ["--nproc-per-node", "2"]
                done = self.bed.sml_run("head", *options, "--quiet", "--no-tag", "--stdin", "3", "sh", "-c",
                                        "test $RANK != 3 || { cat; exit 9; }; sleep 600", env=env, input=data, binary=True)
                self.assertEqual(done.stdout, data)
                self.assertEqual(done.returncode, 9, done.stderr)

    def test_a_refused_task_is_one_sentence(self):
        self.bed.put("head", "/run/doors/pe", "algo-1 2 all.q UNDEFINED\n")
        done = self.sml("qrsh", "--start-by", "qrsh", "-H", self.bed.hosts(), "true")
        self.assert_status(done, 125)
        self.assertIn("2 hosts: the agent did not start: Grid Engine refused a task there: algo-[2-3]", done.stderr)
        done = self.sml("kubectl", "-H", "algo-1,web-0", "true")
        self.assert_status(done, 125)
        self.assertIn("web-0: the agent did not start: there is no pod of that name", done.stderr)

    def test_a_tool_of_another_user_is_not_run(self):
        self.bed.exec("head", ["chown", "tester", "/run/doors/qrsh"])
        done = self.sml("qrsh", "--start-by", "qrsh", "true")
        self.assert_status(done, 125)
        self.assertIn("/run/doors/qrsh is not run, as /run/doors/qrsh belongs to user 7700", done.stderr)
        self.assertIn("there is no qrsh in PATH", done.stderr)

    def test_a_cut_of_kubectl_that_looks_like_success_is_none(self):
        env = {"PATH": "/run/doors:/usr/bin:/bin:/usr/sbin:/sbin"}
        with self.bed.sml_run_popen("head", "--start-by", "kubectl", "-H", "algo-1:1,algo-2:1", "--no-tag", "--stdin", "1", "sh", "-c",
                                    "test $RANK = 0 || { echo up; read line; }; echo done", env=env,
                                    stdin=subprocess.PIPE) as job:
            job.read_until("up\n")
            sh(self.bed, "head", "kill -KILL $(cat /run/doors/algo-2.pid)")
            wait_until(lambda: self.called().count("algo-2") == 2)
            done = job.finish(input="go on\n")
        self.assert_status(done, 0)
