"""Each kind of failure at the first, a middle and the last rank, in the first and in the second attempt: training goes on,
and ends with the loss that it would have had."""
import pathlib
import re
import shutil

from harness import PYTHON, HostsCase, scaled
from jobs import heartbeat, sh
from test_links import reset

WORKER = pathlib.Path(__file__).resolve().parent / "failing_worker.py"
STEPS = 8
# (rank in the first attempt, rank in the second): all six cases
PAIRS = ((0, 1), (1, 2), (2, 0))
# Where the job goes on as if nothing had been, alone and after another failure.
ALONE = (*[((1, rank),) for rank in range(3)], *[((1, (rank + 1) % 3), (2, rank)) for rank in range(3)])


def when_silent():
    """Longer than imports take where much else runs."""
    return ["--warn-silent", f"{scaled(5):.1f}s", "--on-silent", "restart"]


def losses(done):
    return re.findall(r"^loss (.*)$", done.stdout, re.M)


class Failures(HostsCase):
    hosts = 7  # three with a rank each, and spares
    watchdog_times = 5
    loss = None

    def setUp(self):
        super().setUp()
        self.shared = pathlib.Path("/run/sml-testbed", self.bed.name, "shared")
        self.addCleanup(lambda: shutil.rmtree(self.shared / "training", ignore_errors=True))

    def folder(self):
        folder = self.shared / "training"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder

    def start(self, faults, *options, hosts=3):
        """From a host that has no rank."""
        words = ",".join(f"{attempt}:{rank}:{kind}" for attempt, rank, kind in faults)
        self.at = self.folder()
        names = ",".join(self.bed.names()[:hosts])
        return self.bed.sml_run_popen("head", "--max-restarts", "3", "--restart-delay", "0s:0s", "--max-fruitless", "0",
                                      "--preload", "torch,torch.distributed", *heartbeat(2)[0], *options, "-H",
                                      names, "--no-tag", PYTHON, WORKER, self.at, str(STEPS), words)

    def ends_well(self, done, attempts):
        """`attempts`: how many there were, or a pattern."""
        self.assert_status(done, 0)
        if Failures.loss is None:
            with self.start([]) as job:
                Failures.loss = losses(job.finish())
        self.assertEqual(losses(done), Failures.loss)
        self.assertEqual(len(losses(done)), 1)
        if attempts != 1:
            self.assertRegex(done.stderr, f"the job succeeded in attempt {attempts}, after:")
        else:
            self.assertNotIn("the job succeeded in attempt", done.stderr)

    # ---- what a rank does to itself

    def in_ranks(self, kind, said, *options):
        """`said` of each: {n} its attempt, {rank}, {host}."""
        for pair in PAIRS:
            with self.subTest(kind=kind, ranks=pair):
                faults = [(n + 1, rank, kind) for n, rank in enumerate(pair)]
                with self.start(faults, *options) as job:
                    done = job.finish()
                self.ends_well(done, 3)
                for n, rank, _ in faults:
                    self.assertRegex(done.stderr, said.format(n=n, rank=rank, host=f"algo-{rank + 1}"))

    def test_an_import_that_fails(self):
        self.in_ranks("import", "attempt {n}: rank {rank} on {host} exited with status 1")

    def test_an_exit_after_some_steps(self):
        self.in_ranks("exit", "attempt {n}: rank {rank} on {host} exited with status 5")

    def test_a_segmentation_fault(self):
        self.in_ranks("segv", "attempt {n}: rank {rank} on {host} was killed by SIGSEGV")

    def test_killed(self):
        self.in_ranks("kill", "attempt {n}: rank {rank} on {host} was killed by SIGKILL")

    def test_out_of_memory(self):
        self.addCleanup(lambda: [group.rmdir() for top in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup")
                                 for group in pathlib.Path(top).glob("failing-worker-*")])
        self.in_ranks("oom", "attempt {n}: rank {rank} on {host} was killed by SIGKILL")

    def test_stopped(self):
        self.in_ranks("stop", r"{rank} +{host} +stopped", *when_silent())

    def test_a_loop_that_never_ends(self):
        self.in_ranks("busy", r"{rank} +{host} +running", *when_silent())

    def test_a_deadlock_of_one(self):
        self.in_ranks("deadlock", r"line \d+ in deadlock", *when_silent())

    def test_a_full_disk(self):
        self.in_ranks("disk", "attempt {n}: rank {rank} on {host} exited with status 1")

    def test_a_process_that_holds_a_port_is_left(self):
        self.in_ranks("port", "attempt {n}: rank {rank} on {host} exited with status 3")

    def test_notice_of_preemption_for_one_process(self):
        self.in_ranks("notice", "attempt {n}: rank {rank} on {host} was killed by SIGTERM")

    def test_a_slow_rank_stops_nothing(self):
        for places in ALONE:
            with self.subTest(places=places):
                with self.start([*[(n, rank, "exit") for n, rank in places[:-1]], (*places[-1], "slow")], *when_silent()) as job:
                    done = job.finish()
                self.ends_well(done, len(places))

    # ---- what becomes of a host

    def await_word(self, job, rank):
        """Until that rank waits for what becomes of its host; what is printed, and the attempt's number."""
        text = ""
        while not (word := re.search(rf"^now (\d+) {rank}$", text, re.M)):
            text += job.read_until("\n").decode()
        return text, int(word[1])

    def on_hosts(self, deed, *options, spares=("algo-4", "algo-5"), hosts=5, second=(2,), attempts=3, with_it=lambda *_: []):
        """`deed` is done to the host of a rank in the first attempt, and to that of another in one of the attempts `second`,
        each time to those that go `with_it`, too; the next of `spares` has its ranks then. After so many `attempts`, a number
        or a pattern, all is well."""
        for pair in PAIRS:
            with self.subTest(ranks=pair):
                names, left, text, lost = ["algo-1", "algo-2", "algo-3"], list(spares), "", []
                faults = [(1, pair[0], "host"), *[(n, pair[1], "host") for n in second]]
                with self.start(faults, "--spares", str(hosts - 3), *options, hosts=hosts) as job:
                    try:
                        for rank in pair:
                            said, now = self.await_word(job, rank)
                            text += said
                            victims = [names[rank], *with_it(names[rank], names)]
                            lost += victims
                            deed(*victims)
                            names = [left.pop(0) if name in victims else name for name in names]
                        for n in range(now + 1, 6):
                            (self.at / f"go.{n}").touch()
                        done = job.finish()
                    finally:
                        self.mend(lost)
                done.stdout = text + done.stdout
                self.ends_well(done, attempts)
                for host in lost:
                    self.assertRegex(done.stderr, f"takes the place of {host},|the spare host {host} is out")

    def mend(self, hosts):
        self.bed.thaw(*hosts)
        self.bed.start(*hosts)
        for host in self.bed.names():
            sh(self.bed, host, "rm -f /run/ill; umount /run/logs 2>/dev/null; rm -rf /run/logs")

    def test_a_host_without_power(self):
        self.on_hosts(self.bed.kill)

    def test_a_host_that_is_frozen(self):
        self.on_hosts(self.bed.freeze)

    def test_an_agent_that_is_killed(self):
        self.on_hosts(lambda host: sh(self.bed, host, "pkill -KILL -x sml-run-agent"))

    def test_more_than_half_of_the_hosts_lost(self):
        def another(host, names):
            return [next(name for name in names if name != host)]

        self.on_hosts(self.bed.kill, spares=("algo-4", "algo-5", "algo-6", "algo-7"), hosts=7,
                      with_it=another)

    def test_a_spare_that_is_not_there(self):
        # It may be found when it is to take a place: then that attempt starts nothing.
        gone = iter(("algo-4", "algo-6") * 3)
        self.on_hosts(self.bed.kill, spares=("algo-5", "algo-7"), hosts=7, second=(2, 3), attempts="[345]",
                      with_it=lambda *_: [next(gone)])

    def test_a_spare_that_is_not_well(self):
        def lose(host, spare):
            sh(self.bed, spare, "touch /run/ill")
            self.bed.kill(host)

        ill = iter(("algo-4", "algo-6") * 3)
        # Found when it is to take a place: that attempt starts nothing.
        self.on_hosts(lose, "--health-check", "test ! -e /run/ill", second=(3,), attempts=5, spares=("algo-5", "algo-7"), hosts=7,
                      with_it=lambda *_: [next(ill)])

    def test_a_log_folder_that_cannot_be_written(self):
        def lose(host):
            sh(self.bed, host, "mount -t tmpfs -o ro none /run/logs; pkill -KILL -f '[f]ailing_worker.py'")

        self.on_hosts(lose, "--log-dir", "/run/logs", "--log-on-host", "--log-overwrite", second=(3,), attempts=5)

    def test_a_connection_that_is_cut_stops_nothing(self):
        for places in ALONE:
            with self.subTest(places=places):
                with self.start([*[(n, rank, "exit") for n, rank in places[:-1]], (*places[-1], "host")]) as job:
                    text, _ = self.await_word(job, places[-1][1])
                    reset(self.bed, f"algo-{places[-1][1] + 1}")
                    (self.at / f"go.{places[-1][0]}").touch()
                    done = job.finish()
                done.stdout = text + done.stdout
                self.ends_well(done, len(places))

    # ---- the launcher

    def stopped_at(self, event, status):
        for pair in PAIRS:
            for n in (1, 2):
                with self.subTest(ranks=pair, attempt=n):
                    with self.start([(n + 1, rank, "exit") for n, rank in enumerate(pair)], "--events", "/dev/stderr") as job:
                        text = b""
                        while text.count(f'"event":"{event}"'.encode()) < n:
                            text += job.stderr.readline() or self.fail(text)
                        job.terminate()
                        done = job.finish()
                    self.assert_status(done, status)
                    self.assertEqual((text.decode() + done.stderr).count('"event":"restart"'), n - (event == "stop"))
                    self.assertIn("SIGTERM", done.stderr)
                    self.bed.assert_clean()

    def test_term_while_the_others_are_stopped(self):
        """There is no other attempt; the status is that of the rank which has failed."""
        self.stopped_at("stop", 5)

    def test_term_while_the_next_attempt_starts(self):
        self.stopped_at("restart", 143)
