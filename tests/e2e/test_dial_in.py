"""Hosts that call each other: no SSH server runs anywhere, and sml-run is started on every host. What they say to each
other, and whom the head lets in, is in tests/integration/calling_hosts_test.cc and calling_torchrun_test.cc."""
import json
import os
import signal

from harness import PYTHON, SML_RUN, TRAIN_DDP, Cgroups, HostsCase, gate, scaled, wait_until
from jobs import heartbeat, rows_of, sh
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
            sh(cls.bed, name, "pkill -x sshd")

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

    def test_processes_of_one_host_need_no_secret(self):
        made = "/home/root/.config/sml-run/secret"
        self.addCleanup(sh, self.bed, "algo-1", "rm -rf /home/root/.config")
        for _ in range(2):  # the second time it is there
            jobs = [self.start(place, "--nproc-per-node", "1", "sh", "-c", "echo $RANK of $WORLD_SIZE", secret=None, name="algo-1",
                               head="localhost") for place in range(2)]
            self.assertEqual(sorted(self.ends(jobs, 0)[0].stdout.splitlines()), ["[0] 0 of 2", "[1] 1 of 2"])
        self.assertEqual(sh(self.bed, "algo-1", 'stat -c "%a %u" "$1"', made), "600 0\n")

    def test_ranks_of_open_mpi_are_one_world(self):
        """By the name that the head has chosen."""
        done = self.ends(self.start_all("--nproc-per-node", "1", compiled(self, "openmpi"), "ring"), 0)
        self.assertEqual(words(done[0]), ["ring 0 of 2 got 1", "ring 1 of 2 got 1"])

    @gate
    def test_the_status_of_a_worker_is_that_of_every_host(self):
        for rank in ("0", "1"):
            done = self.ends(self.start_all("--nproc-per-node", "1", "sh", "-c", f"[ $RANK != {rank} ] || exit 7; sleep 3600"), 7)
            self.assertIn(f"rank {rank} on host-{rank} exited with status 7", done[1].stderr)

    def test_a_late_name_is_looked_up_again(self):
        other = self.start(1, "true", head="late-name")
        wait_until(lambda: self.calls("algo-2"))
        hosts = self.bed.path("algo-2", "/etc/hosts")
        before = hosts.read_text()
        self.addCleanup(hosts.write_text, before)
        hosts.write_text(before + f"{self.bed.address('algo-1')} late-name\n")
        self.ends([self.start(0, "true", head="late-name"), other], 0)

    def running(self, *args):
        """Both hosts, whose workers run."""
        both = self.start_all(*NO_CLOCK, *args, "sh", "-c", "echo up; exec sleep 1000")
        wait_until(lambda: sum(p["cmd"].startswith("sleep 1000") for p in self.bed.ps()) == 2)
        return both

    @gate
    def test_a_head_that_is_killed_ends_the_other(self):
        head, other = self.running()
        sh(self.bed, "algo-1", "pkill -KILL -x sml-run")
        done = other.finish()
        self.assert_status(done, 125)
        self.assertIn("the head, algo-1 port 29399, has gone", done.stderr)
        head.finish()

    @gate
    def test_a_host_that_is_killed_ends_the_job(self):
        head, other = self.running()
        sh(self.bed, "algo-2", "pkill -KILL -x sml-run")
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
                # Stopped, none sees the end of another; the kernel continues a stopped agent whose guardian dies first.
                # The guardian may have been ended, too, when it is its turn.
                sh(self.bed, "algo-2", "set -e; pkill -STOP -x 'sml-run-(agent|guard)'; pkill -KILL -x sml-run-agent; "
                                       "pkill -KILL -x sml-run-guard || true")
                done = self.ends(both, 125)
                self.assertIn("host-1: its agent has gone before its work was done", done[0].stderr)
                self.assertRegex(done[1].stderr, r"(?m)^sml-run: host-1: ended [1-9]\d* processes of the job that its agent had left there$")
                self.bed.assert_clean()
        self.assertEqual(Cgroups.left(), [])

    def test_a_link_that_is_cut_ends_both(self):
        options, limit = heartbeat(5)
        both = self.running(*options)
        self.bed.cut("algo-2")
        self.addCleanup(self.bed.heal, "algo-2")
        done = self.ends(both, 125)
        self.assertIn(f"nothing received for {limit}", done[0].stderr)
        self.assertIn(f"nothing received for {limit}", done[1].stderr)

    @gate
    def test_a_stop_of_either_host_ends_both(self):
        for place in (0, 1):
            with self.subTest(place):
                both = self.running()
                sh(self.bed, f"algo-{place + 1}", "pkill -TERM -x sml-run")
                self.ends(both, 143)


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

    def test_unmodified_training(self):
        program = (TRAIN_DDP, "--epochs", "1", "--points", "512")
        done = self.ends([self.torchrun(name, program=program) for name in self.bed.names()], 0)
        self.assertIn("equal parameters on 6 ranks", done[1].stdout)

    def test_two_that_take_themselves_for_the_head_say_so_and_end(self):
        jobs = [self.torchrun(name, "--start-timeout=1s", endpoint="localhost") for name in self.bed.names()[:2]]
        for done in self.ends(jobs, 125):
            self.assertIn("this host is the head, as localhost is its own", done.stderr)
            self.assertIn("host-1, host-2", done.stderr.replace("host-[1-2]", "host-1, host-2"))


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
                jobs = self.job(*heartbeat(5)[0], *least, "sh", "-c", self.PLACES + "sleep 600")
                wait_until(lambda: any(p["cmd"] == "sleep 600" for p in self.bed.ps("algo-2")))
                jobs[1].kill()
                jobs[1].finish()
                done = self.ends([jobs[0], jobs[2]], 0)
                self.assertEqual(self.second(done[0]), ["2 0 2 host-0", "2 1 2 host-2"])


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
        sh(self.bed, "algo-6", "pkill -TERM -x sml-run")
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
    def test_a_failure_is_told_on_every_host(self):
        self.program("import os, time\n"
                     "if os.environ['RANK'] == '3': print('raising', flush=True); raise ValueError('no such data')\n"
                     "time.sleep(3600)\n", sagemaker_mpi_enabled="true", sagemaker_mpi_num_of_processes_per_host="1")
        self.ends(self.train_all("--heartbeat-timeout", "1h"), 1)
        for host in self.bed.names():
            self.assertTrue(self.failure(host).startswith("ValueError: no such data\n"), self.failure(host))

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

    def test_a_host_that_is_missing_is_named_everywhere(self):
        self.program("print('started')")
        others = self.train_all("--start-timeout", "1h", hosts=("algo-2", "algo-4"))
        for host in ("algo-2", "algo-4"):
            wait_until(lambda host=host: self.calls(host))
        limit = f"{scaled(10):g}"  # those that call are ready by then
        for one in self.ends([self.train("algo-1", "--start-timeout", f"{limit}s"), *others], 125):
            self.assertIn(f"algo-3: not ready after {limit} s", one.stderr)
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
        stranger = self.train("head", "--start-timeout", f"{scaled(10)}s", env={"SAGEMAKER_BASE_DIR": "/tmp/ml"})
        done = stranger.finish()
        self.assert_status(done, 125)
        self.assertIn("is not an address of algo-2", done.stderr)
        self.ends([*hosts, self.train("algo-2")], 0)

    def test_without_a_name_of_the_job_a_secret_is_asked_for(self):
        self.program("pass")
        done = self.train("algo-2", env={"TRAINING_JOB_NAME": ""}).finish()
        self.assert_status(done, 2)
        self.assertIn("--make-secret", done.stderr)
