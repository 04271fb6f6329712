"""torch.distributed meets at rank 0, or at the store that the agent of its host serves: Debian's torch, unmodified
programs."""
import contextlib
import json
import os
import pathlib
import re
import socket

from harness import (PYTHON, SML_RUN, TRAIN_DDP, TestCase, Testbed, gate, popen, run, scaled, sml_run, sml_run_popen, wait_until,
                     watchdog)
from jobs import TROUBLE, assert_says, by_rank

WORKER = pathlib.Path(__file__).parent / "torch_worker.py"
OWN_ADDRESS = pathlib.Path(__file__).parent / "own_address_worker.py"
OURS = "--torch-store"
# Importing torch is most of what these tests cost: where many ranks of a host are to meet, it is imported once there.
ONCE = ("--preload", "torch")
OCCUPY = ("import socket, sys, time\n"
          "s = socket.create_server(('', 29500)); print('taken', flush=True); time.sleep(600)")
# As torch's tutorials do with multiprocessing.spawn.
SPAWN = """
import os, socket, torch, torch.distributed as dist
s = socket.create_server(("127.0.0.1", 0)); port = s.getsockname()[1]; s.close()
rank = 1 if os.fork() == 0 else 0
dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
t = torch.tensor([rank + 1.0]); dist.all_reduce(t); os.write(1, f"{t.item()}\\n".encode())
dist.barrier()
if rank == 0: os.wait()
"""
# Ranks that meet at rank 0's port, as torch's store has them where rank 0 opens it, but for those that never come.
MEET = """
import os, socket, time
place = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
if os.environ["RANK"] == "0":
    listener = socket.create_server(("", place[1]))
while os.environ["RANK"] not in os.environ["DAWDLERS"].split(","):
    try:
        connection = socket.create_connection(place)
        break
    except ConnectionRefusedError:
        time.sleep(0.01)
time.sleep(600)
"""
SHOW_PORT = "echo $MASTER_ADDR $MASTER_PORT; read line"


def torch(*steps):
    return [PYTHON, WORKER, *steps]


class OneHost(TestCase):
    watchdog_times = 4

    def assert_done(self, done, ranks, *steps):
        self.assert_status(done, 0)
        want = [f"done {step}" for step in steps]
        said = by_rank(done.stdout) if ranks > 1 else {0: done.stdout.splitlines()}
        self.assertEqual(said, {rank: want for rank in range(ranks)}, done)
        assert_says(self, done, never=TROUBLE)

    def test_ranks_1_2_8_by_environment_and_by_address(self):
        self.assert_done(sml_run("-np", "1", *torch("env")), 1, "env")  # opens a store of its own
        for ranks, how in ((2, ()), (8, ONCE)):
            with self.subTest(ranks=ranks):
                done = sml_run(OURS, *how, "-np", str(ranks), *torch("env", "api"))
                self.assert_done(done, ranks, "env", "api")
        for store in (("--no-torch-store",), (OURS,)):
            self.assert_done(sml_run(*store, "-np", "2", *torch("tcp")), 2, "tcp")

    def test_a_process_group_can_be_made_again(self):
        for store, ranks in (((), 1), ((OURS, *ONCE), 4)):
            self.assert_done(sml_run(*store, "-np", str(ranks), *torch("again")), ranks, "again")

    def test_one_program_after_another_makes_its_own_process_group(self):
        one_by_one = ["sh", "-ec", '"$@"; "$@"', "sh", *torch("env")]
        self.assert_done(sml_run(OURS, "-np", "2", *one_by_one), 2, "env", "env")

    def test_rank_0_may_leave_first_or_last(self):
        for step in ("rank0_first", "rank0_last"):
            self.assert_done(sml_run(OURS, *ONCE, "-np", "3", *torch(step)), 3, step)

    def test_the_options_decide_who_opens_the_store(self):
        self.assert_done(sml_run("--no-torch-store", "-np", "2", *torch("env")), 2, "env")
        show = ["-np", "2", "--no-tag", "sh", "-c", "echo $TORCHELASTIC_USE_AGENT_STORE"]
        for words, env, want in (((), {}, "True"), ((OURS,), {}, "True"), (("--no-torch-store",), {}, "False"),
                                 (("--no-torch-store",), {"SML_TORCH_STORE": "1"}, "False"),
                                 ((OURS,), {"SML_NO_TORCH_STORE": "1"}, "True")):
            self.assertEqual(sml_run(*words, *show, env=env).stdout, f"{want}\n" * 2, (words, env))

    def test_one_worker_is_served_where_that_is_asked_for(self):
        show = ["sh", "-c", "echo $TORCHELASTIC_USE_AGENT_STORE"]
        self.assertEqual(sml_run("-np", "1", *show).stdout, "False\n")
        self.assertEqual(sml_run(OURS, "-np", "1", *show).stdout, "True\n")
        link = self.temporary_directory() / "torchrun"
        os.symlink(SML_RUN, link)
        self.assertEqual(run([link, "--no-python", *show]).stdout, "True\n")
        client = ("import os, torch.distributed as dist; s = dist.TCPStore(os.environ['MASTER_ADDR'], "
                  "int(os.environ['MASTER_PORT']), is_master=False); s.set('a', 'b'); print(s.get('a'))")
        done = sml_run(OURS, "-np", "1", PYTHON, "-c", client)
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "b'b'\n")

    @gate
    def test_what_the_user_says_of_the_meeting_place_stands(self):
        show = ["sh", "-c", "echo $MASTER_ADDR $MASTER_PORT $TORCHELASTIC_USE_AGENT_STORE"]
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        for word, want in ((f"MASTER_PORT={port}", rf"127\.0\.0\.1 {port} False"),
                           ("MASTER_ADDR=127.0.0.2", r"127\.0\.0\.2 \d+ False"),
                           ("TORCHELASTIC_USE_AGENT_STORE=False", r"127\.0\.0\.1 \d+ False"),
                           ("USE_LIBUV=0", r"127\.0\.0\.1 \d+ False")):
            done = sml_run(OURS, "-np", "2", "-x", word, *show)
            self.assertRegex(done.stdout, rf"\A(\[\d\] {want}\n){{2}}\Z", (word, done))
        done = sml_run("-np", "2", "-x", "RANK=0", "sh", "-c", "echo $RANK")
        self.assertEqual(by_rank(done.stdout), {0: ["0"], 1: ["1"]})
        self.assertIn("warning: RANK is not set to the value of -x or --env-file: each rank has its own", done.stderr)

    def test_one_that_starts_the_others_meets_them_where_it_likes(self):
        done = sml_run("-np", "1", PYTHON, "-c", SPAWN)
        self.assert_status(done, 0)
        self.assertEqual(done.stdout.split(), ["3.0", "3.0"])

    def job_with_a_port(self, *options):
        job = sml_run_popen(*options, "-np", "2", "--stdin", "all", "sh", "-c", SHOW_PORT, stdin=-1)
        self.enterContext(job)
        text = job.read_until("\n").decode()
        return job, int(re.search(r"127\.0\.0\.1 (\d+)", text).group(1))

    @gate
    def test_garbage_disturbs_nobody_and_is_reported_once(self):
        job, port = self.job_with_a_port(OURS)
        for bytes_ in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x02\x00", b"\x01" + b"\xff" * 16,
                       b"\x03\x05\0\0\0\0\0\0\0ab"):  # the last one is half a request
            with socket.create_connection(("127.0.0.1", port), watchdog()) as s:
                s.sendall(bytes_)
                s.shutdown(socket.SHUT_WR)
                with contextlib.suppress(ConnectionResetError):
                    self.assertEqual(s.recv(1), b"")
        with socket.create_connection(("127.0.0.1", port), watchdog()):
            pass  # a caller who says nothing is no fault
        done = job.finish(input="\n")
        self.assert_status(done, 0)
        assert_says(self, done, r"torch's store closed a connection from 127\.0\.0\.1: there is no operation 71$",
                    "torch's store: 4 connections closed for what they sent$", never=TROUBLE + "|torch's store")

    @gate
    def test_the_store_works_while_others_dawdle(self):
        job, port = self.job_with_a_port(OURS)
        dawdlers = [self.enterContext(socket.create_connection(("127.0.0.1", port), watchdog())) for _ in range(200)]
        for s in dawdlers:
            s.sendall(b"\x03\x05")  # half of a length
        with socket.create_connection(("127.0.0.1", port), watchdog()) as s:
            s.sendall(b"\0\xce\xf7\x85\x3c\x0d\x01\x02\x03\x04")
            self.assertEqual(s.recv(4), b"\x01\x02\x03\x04")
        self.assert_status(job.finish(input="\n"), 0)

    @gate
    def test_the_port_is_not_to_be_had(self):
        job, port = self.job_with_a_port(OURS)
        with self.assertRaises(OSError):
            socket.create_server(("127.0.0.1", port))
        self.assert_status(job.finish(input="\n"), 0)
        job, port = self.job_with_a_port("--no-torch-store")
        socket.create_server(("127.0.0.1", port)).close()  # with SO_REUSEADDR, as every server does
        self.assert_status(job.finish(input="\n"), 0)

    def test_who_has_not_joined_is_named(self):
        limit = f"{scaled(3):g}"
        argv = ["-np", "4", "--join-warn", f"{limit}s", "-x", "DAWDLERS=1,3"]
        for words in (["--no-torch-store", *argv, PYTHON, "-c", MEET], [OURS, *ONCE, *argv, *torch("dawdle")]):
            with self.subTest(words[0]), sml_run_popen(*words) as job:
                # One of the others may be late on a slow machine, and is named then, too.
                self.assert_said(job, r"(ranks 1, 3 on localhost have .* \(2|ranks (0, 1, 3|1-3) on localhost have .* \(1) of 4 have; "
                                      r"--join-warn\)")
                self.assertIn(f"have not joined the process group after {limit} s (", self.said)
                job.terminate()
                self.assert_status(job.finish(), 143)

    def test_nobody_is_named_who_need_not_join(self):
        for argv in (["--join-warn", "100ms", "sleep", "0.5"],
                     ["--join-warn", "20ms", PYTHON, "-c", "import time; time.sleep(0.3)"]):
            assert_says(self, sml_run("-np", "2", *argv), never=TROUBLE + "|joined")

    def assert_said(self, job, pattern):
        os.set_blocking(job.stderr.fileno(), False)
        said = b""

        def heard():
            nonlocal said
            said += job.stderr.read() or b""
            return re.search(pattern.encode(), said)

        wait_until(heard, lambda: said)
        self.said = said.decode()
        os.set_blocking(job.stderr.fileno(), True)


class OwnAddress(TestCase):
    """Programs that name an address of their own, as torch's tutorials and examples do, run as under plain python."""
    watchdog_times = 3

    def link(self, name):
        link = pathlib.Path(self.temporary_directory()) / name
        os.symlink(SML_RUN, link)
        return link

    def free_port(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            return str(free.getsockname()[1])

    def assert_met(self, done, times=1):
        self.assert_status(done, 0)
        self.assertEqual(sorted(re.sub(r"^\[\d\](<stdout>:| )", "", line) for line in done.stdout.splitlines()),
                         sorted(["0 of 2: 3.0", "1 of 2: 3.0"] * times), done)
        assert_says(self, done, never=TROUBLE)

    def test_two_ranks_meet_where_they_say(self):
        for name in ("sml-run", "mpirun", "mpiexec.hydra", "horovodrun"):
            how = ("tcp", "variables", "rpc", "imagenet") if name == "sml-run" else ("tcp",)
            for step in how:
                with self.subTest(name=name, step=step):
                    done = run([self.link(name), "-np", "2", PYTHON, OWN_ADDRESS, step, self.free_port()])
                    self.assert_met(done)

    def test_one_that_starts_the_others_meets_them_where_it_likes(self):
        for step in ("spawn", "imagenet-spawn"):
            with self.subTest(step):
                self.assert_met(sml_run("-np", "1", PYTHON, OWN_ADDRESS, step, self.free_port()))

    def test_where_another_module_names_it_the_cause_of_the_hang_is_said(self):
        argv = ["-np", "2", "--join-warn", "3s", PYTHON, "-m", OWN_ADDRESS.stem, "tcp", self.free_port()]
        with sml_run_popen(*argv, cwd=OWN_ADDRESS.parent) as job:
            OneHost.assert_said(self, job, r"no worker has joined the process group after \d+ s; one that names an address "
                                           r"of its own .* --no-torch-store lets rank 0 open the store")
            job.terminate()
            self.assert_status(job.finish(), 143)

    def test_under_torchrun_which_has_a_store_the_cause_of_the_hang_is_said(self):
        argv = [self.link("torchrun"), "--nproc-per-node", "2", "--join-warn", "3s", OWN_ADDRESS, "tcp", self.free_port()]
        with popen(argv, env={"PYTHON_EXEC": PYTHON}) as job:
            OneHost.assert_said(self, job, r"no worker has joined the process group after \d+ s; one that names an address "
                                           r"of its own .* --no-torch-store lets rank 0 open the store")
            job.terminate()
            self.assert_status(job.finish(), 143)
        argv.insert(1, "--no-torch-store")
        self.assert_met(run(argv, env={"PYTHON_EXEC": PYTHON}))


class DryRun(TestCase):
    @gate
    def test_the_environment_of_a_rank(self):
        argv = [OURS, "--dry-run", "-H", "a:1,b:2", "-x", "A=1", "-x", "MY_TOKEN=x", "--show-env"]
        done = sml_run(*argv, "2", "true")
        self.assert_status(done, 0)
        shown = dict(line.split("=", 1) for line in done.stdout.splitlines())
        want = {"RANK": "2", "LOCAL_RANK": "1", "WORLD_SIZE": "3", "A": "1", "MY_TOKEN": "(hidden)",
                "MASTER_ADDR": "(known at the start)", "TORCHELASTIC_USE_AGENT_STORE": "True", "SML_HOST": "b"}
        self.assertEqual({k: shown.get(k) for k in want}, want)
        self.assertNotIn("PATH", shown)
        as_json = json.loads(sml_run(*argv, "2", "--format", "json", "true").stdout)
        job_id = {"SML_JOB_ID", "TORCHELASTIC_RUN_ID"}
        self.assertEqual({k: v for k, v in as_json.items() if k not in job_id},
                         {k: v for k, v in shown.items() if k not in job_id})

    def test_there_must_be_such_a_rank_and_a_dry_run(self):
        done = sml_run("--dry-run", "--show-env", "3", "-H", "a:1,b:2", "true")
        self.assertEqual((done.returncode, done.stderr),
                         (2, "sml-run: --show-env: there is no rank 3; the last is 2\n"))
        self.assert_status(sml_run("--show-env", "0", "true"), 2)


class FourHosts(TestCase):
    watchdog_times = 4

    @classmethod
    def setUpClass(cls):
        cls.bed = Testbed.shared(4)

    def assert_done(self, done, ranks, *steps):
        self.assert_status(done, 0)
        self.assertEqual(by_rank(done.stdout), {r: [f"done {s}" for s in steps] for r in range(ranks)}, done)

    def test_every_step_over_four_hosts(self):
        for start, how in (("algo-1", ()), ("head", ONCE)):  # rank 0's host is the launcher's, and another
            done = self.bed.sml_run(start, OURS, *how, "-H", self.bed.hosts(2), *torch("env", "api"))
            self.assert_done(done, 8, "env", "api")
            self.assert_done(self.bed.sml_run(start, "-H", self.bed.hosts(1), *torch("env")), 4, "env")
        done = self.bed.sml_run("algo-1", OURS, "-H", self.bed.hosts(1), *torch("tcp", "again"))
        self.assert_done(done, 4, "tcp", "again")

    def test_many_ranks_on_few_hosts(self):
        done = self.bed.sml_run("algo-1", *ONCE, "-H", self.bed.hosts(16), *torch("env"))
        self.assert_done(done, 64, "env")

    def test_rank_0_may_leave_first_or_last(self):
        for step in ("rank0_first", "rank0_last"):
            for start in ("algo-1", "head"):
                done = self.bed.sml_run(start, OURS, "-H", self.bed.hosts(1), *torch(step))
                self.assert_done(done, 4, step)

    def test_training_where_port_29500_is_taken_on_every_host(self):
        for host in self.bed.names():
            taken = self.bed.popen(host, [PYTHON, "-c", OCCUPY])
            self.enterContext(taken)
            taken.read_until("taken")
        done = self.bed.sml_run("algo-1", "-np", "8", "-H", self.bed.hosts(2), PYTHON, TRAIN_DDP, "--epochs", "1",
                                "--points", "512")
        self.assert_status(done, 0)
        self.assertIn("equal parameters on 8 ranks", done.stdout)

    def test_two_jobs_at_once_on_the_same_hosts(self):
        argv = [*ONCE, "-np", "8", "-H", self.bed.hosts(2), *torch("env")]
        with self.bed.sml_run_popen("algo-1", *argv) as one, self.bed.sml_run_popen("algo-1", *argv) as two:
            for job in (one, two):
                self.assert_done(job.finish(), 8, "env")

    @gate
    def test_a_caller_who_is_no_host_of_the_job_is_refused(self):
        argv = [OURS, "-H", self.bed.hosts(1, ["algo-1", "algo-2"]), "--stdin", "all", "sh", "-c", SHOW_PORT]
        with self.bed.sml_run_popen("algo-1", *argv, stdin=-1) as job:
            address, port = re.search(r"\] (\S+) (\d+)", job.read_until("\n").decode()).groups()
            call = f"import socket; s = socket.create_connection(('{address}', {port})); s.sendall(b'\\x06'); print(len(s.recv(9)))"
            refused = self.bed.exec("algo-4", [PYTHON, "-c", call])
            self.assertTrue("ConnectionReset" in refused.stderr or refused.stdout == "0\n", refused)
            ping = call.replace("\\x06", "\\0\\xce\\xf7\\x85\\x3c\\x0d1234").replace("recv(9)", "recv(4)")
            for host in ("algo-1", "algo-2"):
                self.assertEqual(self.bed.exec(host, [PYTHON, "-c", ping]).stdout, "4\n")
            done = job.finish(input="\n")
        self.assert_status(done, 0)
        other = re.escape(self.bed.address("algo-4"))
        assert_says(self, done, f"torch's store refused a connection from {other}: which is no host of this job")

    def test_who_has_not_joined_is_named_by_host(self):
        limit = f"{scaled(5):g}"
        argv = ["-H", self.bed.hosts(2), "--join-warn", f"{limit}s", "-x", "DAWDLERS=3,6,7"]
        for words in (["--no-torch-store", *argv, PYTHON, "-c", MEET], [OURS, *ONCE, *argv, *torch("dawdle")]):
            with self.subTest(words[0]), self.bed.sml_run_popen("head", *words) as job:
                OneHost.assert_said(self, job, r"rank 3 on algo-2, ranks 6, 7 on algo-4 have .* \(5 of 8 have; --join-warn\)|"
                                               r"(rank 3|ranks 2, 3) on algo-2, .*ranks 6, 7 on algo-4 have .* \([1-4] of 8 have; ")
                self.assertIn(f"have not joined the process group after {limit} s (", self.said)
                job.terminate()
                self.assert_status(job.finish(), 143)

    @gate
    def test_when_the_job_is_stopped_the_store_goes_too(self):
        events = pathlib.Path("/run/sml-testbed", self.bed.name, "shared", "events")
        self.addCleanup(events.unlink, missing_ok=True)
        script = f"case $RANK in 0) exit 0;; 3) until grep -q rank_exit {events}; do sleep 0.05; done; exit 5;; esac; sleep 600"
        done = self.bed.sml_run("algo-1", OURS, "--events", events, "-H", self.bed.hosts(1), "sh", "-c", script)
        self.assert_status(done, 5)
        self.assertEqual(self.bed.ps(), [])
