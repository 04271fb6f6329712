"""torchrun --nnodes MIN:MAX on every host: who comes makes the job, and it goes on without hosts that are lost."""
import signal

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
    scripts = {"show.py": SHOW, "waits.py": WAITS, "enough.py": ENOUGH, "told.py": TOLD}

    def torchrun(self, name, *options, nnodes="2:4", last_call=2, **kw):
        return super().torchrun(name, f"--rdzv-conf=last_call_timeout={last_call}", *options, nnodes=nnodes, **kw)

    def tell(self, host, what):
        self.bed.put(host, f"/run/{what}", "")
        self.addCleanup(self.bed.path(host, f"/run/{what}").unlink)

    def await_said(self, process, text):
        said = bytearray()

        def look():
            said.extend(process.errors_so_far())
            return text.encode() in said
        wait_until(look, lambda: said.decode())

    def workers(self, host):
        return [p for p in self.bed.ps(host) if p["cmd"].endswith(".py") and "torchrun" not in p["cmd"]]

    def await_workers(self, host):
        wait_until(lambda: len(self.workers(host)) >= 2)

    def test_those_that_have_come_at_the_last_call_make_the_job(self):
        seconds = int(scaled(4))
        others = [self.torchrun(name, last_call=seconds) for name in ("algo-4", "algo-1")]
        for name in ("algo-4", "algo-1"):
            wait_until(lambda name=name: self.calls(name, "torchrun"))
        done = self.ends([self.torchrun("algo-2", last_call=seconds), *others], 0)
        self.assertEqual(self.said(done[0]), ["0 0 6 0 algo-2", "0 1 6 0 algo-2", "1 2 6 0 algo-1", "1 3 6 0 algo-1",
                                              "2 4 6 0 algo-4", "2 5 6 0 algo-4"])
        self.assertIn("1 to 3 others are to call its port", done[0].stderr)
        self.assertIn(f"2 hosts are here, which will do; 2 more may come for {seconds} s (--last-call)", done[0].stderr)
        self.assertIn("this is host-2 of 3 hosts", done[1].stderr)

    def test_two_on_one_host_find_each_other(self):
        for nnodes in ("1:2", "2"):
            done = self.ends([self.torchrun("algo-2", nnodes=nnodes, last_call=600) for _ in range(2)], 0)
            self.assertEqual(sorted(done[0].stdout.splitlines() + done[1].stdout.splitlines()),
                             ["0 0 4 0 algo-2", "0 1 4 0 algo-2", "1 2 4 0 algo-2", "1 3 4 0 algo-2"])
            self.assertIn("is taken on this host: the head is there, and is called", done[0].stderr + done[1].stderr)

    @gate
    def test_nobody_is_waited_for_when_all_are_there(self):
        done = self.ends([self.torchrun(name, last_call=600) for name in self.bed.names()], 0)
        self.assertEqual(len(self.said(done[1])), 8)

    def test_one_host_may_do(self):
        done = self.torchrun("algo-2", nnodes="1:4", last_call=0).finish()
        self.assert_status(done, 0)
        self.assertEqual(self.said(done), ["0 0 2 0 algo-2", "0 1 2 0 algo-2"])

    def test_unmodified_training(self):
        program = (TRAIN_DDP, "--epochs", "1", "--points", "512")
        done = self.ends([self.torchrun(name, nnodes="2:3", last_call=600, program=program)
                          for name in ("algo-1", "algo-2", "algo-3")], 0)
        self.assertIn("equal parameters on 6 ranks", done[1].stdout)

    def test_too_few_end_with_a_reason_everywhere(self):
        seconds = int(scaled(4))
        other = self.torchrun("algo-1", "--rdzv-conf=join_timeout=3600", nnodes="3:4")
        wait_until(lambda: self.calls("algo-1", "torchrun"))
        head, other = self.ends([self.torchrun("algo-2", f"--rdzv-conf=join_timeout={seconds}", nnodes="3:4"), other], 125)
        why = f"after {seconds} s there are 2 hosts, fewer than the 3 that the job needs"
        self.assertIn(why, head.stderr)
        self.assertIn("the job has ended: " + why, other.stderr)

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
    def test_a_stop_while_hosts_are_waited_for_ends_all(self):
        head, other = self.torchrun("algo-2", last_call=600), self.torchrun("algo-1", last_call=600)
        self.await_said(head, "2 hosts are here, which will do")
        head.send_signal(signal.SIGINT)
        head, other = self.ends([head, other], 130)
        self.assertIn("stopped by SIGINT before the job had begun", head.stderr)
        self.assertIn("the job has ended: stopped by SIGINT before the job had begun", other.stderr)

    def test_one_that_comes_later_is_told_so(self):
        jobs = [self.torchrun(name, last_call=0, program=("/run/waits.py",)) for name in ("algo-2", "algo-1")]
        self.await_workers("algo-1")
        late = self.torchrun("algo-3", program=("/run/waits.py",)).finish()
        self.assert_status(late, 125)
        self.assertIn("the head turns this host away: the job has 2 hosts, and all of them are here", late.stderr)
        jobs[0].terminate()
        self.ends(jobs, 143)

    def test_another_range_is_refused(self):
        head = self.torchrun("algo-2", nnodes="2:4")
        other = self.torchrun("algo-1", nnodes="1:4").finish()
        self.assert_status(other, 125)
        self.assertIn('it has "1:4" for the number of hosts, and the head "2:4"', other.stderr)
        head.terminate()
        self.assert_status(head.finish(), 143)

    def test_each_host_has_the_same_workers(self):
        done = self.torchrun("algo-3", "--map-by", "node").finish()
        self.assert_status(done, 2)
        self.assertIn("--nnodes 2:4: each host has the workers of --nproc-per-node; --np, --npernode, --map-by and --rankfile "
                      "cannot be given with it", done.stderr)

    def test_places_are_not_given_by_the_line(self):
        done = self.torchrun("algo-3", "--node-rank=2").finish()
        self.assert_status(done, 2)
        self.assertIn("--node-rank: where the number of hosts may vary they have their places as they come; leave it out",
                      done.stderr)

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
        def start(name):
            return self.torchrun(name, "--max-restarts=1", last_call=600, nnodes="2:3", program=("/run/enough.py",))
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

    def test_a_check_takes_part_in_the_same_way(self):
        done = self.ends([self.torchrun(name, "--check", last_call=1) for name in ("algo-2", "algo-1")], 0)
        self.assertIn("the job would start", done[0].stderr)
