"""sml-run ps, status, stop, signal and logs: seeing and steering jobs that run."""
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import unittest

import schemas
from harness import PYTHON, SML_RUN, HostsCase, TestCase, gate, popen, run, sml_run, sml_run_popen, wait_until, watchdog
from jobs import sh

# Answers USR1 with a line; says "ready RANK" before.
WORKER = 'trap "echo told $RANK" USR1; echo ready $RANK; echo trouble $RANK >&2; while :; do sleep 0.05; done'


def ids(text):
    return [line.split()[0] for line in text.splitlines()[1:]]


class Here(TestCase):
    """Jobs of this machine alone; their sockets are in a folder of the test's own."""

    def setUp(self):
        super().setUp()
        self.folder = self.temporary_directory()
        self.env = {"XDG_RUNTIME_DIR": str(self.folder)}

    def ask(self, *words, **kw):
        return sml_run(*words, env=self.env, **kw)

    @contextlib.contextmanager
    def job(self, *words, ready=("ready 0", "ready 1")):
        with sml_run_popen(*words, env=self.env) as job:
            for text in ready:
                wait_until(lambda: text in self.ask("logs", self.id_of(job)).stdout)
            yield job
            job.terminate()
            self.done = job.finish()

    def id_of(self, job):
        return self.listed(job)["id"]

    def listed(self, job):
        """What `ps` has of it; a launcher that gets no processor for some seconds is left out."""
        return wait_until(lambda: [one for one in schemas.checked("jobs", self.ask("ps", "--format", "json").stdout) if one["pid"] == job.pid])[0]

    @gate
    def test_a_job_is_listed_while_it_runs(self):
        with self.job("-np", "2", "sh", "-c", WORKER) as job:
            one = self.listed(job)
            self.assertEqual((one["state"], one["hosts"], one["ranks"], one["running"], one["failed"]), ("running", 1, 2, 2, 0))
            self.assertIn("trap", one["command"])
            self.assertIn(one["id"], ids(self.ask("ps").stdout))
            mode = os.stat(self.folder / "sml-run").st_mode & 0o777
            self.assertEqual(mode, 0o700)
        self.assertNotIn(one["id"], self.ask("ps").stdout)
        self.assertEqual(list(self.folder.iterdir()), [])

    @gate
    def test_its_status_names_hosts_and_ranks(self):
        with self.job("-np", "2", "sh", "-c", WORKER) as job:
            name = self.id_of(job)
            text = self.ask("status", name)
            self.assertEqual(text.returncode, 0, text)
            self.assertRegex(text.stdout, r"RANK +HOST +PID +CPU +MEMORY +OUTPUT +SILENT +STATE\n +0 +localhost +\d+ .* running \d+:")
            status = schemas.checked("status", self.ask("status", name[:-1], "--format=json").stdout)
            self.assertEqual([rank["state"] for rank in status["of_ranks"]], ["running", "running"])
            self.assertEqual(status["on_hosts"][0]["ranks"], "0-1")
            pid = status["of_ranks"][1]["pid"]
            self.assertIn("trap", pathlib.Path(f"/proc/{pid}/cmdline").read_text())

    def test_status_tells_what_each_rank_uses(self):
        busy = "import os, time; a = bytearray(64 << 20)\nprint('ready', os.environ['RANK'], flush=True)\n" \
               "while True: os.environ['RANK'] == '0' or time.sleep(60)"
        with self.job("-np", "2", PYTHON, "-c", busy) as job:
            name = self.id_of(job)

            def ranks():
                return schemas.checked("status", self.ask("status", name, "--format=json").stdout)["of_ranks"]

            def tells_them_apart():
                busy, idle = (rank.get("cpu_percent") for rank in ranks())
                return None not in (busy, idle) and busy > max(5, 3 * idle)  # a share of a busy machine, too

            wait_until(tells_them_apart, ranks)
            for rank in ranks():
                self.assertEqual(rank["processes"], 1)
                self.assertTrue(64 << 20 < rank["memory_bytes"] < 128 << 20, rank)
            table = r"RANK .* CPU +MEMORY .*\n +0 .* \d+ % +\d\d\.\d MiB .*\n +1 .* 0 %"
            wait_until(lambda: re.search(table, self.ask("status", name).stdout))
        with self.job("--no-usage", "-np", "2", "sh", "-c", WORKER) as job:
            self.assertNotIn("cpu_percent", schemas.checked("status", self.ask("status", self.id_of(job), "--format=json").stdout)["of_ranks"][0])

    def test_watching_ends_with_the_job(self):
        with self.job("-np", "2", "sh", "-c", WORKER) as job:
            with popen(["env", *self.words("status", self.id_of(job), "--watch", "--format", "json")]) as watch:
                watch.read_until('"running"')
                job.terminate()
                job.wait(watchdog())
                done = watch.finish()
            self.assert_status(done, 0)
            self.assertIn("has ended", done.stderr)

    def words(self, *words):
        return [f"XDG_RUNTIME_DIR={self.folder}", str(SML_RUN), *words]

    @gate
    def test_a_signal_reaches_the_ranks_that_are_named(self):
        with self.job("-np", "4", "sh", "-c", WORKER, ready=[f"ready {n}" for n in range(4)]) as job:
            name = self.id_of(job)
            done = self.ask("signal", name, "USR1", "--ranks", "1,3", "--format", "json")
            self.assertEqual(json.loads(done.stdout), {"id": name, "signal": "SIGUSR1", "ranks": "1,3"})
            wait_until(lambda: {"told 1", "told 3"} <= set(re.findall(r"told \d", self.ask("logs", name).stdout)))
            self.assertEqual(set(re.findall(r"told \d", self.ask("logs", name).stdout)), {"told 1", "told 3"})
            self.assert_status(self.ask("signal", name, "USR1"), 0)
            wait_until(lambda: {"told 0", "told 2"} <= set(re.findall(r"told \d", self.ask("logs", name).stdout)))
            refused = self.ask("signal", name, "USR1", "--ranks", "4")
            self.assert_status(refused, 1)
            self.assertIn("--ranks", refused.stderr)
        self.assert_status(self.done, 143)
        self.assertIn("sml-run: SIGUSR1 for ranks 1,3, by sml-run signal", self.done.stderr)

    def test_the_last_lines_are_kept_for_each_stream(self):
        with self.job("-np", "2", "sh", "-c", "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; " + WORKER) as job:
            wait_until(lambda: "trouble 1" in self.ask("logs", self.id_of(job)).stderr)
            done = self.ask("logs", self.id_of(job), "--ranks", "1")
            lines = done.stdout.splitlines()
            self.assertTrue(all(re.fullmatch(r"\[1\] (line \d+|ready 1)", line) for line in lines), lines)
            self.assertEqual(lines[-2:], ["[1] line 2999", "[1] ready 1"])
            self.assertLess(len(done.stdout), 8192)
            self.assertEqual(done.stderr, "[1] trouble 1\n")
            for words in (("-n", "2"), ("--tail=2",)):
                last = self.ask("logs", self.id_of(job), "--rank", "1", *words)
                self.assertEqual(last.stdout.splitlines(), ["[1] line 2999", "[1] ready 1"])
            with popen(["env", *self.words("logs", self.id_of(job), "--ranks", "1", "-n", "1", "--follow")]) as follow:
                self.assertNotIn(b"line 2999", bytes(follow.read_until("[1] ready 1\n")))
                self.ask("signal", self.id_of(job), "USR1")
                follow.read_until("[1] told 1\n")
                follow.terminate()

    @gate
    def test_following_gives_what_comes_and_ends_with_the_job(self):
        with self.job("-np", "2", "sh", "-c", WORKER) as job:
            name = self.id_of(job)
            with popen(["env", *self.words("logs", name, "--follow", "--ranks", "1")]) as follow:
                follow.read_until("[1] ready 1\n")
                self.ask("signal", name, "USR1")
                follow.read_until("[1] told 1\n")
                self.assert_status(self.ask("stop", name), 0)
                done = follow.finish()
            self.assert_status(done, 0)
            self.assertIn(f"job {name} has ended with status 143", done.stderr)
        self.assertIn("asked to stop by sml-run stop (pid ", self.done.stderr)

    @gate
    def test_a_slow_reader_never_slows_the_job(self):
        flood = "echo ready 0; read line; head -c 60000000 /dev/zero | tr '\\0' x | fold -w 1000"
        with sml_run_popen("-np", "1", "sh", "-c", flood, env=self.env, stdin=-1, stdout=open("/dev/null", "w")) as job:
            wait_until(lambda: "ready 0" in self.ask("logs", self.id_of(job)).stdout)
            with popen(["env", *self.words("logs", self.id_of(job), "--follow")]) as follow:
                follow.read_until("ready 0\n")
                follow.send_signal(signal.SIGSTOP)  # takes nothing at all
                job.stdin.write(b"go\n")
                job.stdin.close()
                job.stdin = None
                self.assertEqual(job.wait(watchdog()), 0)
                follow.send_signal(signal.SIGCONT)
                done = follow.finish(binary=True)
            self.assertLess(len(done.stdout), 10_000_000)
            self.assertTrue(all(len(line) in (1004, 1000) or line.startswith(b"x") for line in done.stdout.splitlines()[:-1]))

    @gate
    def test_stop_waits_for_the_end(self):
        with self.job("-np", "2", "sh", "-c", WORKER) as job:
            name = self.id_of(job)
            done = self.ask("stop", name, "--format", "json")
            self.assert_status(done, 0)
            self.assertEqual(json.loads(done.stdout), {"id": name, "exit_code": 143, "verdict": "stopped by SIGTERM"})
            self.assertEqual(job.wait(watchdog()), 143)

    def test_without_a_name_no_job_is_stopped_and_the_choice_is_shown(self):
        with self.job("-np", "2", "sh", "-c", WORKER) as job, self.job("-np", "1", "sh", "-c", WORKER, ready=("ready 0",)) as other:
            names = [self.id_of(job), self.id_of(other)]
            for word, status in (("stop", 2), ("status", 1), ("logs", 1)):
                done = self.ask(word)
                self.assert_status(done, status)
                for name in names:
                    self.assertIn(name, done.stderr)
            self.assertEqual(sorted(self.id_of(one) for one in (job, other)), sorted(names))  # both still run

    def test_what_a_killed_launcher_leaves_is_removed_and_nothing_else(self):
        with self.job("-np", "2", "sh", "-c", WORKER) as job:
            [name] = os.listdir(self.folder / "sml-run")
            job.kill()
            job.wait()
            (self.folder / "sml-run" / "notes").write_text("mine")
            with socket.socket(socket.AF_UNIX) as other:  # of another boot: nobody here knows whether it is in use
                other.bind(os.fspath(self.folder / "sml-run" / "sml-1.00000000"))
            with socket.socket(socket.AF_UNIX) as busy:  # a job that does not answer
                busy.bind(os.fspath(self.folder / "sml-run" / f"sml-2.{name.split('.')[1]}"))
                busy.listen(8)
                done = self.ask("ps")
            self.assertIn("job sml-2: ", done.stderr)
            left = sorted(os.listdir(self.folder / "sml-run"))
            self.assertEqual(left, ["notes", "sml-1.00000000", f"sml-2.{name.split('.')[1]}"])

    @gate
    def test_no_such_job(self):
        for words in (("status", "sml-x"), ("stop", "sml-x"), ("logs", "sml-x"), ("signal", "sml-x", "USR1")):
            with self.subTest(words=words):
                done = self.ask(*words)
                self.assert_status(done, 1)
                self.assertIn("no job of yours", done.stderr)
        self.assert_status(self.ask("stop"), 2)
        self.assert_status(self.ask("stacks", "sml-x"), 1)

    def test_programs_of_these_names_are_started_otherwise(self):
        program = self.folder / "stop"
        program.write_text("#!/bin/sh\necho stopping\n")
        program.chmod(0o755)
        for words in (("--", "stop"), ("-np", "1", "stop"), ("./stop",)):
            with self.subTest(words=words):
                done = sml_run(*words, env={"PATH": f"{self.folder}:{os.environ['PATH']}"}, cwd=self.folder)
                self.assertEqual(done.stdout, "stopping\n", done)


CONNECT = """
import socket, sys
s = socket.socket(socket.AF_UNIX)
try:
    s.connect(sys.argv[1])
    s.sendall(bytes.fromhex("00000013 01 00000002 01 00 00 00000000 00000000 00000000".replace(" ", "")))
    print("answer", s.recv(64))
except OSError as e:
    print("refused", e.errno)
"""


class OnHosts(HostsCase):
    hosts = 2

    @contextlib.contextmanager
    def job(self, *words, host="algo-1", **kw):
        with self.bed.sml_run_popen(host, *words, "sh", "-c", WORKER, **kw) as job:
            said = b""
            while not {b"ready 0", b"ready 1"} <= set(re.findall(rb"ready \d", said)):  # in any order
                said += job.read_until("\n")
            yield job
            job.terminate()
            job.finish()

    def listed(self):
        """The only job on algo-1, when it answers."""
        [one] = wait_until(lambda: json.loads(self.bed.sml_run("algo-1", "ps", "--format", "json").stdout))
        return one

    @gate
    def test_ranks_of_all_hosts_are_seen_and_reached(self):
        with self.job("-H", "algo-1,algo-2"):
            one = self.listed()
            self.assertEqual((one["hosts"], one["ranks"]), (2, 2))
            self.assert_status(self.bed.sml_run("algo-1", "signal", "sml-", "USR1", "--ranks", "1"), 0)
            wait_until(lambda: "told 1" in self.bed.sml_run("algo-1", "logs", "--ranks", "1").stdout)
            self.assertNotIn("told", self.bed.sml_run("algo-1", "logs", "--ranks", "0").stdout)
            self.assertEqual(self.bed.sml_run("algo-2", "ps", "--format", "json").stdout, "[]\n")

    def test_root_sees_jobs_in_containers(self):
        """Each host has mounts of its own, as a container has."""
        with self.job("-np", "2"):
            name = self.listed()["id"]
            wait_until(lambda: name in ids(sml_run("ps").stdout))
            self.assertIn("told", self.told(name))

    def told(self, name):
        self.assert_status(sml_run("signal", name, "USR1"), 0)
        return wait_until(lambda: re.findall("told", sml_run("logs", name).stdout))

    @gate
    def test_another_user_is_refused(self):
        with self.job("-np", "2"):
            [path] = sh(self.bed, "algo-1", "ls /tmp/sml-run-0/*").split()
            connect = [PYTHON, "-c", CONNECT, path]
            self.assertEqual(self.bed.exec("algo-1", connect, user="tester").stdout, "refused 13\n")
            self.assertEqual(self.bed.sml_run("algo-1", "ps", "--format", "json", user="tester").stdout, "[]\n")
            sh(self.bed, "algo-1", 'chmod 755 /tmp/sml-run-0; chmod 777 "$1"', path)  # as if it had been passed in
            self.assertIn(self.bed.exec("algo-1", connect, user="tester").stdout.strip(), ("answer b''", "refused 32", "refused 104"))
            self.assertIn("answer b'", self.bed.exec("algo-1", connect).stdout)
            self.assertNotEqual(self.bed.exec("algo-1", connect).stdout.strip(), "answer b''")
            sh(self.bed, "algo-1", "chmod 700 /tmp/sml-run-0")

    def test_where_no_job_runs(self):
        done = self.bed.sml_run("algo-2", "status")
        self.assert_status(done, 1)
        self.assertIn("no job of yours", done.stderr)
        self.assertEqual(self.bed.sml_run("algo-2", "ps", "--format", "json").stdout, "[]\n")

    @gate
    def test_without_a_folder_the_job_runs_and_verbose_says_why(self):
        sh(self.bed, "algo-1", "mkdir -m 700 /run/elsewhere")
        sh(self.bed, "algo-1", "ln -s /run/elsewhere /tmp/sml-run-0", user="tester")  # as another user could put it there
        quiet = self.bed.sml_run("algo-1", "true")
        told = self.bed.sml_run("algo-1", "--verbose", "true")
        self.assertEqual(sh(self.bed, "algo-1", "ls /run/elsewhere"), "")
        sh(self.bed, "algo-1", "rm /tmp/sml-run-0; rmdir /run/elsewhere")
        self.assert_status(quiet, 0)
        self.assertNotIn("ask this job", quiet.stderr)
        self.assertEqual(told.stderr.count("cannot ask this job"), 1, told)

    @gate
    def test_a_folder_of_another_user_is_not_used(self):
        sh(self.bed, "algo-1", "mkdir -m 777 /tmp/sml-run-0", user="tester")
        with self.job("--verbose", "-np", "2") as job:
            self.assertIn(b"cannot ask this job", job.errors_so_far())
            self.assertEqual(sh(self.bed, "algo-1", "ls /tmp/sml-run-0"), "")
            self.assertEqual(self.bed.sml_run("algo-1", "ps", "--format", "json").stdout, "[]\n")
        sh(self.bed, "algo-1", "rmdir /tmp/sml-run-0")

    @gate
    def test_the_head_of_hosts_that_call_is_asked_as_any_other(self):
        line = ["--nnodes", "2", "--head", "algo-1"]
        secret = {"SML_JOB_SECRET": "0123456789abcdef0123456789abcdef"}
        with self.bed.sml_run_popen("algo-2", *line, "--node-rank", "1", "sh", "-c", WORKER, env=secret) as other:
            with self.job(*line, "--node-rank", "0", env=secret):
                one = self.listed()
                self.assertEqual((one["hosts"], one["ranks"]), (2, 2))
                self.assert_status(self.bed.sml_run("algo-1", "stop", one["id"]), 0)
            other.finish()


if __name__ == "__main__":
    unittest.main()
