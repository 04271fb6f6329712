"""Starters that give no pipe, and one call of srun for many hosts: what they start calls the launcher. Slurm is a real one, on
hosts without an SSH server; PBS and PALS are stand-ins, which use SSH where nobody sees it."""
import pathlib
import re
import shlex
import shutil
import unittest

from harness import SML_RUN, HostsCase, gate, wait_until
from test_starters import MISSING, SML, SlurmCase
from test_stops import AN_HOUR, WORKER, Place

# No input, no output but the job's file, and the environment that the job began with: nothing of the caller.
TMRSH = """#!/bin/bash
[ -n "$PBS_JOBCOOKIE" ] || { echo "pbs_tmrsh: tm_init failed" >&2; exit 255; }
grep -qx "$1" "$PBS_NODEFILE" || { echo "pbs_tmrsh: host \\"$1\\" not found in $PBS_NODEFILE" >&2; exit 255; }
host=$1; shift
echo "$host" >> /run/doors/called
exec ssh -o BatchMode=yes "$host" "exec env -i HOME=$HOME PATH=/usr/bin:/bin PBS_JOBID=$PBS_JOBID PBS_JOBCOOKIE=$PBS_JOBCOOKIE \
PBS_NODENUM=1 PBS_TASKNUM=7 $(printf '%q ' "$@")" < /dev/null >> /run/doors/output 2>&1
"""
PBSDSH = """#!/bin/bash
[ "$1 $3" = "-h --" ] || { echo "usage: pbsdsh" >&2; exit 1; }
host=$2; shift 3
exec /run/doors/tmrsh "$host" "$@"
"""
# One program on each host; input for the first alone.
MPIEXEC = """#!/bin/bash
[ "$1 $3 $4 $5 $7 $8" = "-n --ppn 1 --hosts --cpu-bind none" ] || { echo "mpiexec: unknown words $*" >&2; exit 1; }
hosts=${6//,/ }; shift 8
status=0; pids=
for host in $hosts; do
  echo "$host" >> /run/doors/called
  ssh -o BatchMode=yes "$host" "exec env -i HOME=$HOME PATH=/usr/bin:/bin SML_STEP_KEY=$SML_STEP_KEY PALS_RANKID=1 $(printf '%q ' "$@")" \
    < /dev/null & pids="$pids $!"
done
for pid in $pids; do wait $pid || status=$?; done
exit $status
"""
SHOW = "echo $SML_HOST $RANK 'a  b' ${SML_STEP_KEY:+key} ${PALS_RANKID:+leaked} ${PBS_TASKNUM:+leaked}"
COOKIE = "0123456789abcdef0123456789abcdef"


class StandIns(HostsCase):
    hosts = 3

    PBS = {"PBS_JOBID": "7.head", "PBS_JOBCOOKIE": COOKIE, "PBS_NODEFILE": "/run/doors/nodes", "PBS_ENVIRONMENT": "PBS_BATCH"}

    def setUp(self):
        for name, text in {"pbs_tmrsh": TMRSH, "tmrsh": TMRSH, "mpiexec": MPIEXEC}.items():
            self.bed.put("head", f"/run/doors/{name}", text, mode=0o755)
        self.bed.put("head", "/run/doors/nodes", "".join(f"{h}\n{h}\n" for h in self.bed.names()))
        self.addCleanup(self.bed.exec, "head", ["rm", "-rf", "/run/doors"])

    def pbs(self, *words, **env):
        return self.bed.sml_run("head", *words, env={"PATH": "/run/doors:/usr/bin:/bin:/usr/sbin:/sbin", **self.PBS, **env})

    def pals(self, *words):
        return self.bed.sml_run("head", "--start-by", "pals", "-H", self.bed.hosts(2), *words,
                                env={"PATH": "/run/doors:/usr/bin:/bin:/usr/sbin:/sbin"})

    def called(self):
        return sorted(self.bed.path("head", "/run/doors/called").read_text().split())

    def assert_all_ran(self, done):
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.splitlines()), [f"algo-{1 + r // 2} {r} a  b" for r in range(6)])
        self.assertEqual(self.called(), self.bed.names())
        self.bed.assert_clean()

    @gate
    def test_a_job_of_pbs_needs_no_option(self):
        done = self.pbs("--verbose", "--no-tag", "sh", "-c", SHOW)
        self.assertIn("the other hosts are reached by pbs_tmrsh, as this is a job of PBS", done.stderr)
        self.assert_all_ran(done)

    def test_pbsdsh_does_where_there_is_no_pbs_tmrsh(self):
        self.bed.exec("head", ["rm", "/run/doors/pbs_tmrsh"])
        self.bed.put("head", "/run/doors/pbsdsh", PBSDSH, mode=0o755)
        self.assert_all_ran(self.pbs("--no-tag", "sh", "-c", SHOW))

    @gate
    def test_one_call_of_pals_starts_all(self):
        self.assert_all_ran(self.pals("--no-tag", "sh", "-c", SHOW))

    def test_a_host_that_cannot_call_is_one_sentence(self):
        wrong = MPIEXEC.replace("shift 8\n", "shift 8; set -- \"${@:1:8}\" 1 \"${10}\"\n")
        self.bed.put("head", "/run/doors/mpiexec", wrong, mode=0o755)
        done = self.pals("true")
        self.assert_status(done, 125)
        self.assertRegex(done.stderr, r"3 hosts: the agent did not start: cannot call sml-run at [0-9.]+ port 1: .*refused")
        self.bed.assert_clean()

    def test_bytes_and_status_come_through(self):
        data = bytes(range(256)) * 4096
        env = {"PATH": "/run/doors:/usr/bin:/bin:/usr/sbin:/sbin", **self.PBS}
        done = self.bed.sml_run("head", "--quiet", "--no-tag", "--stdin", "3", "sh", "-c",
                                "test $RANK != 3 || { cat; exit 9; }; sleep 600", env=env, input=data, binary=True)
        self.assertEqual(done.stdout, data)
        self.assertEqual(done.returncode, 9, done.stderr)
        self.bed.assert_clean()

    def test_a_host_without_sml_run_is_one_sentence(self):
        self.bed.put("head", "/run/doors/sml-run", pathlib.Path(SML_RUN).read_bytes(), mode=0o755)
        env = {"PATH": "/run/doors:/usr/bin:/bin:/usr/sbin:/sbin", **self.PBS}
        done = self.bed.sml_run("head", "true", env=env, binary_path="/run/doors/sml-run")
        self.assert_status(done, 125)
        self.assertIn("3 hosts: the agent did not start: there is no /run/doors/sml-run there that belongs to root or you", done.stderr)
        self.bed.assert_clean()

    def test_a_host_that_is_not_in_the_job_is_one_sentence(self):
        self.bed.put("head", "/run/doors/nodes", "algo-1\nalgo-2\n")
        done = self.pbs("--start-by", "pbs", "-H", self.bed.hosts(), "true")
        self.assert_status(done, 125)
        self.assertIn("algo-3: the agent did not start: the host is not in this job of PBS", done.stderr)

    def test_another_cookie_is_no_proof(self):
        self.bed.put("head", "/run/doors/pbs_tmrsh", TMRSH.replace("PBS_JOBCOOKIE=$PBS_JOBCOOKIE", "PBS_JOBCOOKIE=" + "f" * 32), mode=0o755)
        done = self.pbs("true")
        self.assert_status(done, 125)
        self.assertIn("3 hosts: the agent did not start: sml-run ran there, and could not call this host", done.stderr)
        self.assertIn("do not have the same secret", self.bed.path("head", "/run/doors/output").read_text())
        self.bed.assert_clean()

    def test_a_stranger_on_the_port_is_not_let_in(self):
        late = TMRSH.replace("exec ssh", "while [ ! -e /run/doors/go ]; do sleep 0.1; done\nexec ssh")
        self.bed.put("head", "/run/doors/pbs_tmrsh", late, mode=0o755)
        env = {"PATH": "/run/doors:/usr/bin:/bin:/usr/sbin:/sbin", **self.PBS}
        with self.bed.sml_run_popen("head", "--no-tag", "sh", "-c", SHOW, env=env) as job:
            wait_until(lambda: self.bed.path("head", "/run/doors/called").exists())
            words = next(p["cmd"] for p in self.bed.ps("head") if "sml-run-step" in p["cmd"]).split()
            port = words[words.index("PBS_JOBCOOKIE") - 1]
            knock = f"import socket; s = socket.create_connection(('head', {port})); s.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n'); s.recv(99)"
            self.assert_status(self.bed.exec("algo-1", ["python3", "-c", knock]), 0)
            self.bed.put("head", "/run/doors/go", "")
            done = job.finish()
        self.assert_all_ran(done)


@unittest.skipIf(MISSING, f"Slurm's {', '.join(MISSING)} not installed (tests/run installs it)")
class ManyHosts(SlurmCase):
    hosts = 17

    def test_one_srun_starts_all(self):
        status, out = self.batch(f"{SML} --verbose --no-tag sh -c 'echo $SML_HOST $RANK ${{SML_STEP_KEY:+key}}'; echo status $?; "
                                 "squeue --steps --noheader --job $SLURM_JOB_ID")
        self.assertEqual(status, 0, out)
        lines = out.splitlines()
        self.assertEqual({ln for ln in lines if ln.startswith("algo-")}, {f"algo-{r + 1} {r}" for r in range(17)}, out)
        self.assertIn("status 0", lines)
        self.assertNotIn("-step", out)
        self.bed.assert_clean()

    def test_the_step_is_one(self):
        self.started(f"{SML} sh -c 'echo up; sleep 600'")
        wait_until(lambda: self.printed().count("up") == 17, self.printed)
        srun = [p["cmd"] for p in self.bed.ps("algo-1") if p["comm"] == "srun"]
        self.assertTrue(srun)
        for words in srun:
            self.assertIn("--ntasks=16 ", words)
        for process in self.bed.ps():
            self.assertNotIn("SML_STEP_KEY=", process["cmd"])

    def test_the_status_is_that_of_the_rank(self):
        status, out = self.batch(f"{SML} sh -c 'test $RANK != 11 || exit 9; sleep 600'")
        self.assertEqual(status, 9, out)
        self.assertIn("rank 11 on algo-12 exited with status 9", out)
        self.bed.assert_clean()

    def test_workers_have_nothing_of_the_step(self):
        status, out = self.batch("env -0 | sort -z | tr '\\0' '\\n' | grep ^SLURM > {self.shared}/script\n"
                                 f"{SML} --no-tag sh -c 'test $RANK != 16 || env' | grep -E '^(SLURM|SML_STEP)' | sort > {self.shared}/far\n"
                                 f"comm -13 {self.shared}/script {self.shared}/far".replace("{self.shared}", str(self.shared)))
        self.assertEqual((status, out), (0, out))
        self.assertEqual([ln for ln in out.splitlines() if not ln.startswith("sml-run: ")], [], out)

    def test_scancel_gives_the_grace_and_leaves_nothing(self):
        folder = self.shared / "stops"
        folder.mkdir()
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        (folder / "worker").write_text(WORKER)
        place = Place([folder], range(17))
        job = self.started(shlex.join([*SML.split(), *AN_HOUR, "python3", str(folder / "worker"), str(folder)]))
        place.wait("ready")
        self.assert_status(self.bed.exec("head", ["scancel", job]), 0)
        place.wait("saving")
        place.make("go")
        wait_until(lambda: not self.bed.exec("head", ["squeue", "-h", "-j", job]).stdout.strip())
        self.assertEqual(place.told("saved"), set(range(17)), self.printed())
        self.assertEqual(len(re.findall(r"\] saved$", self.printed(), re.M)), 17, self.printed())
        self.assertIn("sml-run: stopped by SIGTERM\n", self.printed())
        self.bed.assert_clean()

    def start_again(self):
        """Where a step takes agent and guardian with it at once, a folder may stay until the next job there."""
        for host in self.bed.names():
            self.assert_status(self.bed.sml_run(host, "-H", "localhost", "true"), 0)

    def test_a_killed_srun_hangs_nothing(self):
        self.addCleanup(self.start_again)
        go = self.shared / "go"
        self.addCleanup(go.unlink, missing_ok=True)
        self.started(f"{SML} sh -c 'echo up; while [ ! -e {go} ]; do sleep 0.1; done'; echo status $?")
        wait_until(lambda: self.printed().count("up") == 17, self.printed)
        self.assert_status(self.bed.exec("algo-1", ["pkill", "-KILL", "-f", "srun .*--ntasks=16"]), 0)
        wait_until(lambda: self.bed.exec("algo-1", ["pgrep", "-f", "srun .*--ntasks=16"]).returncode != 0)
        go.touch()
        wait_until(lambda: "status" in self.printed(), self.printed)
        self.assertRegex(self.printed(), "status 0|: srun was killed by SIGKILL(.*\\n)*status 125")  # Slurm may end the step, or not yet
        self.bed.assert_clean()

    def test_the_end_of_the_step_leaves_no_process(self):
        self.addCleanup(self.start_again)
        job = self.started(f"{SML} sh -c 'echo up; sleep 600'; echo status $?")
        wait_until(lambda: self.printed().count("up") == 17, self.printed)
        self.assert_status(self.bed.exec("head", ["scancel", "--signal=KILL", f"{job}.0"]), 0)
        wait_until(lambda: "status" in self.printed(), self.printed)
        self.assertNotIn("status 0", self.printed())
        self.bed.assert_clean()

    def test_hosts_that_share_no_folder_get_sml_run_by_a_pipe(self):
        status, out = self.batch(f"cp {SML_RUN} /run/sml-run; /run/sml-run --host-source slurm --no-tag sh -c 'echo $SML_HOST'; s=$?; "
                                 "rm /run/sml-run; exit $s")
        self.assertEqual(status, 0, out)
        self.assertEqual({ln for ln in out.splitlines() if ln.startswith("algo-")}, set(self.bed.names()), out)

    def test_a_file_of_another_user_is_not_run(self):
        for host in self.bed.names()[1:]:
            self.bed.put(host, "/run/sml-run", "#!/bin/sh\ntouch /run/was-run\n", mode=0o755, user="tester")
            self.addCleanup(self.bed.exec, host, ["rm", "-f", "/run/sml-run"])
        status, out = self.batch(f"cp {SML_RUN} /run/sml-run; /run/sml-run --host-source slurm --no-tag sh -c 'echo $SML_HOST'; s=$?; "
                                 "rm /run/sml-run; exit $s")
        self.assertEqual(status, 0, out)
        self.assertFalse([h for h in self.bed.names() if self.bed.path(h, "/run/was-run").exists()])

    def test_a_link_that_breaks_is_made_again(self):
        go = self.shared / "go"
        self.addCleanup(go.unlink, missing_ok=True)
        self.started(f"{SML} sh -c 'echo up; while [ ! -e {go} ]; do sleep 0.1; done'; echo status $?")
        wait_until(lambda: self.printed().count("up") == 17, self.printed)
        call = next(p["cmd"] for p in self.bed.ps("algo-5") if "--answer-step" in p["cmd"]).split()
        port = call[call.index("SML_STEP_KEY") - 1]
        self.assert_status(self.bed.exec("algo-5", ["ss", "--kill", "-t", "dport", "=", f":{port}"]), 0)
        go.touch()
        wait_until(lambda: "status" in self.printed(), self.printed)
        self.assertIn("status 0", self.printed())


if __name__ == "__main__":
    unittest.main()
