"""torch as it is now, on one machine and on three hosts: its own examples, started by the lines of its documentation."""
import json

from frameworks import PYTHON, FrameworkCase, script
from harness import scaled


class Torch(FrameworkCase):
    def both(self, name, line, env=None, options=()):
        """On two ranks here, and on one of each of three hosts."""
        self.assert_said(self.here("torchrun", "--standalone", "--nproc-per-node=2", script(name), env=env), line, 2)
        exports = [word for key, value in (env or {}).items() for word in ("-x", f"{key}={value}")]
        done = self.on_hosts("sml-run", *options, "-H", self.bed.hosts(1), *exports, PYTHON, script(name))
        self.assert_said(done, line, 3)
        return done

    def test_ddp(self):
        done = self.both("torch_ddp.py", "trained by rank {} of ")
        self.assertEqual(done.stdout.count("True"), 3, done)

    def test_fsdp2(self):
        self.both("torch_fsdp.py", "sharded on rank {} of ")

    def test_rpc(self):
        self.both("torch_rpc.py", "called from rank {} of ")

    def test_monitored_barrier(self):
        self.both("torch_barrier.py", "past the barrier: rank {}")

    def test_monitored_barrier_names_who_stays_away(self):
        done = self.on_hosts("sml-run", "-H", self.bed.hosts(1), "-x", "STAYS_AWAY=1", PYTHON, script("torch_barrier.py"))
        # Rank 2 hears of it from rank 0, and may be the first to end.
        self.assert_failed(done, 1, r"sml-run: rank [02] on algo-[13] exited with status 1",
                           r"Ranks 1 failed to pass monitoredBarrier")

    def test_stores_with_libuv_and_without(self):
        line = "met at every store: rank {}"
        self.both("torch_stores.py", line, options=("--torch-store",))
        for backend in ("0", "1"):
            done = self.here("sml-run", "--torch-store", "-np", "2", "-x", f"USE_LIBUV={backend}", PYTHON, script("torch_stores.py"))
            self.assert_said(done, line, 2)

    def test_a_failing_rank(self):
        fails = {"FAILS": "1"}
        done = self.here("torchrun", "--standalone", "--nproc-per-node=2", script("torch_ddp.py"), env=fails)
        self.assert_failed(done, 7, "sml-run: rank 1 on localhost exited with status 7")
        done = self.on_hosts("sml-run", "-H", self.bed.hosts(1), "-x", "FAILS=2", PYTHON, script("torch_ddp.py"))
        self.assert_failed(done, 7, "sml-run: rank 2 on algo-3 exited with status 7")


class Torchrun(FrameworkCase):
    """torch.distributed.run, the real one, as the program of a job: one on each host."""

    RUN = f"{PYTHON} -m torch.distributed.run --nproc-per-node=1 "
    LINE = "trained by rank {} of "

    def inside(self, options, tail=""):
        return self.on_hosts("sml-run", "-H", self.bed.hosts(1), "sh", "-c",
                             f"exec {self.RUN} {options} {script('torch_ddp.py')} {tail}")

    def test_alone_on_this_machine(self):
        done = self.here("sml-run", "-np", "1", PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2",
                         script("torch_ddp.py"))
        self.assert_said(done, self.LINE, 2)

    def test_static_rendezvous(self):
        done = self.inside("--nnodes=3 --node-rank=$RANK --master-addr=$MASTER_ADDR --master-port=29500")
        self.assert_said(done, self.LINE, 3)

    def test_static_rendezvous_at_the_place_of_the_job(self):
        done = self.inside("--nnodes=3 --node-rank=$RANK --master-addr=$MASTER_ADDR --master-port=$MASTER_PORT")
        self.assert_said(done, self.LINE, 3)

    def test_c10d_rendezvous(self):
        done = self.inside("--nnodes=3 --rdzv-backend=c10d --rdzv-id=job --rdzv-endpoint=$MASTER_ADDR:29500")
        self.assert_said(done, self.LINE, 3)

    def test_a_failing_rank(self):
        done = self.on_hosts("sml-run", "-H", self.bed.hosts(1), "-x", "FAILS=2", "sh", "-c",
                             f"exec {self.RUN} --nnodes=3 --node-rank=$RANK --master-addr=$MASTER_ADDR --master-port=29500 "
                             f"{script('torch_ddp.py')}")
        self.assert_failed(done, 1, r"sml-run: rank \d on algo-\d exited with status 1", r"exitcode  : 7")


class Preloaded(FrameworkCase):
    """Workers that are forks of a process which has imported torch."""

    def test_restart(self):
        line = "rank {} in attempt 2: there before True, threads 2, own numbers True"
        for modules, done in (
            ("torch", self.here("sml-run", "-np", "2", "-x", "OMP_NUM_THREADS=2", "--max-restarts", "1", "--restart-delay", "0:0",
                                "--preload", "torch", PYTHON, script("torch_restart.py"))),
            # numpy's OpenBLAS has threads of its own, which it ends before each fork.
            ("numpy,torch", self.on_hosts("sml-run", "-H", self.bed.hosts(1), "-x", "OMP_NUM_THREADS=2", "--max-restarts", "1",
                                          "--restart-delay", "0:0", "--preload", "numpy,torch", PYTHON, script("torch_restart.py")))):
            self.assertNotIn("without it", done.stderr, modules)
            self.assert_said(done, line, 2 if modules == "torch" else 3)

    def test_other_scripts(self):
        for name, line in (("torch_fsdp.py", "sharded on rank {} of "), ("torch_rpc.py", "called from rank {} of ")):
            done = self.here("sml-run", "-np", "2", "--preload", "torch,torch.distributed.rpc", PYTHON, script(name))
            self.assertNotIn("without it", done.stderr)
            self.assert_said(done, line, 2)


class Hangs(FrameworkCase):
    def test_torch_tells_where_it_is_and_what_it_has_recorded(self):
        """One that stays away from a collective is named with its frame, and has recorded one collective less."""
        reports = self.temporary_directory() / "reports"
        done = self.here("sml-run", "-np", "2", "--hang-report", reports, "--watch", f"step;every={scaled(3)}s", PYTHON,
                         script("torch_hangs.py"))
        self.assert_failed(done, 123, r"1 +localhost .* hold_up \(torch_hangs", r"0 +localhost .* all_reduce \(distributed",
                           r"rank 1:\n.* hold_up \(torch_hangs.py:\d+\)\n",
                           r"rank 0:\n.* all_reduce \(distributed_c10d.py:\d+\)\n")
        recorded = [json.loads((reports / "1" / f"torch_trace_rank_{rank}.json").read_text()) for rank in (0, 1)]
        names = [[entry["profiling_name"] for entry in one["entries"]] for one in recorded]
        self.assertEqual(names, [["gloo:all_reduce"] * 2, ["gloo:all_reduce"]])
