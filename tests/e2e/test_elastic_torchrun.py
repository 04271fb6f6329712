"""torchrun --nnodes MIN:MAX on every host: who comes makes the job, and it goes on without hosts that are lost."""

from harness import SML_RUN, TRAIN_DDP, gate, scaled, wait_until
from test_dial_in import PATH, SECRET, Torchrun

SHOW = "import os; print(*(os.environ[n] for n in ('GROUP_RANK', 'RANK', 'WORLD_SIZE', 'TORCHELASTIC_RESTART_COUNT')), " \
       "os.uname().nodename, flush=True)\n"
ENOUGH = SHOW + "import time\nif os.environ['WORLD_SIZE'] != '6' or os.environ['SML_ATTEMPT'] == '1': time.sleep(600)\n"
TOLD = SHOW + """import sys, time
while not os.path.exists('/run/end'):
    time.sleep(0.01)
    if os.path.exists('/run/unwell'): sys.exit(9)
"""
WAITS = SHOW + "import time\nif os.environ['SML_ATTEMPT'] == '1': time.sleep(600)\n"


class Range(Torchrun):
    hosts = 4
    scripts = {"waits.py": WAITS, "enough.py": ENOUGH, "told.py": TOLD}

    def torchrun(self, name, *options, nnodes="2:4", last_call=2, **kw):
        return super().torchrun(name, f"--rdzv-conf=last_call_timeout={last_call}", *options, nnodes=nnodes, **kw)

    def tell(self, host, what):
        self.bed.put(host, f"/run/{what}", "")
        self.addCleanup(self.bed.path(host, f"/run/{what}").unlink)

    def workers(self, host):
        return [p for p in self.bed.ps(host) if p["cmd"].endswith(".py") and "torchrun" not in p["cmd"]]

    def await_workers(self, host):
        wait_until(lambda: len(self.workers(host)) >= 2)

    def test_unmodified_training(self):
        program = (TRAIN_DDP, "--epochs", "1", "--points", "512")
        done = self.ends([self.torchrun(name, nnodes="2:3", last_call=600, program=program)
                          for name in ("algo-1", "algo-2", "algo-3")], 0)
        self.assertIn("equal parameters on 6 ranks", done[1].stdout)

    @gate
    def test_a_lost_host_is_left_behind(self):
        jobs = [self.torchrun(name, "--max-restarts=2", nnodes="2:3", last_call=600, program=("/run/waits.py",),
                              env={"SML_HEARTBEAT_TIMEOUT": f"{scaled(2)}s"}) for name in ("algo-2", "algo-1", "algo-3")]
        self.await_workers("algo-1")
        jobs[1].kill()
        head, gone, other = [job.finish() for job in jobs]
        self.assert_status(head, 0)
        self.assert_status(other, 0)
        self.assertEqual([row for row in self.said(head) if row.split()[3] == "1"],
                         ["0 0 4 1 algo-2", "0 1 4 1 algo-2", "1 2 4 1 algo-3", "1 3 4 1 algo-3"])
        self.assertIn("the job goes on with 4 ranks on 2 hosts, without host-1", head.stderr)

    @gate
    def test_one_that_comes_later_is_let_in_by_a_restart_that_counts_for_nothing(self):
        def start(name):
            return self.torchrun(name, "--max-restarts=1", last_call=0, nnodes="2:3", program=("/run/waits.py",))
        jobs = [start(name) for name in ("algo-2", "algo-1")]
        self.await_workers("algo-1")
        jobs.append(start("algo-3"))
        head, _, late = self.ends(jobs, 0)
        self.assertIn("host-2 has called", head.stderr)
        self.assertIn("this is host-2 of 3 hosts", late.stderr)
        self.assertEqual([row for row in self.said(head) if row.split()[2] == "6"],
                         [f"{rank // 2} {rank} 6 0 {name}" for rank, name in enumerate(("algo-2",) * 2 + ("algo-1",) * 2 + ("algo-3",) * 2)])

    def test_one_that_is_lost_may_come_again(self):
        """It has called before the next attempt begins, which could do without it."""
        def start(name):
            return self.torchrun(name, "--max-restarts=1", f"--restart-delay={scaled(15)}s:{scaled(15)}s", last_call=600, nnodes="2:3",
                                 program=("/run/enough.py",))
        jobs = [start(name) for name in ("algo-2", "algo-1", "algo-3")]
        self.await_workers("algo-1")
        jobs[1].kill()
        jobs[1].finish()
        jobs[1] = start("algo-1")
        head, again, _ = self.ends(jobs, 0)
        self.assertIn("host-3 takes the place of host-1, with its 2 ranks", head.stderr)
        self.assertIn("this is host-3 of 4 hosts", again.stderr)
        last = max(row.split()[3] for row in self.said(head))
        self.assertEqual([row for row in self.said(head) if row.split()[3] == last],
                         [f"{rank // 2} {rank} 6 {last} {name}"
                          for rank, name in enumerate(("algo-2",) * 2 + ("algo-1",) * 2 + ("algo-3",) * 2)])

    def test_one_that_is_not_well_makes_room(self):
        def start(name):
            return self.torchrun(name, "--max-restarts=1", "--health-check=test ! -e /run/unwell", last_call=0, nnodes="1:2",
                                 program=("/run/told.py",))
        jobs = [start("algo-2")]
        self.await_workers("algo-2")
        jobs.append(start("algo-1"))
        self.await_workers("algo-1")
        self.tell("algo-1", "unwell")
        wait_until(lambda: not self.workers("algo-1"))
        jobs.append(start("algo-3"))
        self.await_workers("algo-3")
        self.tell("algo-2", "end")
        self.tell("algo-3", "end")
        head, _, late = self.ends(jobs, 0)
        self.assertIn("this is host-2 of 3 hosts", late.stderr)
        self.assertEqual([row.split()[:3] for row in self.said(head) if "algo-3" in row], [["1", "2", "4"], ["1", "3", "4"]])

    @gate
    def test_the_pods_of_a_pytorchjob(self):
        """The operator says all by variables; under our own name too."""
        env = {"PET_NNODES": "1:3", "PET_RDZV_BACKEND": "c10d", "PET_RDZV_ENDPOINT": f"algo-2:{self.port}",
               "PET_NPROC_PER_NODE": "3", "PET_MAX_RESTARTS": "3", "PET_RDZV_CONF": "last_call_timeout=0", "PATH": PATH,
               "HOME": "/nonexistent", "SML_JOB_SECRET": SECRET}

        def start(name, program, words):
            return self.enterContext(self.bed.sml_run_popen(name, *words, binary_path=program, env=env))
        for line in (("/run/torchrun", ["/run/enough.py"]),
                     (SML_RUN, ["--last-call", "0s", "--no-tag", "python3", "/run/enough.py"])):
            with self.subTest(line[0]):
                head = start("algo-2", *line)
                self.await_workers("algo-2")
                head, late = self.ends([head, start("algo-3", *line)], 0)
                self.assertEqual([row for row in self.said(head) if row.split()[2] == "6"],
                                 [f"{rank // 3} {rank} 6 0 {name}" for rank, name in enumerate(("algo-2",) * 3 + ("algo-3",) * 3)])
