"""Workers of hvd.elastic that go on without others, and with others; see elastic_worker.py. Horovod itself is run by
tests/frameworks/by_hand/horovod."""
import pathlib

import schemas
from harness import PYTHON, SML_RUN, HostsCase, gate, scaled
from jobs import TROUBLE, assert_says, by_rank, events_in, wait_for_event

WORKER = [PYTHON, pathlib.Path(__file__).parent / "elastic_worker.py"]
OURS = ["--max-restarts", "9", "--max-fruitless", "0", "--exclude-after", "1", "--elastic", "horovod"]


class Elastic(HostsCase):
    hosts = 3

    def job(self, hosts, least, *words, options=OURS):
        return self.bed.sml_run("algo-1", *options, "--min-np", least, "-H", hosts, *WORKER, *words)

    @gate
    def test_those_that_survive_keep_what_they_have(self):
        done = self.job("algo-1:1,algo-2:1,algo-3:1", "2", "10", "algo-2:0:4:3")
        self.assert_status(done, 0)
        total = 4 * 3 + 6 * 2  # anew it would be 20
        self.assertEqual(by_rank(done.stdout), {0: [f"as 0 2 0 1 0 2 total {total}"], 2: [f"as 1 2 0 1 1 2 total {total}"]})
        assert_says(self, done, r"^rank 1 on algo-2 exited with status 3; the others may go on without it \(hvd.elastic\)$",
                    "^algo-2 is out; 2 workers go on with what its state has committed in memory: reset 1$", never=TROUBLE)

    def test_so_do_they_without_the_host_of_the_store_and_again(self):
        done = self.job("algo-1:1,algo-2:1,algo-3:1", "1", "10", "algo-1:0:3:3", "algo-2:0:6:4")
        self.assert_status(done, 0)
        self.assertEqual(by_rank(done.stdout), {2: [f"as 0 1 0 1 0 1 total {3 * 3 + 3 * 2 + 4}"]})

    def test_others_on_the_host_of_one_that_failed_are_ended(self):
        done = self.job("algo-1:1,algo-2:2,algo-3:2", "3", "10", "algo-2:1:4:3")
        self.assert_status(done, 0)
        total = 4 * 5 + 6 * 3
        self.assertEqual(by_rank(done.stdout), {0: [f"as 0 3 0 1 0 2 total {total}"], 3: [f"as 1 3 0 2 1 2 total {total}"],
                                                4: [f"as 2 3 1 2 0 1 total {total}"]})

    @gate
    def test_too_few_survive(self):
        done = self.job("algo-1:1,algo-2:1,algo-3:1", "3", "10", "algo-2:0:4:3")
        self.assert_status(done, 3)
        self.assertEqual(done.stdout, "")
        assert_says(self, done, "^no restart: algo-2 is out, and 2 ranks are fewer than the 3 of --min-np$")

    def test_all_fail(self):
        done = self.job("algo-1:1,algo-2:1", "1", "10", "algo-1:0:4:5", "algo-2:0:4:5")
        self.assert_status(done, 5)

    def test_as_often_as_horovodrun_may(self):
        horovodrun = pathlib.Path("/run/sml-testbed", self.bed.name, "shared", "horovodrun")
        horovodrun.symlink_to(SML_RUN)
        self.addCleanup(horovodrun.unlink)
        line = ["-np", "3", "--min-np", "1", "-H", "algo-1:1,algo-2:1,algo-3:1"]
        words = ["10", "algo-2:0:4:3", "algo-3:0:6:7"]
        done = self.bed.sml_run("algo-1", *line, *WORKER, *words, binary_path=horovodrun)
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, f"[0]<stdout>:as 0 1 0 1 0 1 total {4 * 3 + 2 * 2 + 4}\n")
        done = self.bed.sml_run("algo-1", *line, "--reset-limit", "1", *WORKER, *words, binary_path=horovodrun)
        self.assert_status(done, 7)
        self.assertEqual(done.stdout, "")
        assert_says(self, done, r"^no restart: 1 restart has been used \(--max-restarts\)$")

    def test_who_is_not_elastic_starts_anew(self):
        done = self.bed.sml_run("algo-1", *OURS, "--min-np", "1", "-H", "algo-1:1,algo-2:1", "--restart-delay", "0", "sh", "-c",
                                '[ $SML_ATTEMPT = 2 ] && exit 0; [ $RANK = 1 ] && exit 3; sleep 600')
        self.assert_status(done, 0)
        self.assertNotIn("hvd.elastic", done.stderr)


class Hosts(HostsCase):
    """They come and go while the workers run."""
    hosts = 4

    def setUp(self):
        super().setUp()
        self.shared = pathlib.Path("/run/sml-testbed", self.bed.name, "shared")
        for name in ("hosts", "events", "report"):
            self.addCleanup((self.shared / name).unlink, missing_ok=True)

    def list(self, *hosts):
        fresh = self.shared / "fresh"  # nobody reads half of it
        fresh.write_text("".join(f"{host}\n" for host in hosts))
        fresh.rename(self.shared / "hosts")

    def start(self, *words, options=()):
        return self.bed.sml_run_popen("algo-1", *OURS, "--min-np", "1", "--host-discovery-script", f"cat {self.shared}/hosts",
                                      "--discovery-interval", "200ms", "--events", self.shared / "events", "--report",
                                      self.shared / "report", *options, *WORKER, *words)

    def listens(self, job):
        job.read_until("listens\n")

    def events(self, kind):
        return [event for event in events_in(self.shared / "events") if event["event"] == kind]

    @gate
    def test_workers_on_a_host_that_has_come_join_at_the_next_commit(self):
        self.list("algo-1:1", "algo-2:1")
        with self.start("10", "algo-1:0:4:hears") as job:
            self.listens(job)
            self.list("algo-1:1", "algo-2:1", "algo-3:2")
            done = job.finish()
        self.assert_status(done, 0)
        total = 5 * 2 + 5 * 4
        self.assertEqual(by_rank(done.stdout), {0: [f"as 0 4 0 1 0 3 total {total}"], 1: [f"as 1 4 0 1 1 3 total {total}"],
                                                2: [f"as 2 4 0 2 2 3 total {total}"], 3: [f"as 3 4 1 2 0 1 total {total}"]})
        assert_says(self, done, "^2 workers join on algo-3; 2 workers go on with what its state has committed in memory: reset 1$")
        self.assertEqual([(e["first_rank"], e["world_size"]) for e in self.events("ranks_joined")], [(2, 2)])
        report = schemas.checked("report", (self.shared / "report").read_text())
        self.assertEqual([(r["rank"], r["host"]) for r in report["ranks"]],
                         [(0, "algo-1"), (1, "algo-2"), (2, "algo-3"), (3, "algo-3")])

    def test_hosts_come_go_and_come_again_the_first_goes_for_good(self):
        self.list("algo-1:1")
        hears = [f"algo-{host}:0:{step}:hears" for host, step in ((1, 2), (1, 5), (2, 8), (2, 11), (2, 14))]
        with self.start("17", *hears) as job:
            for hosts in (("algo-1", "algo-2"), ("algo-2",), ("algo-2", "algo-3"), ("algo-2",), ("algo-2", "algo-3")):
                self.listens(job)
                self.list(*(f"{host}:1" for host in hosts))
            done = job.finish()
        self.assert_status(done, 0)
        total = 3 * 1 + 3 * 2 + 3 * 1 + 3 * 2 + 3 * 1 + 2 * 2
        self.assertEqual(by_rank(done.stdout), {1: [f"as 0 2 0 1 0 2 total {total}"], 3: [f"as 1 2 0 1 1 2 total {total}"]})
        self.assertEqual(len(self.events("attempt_failed")), 0)

    def test_when_all_hosts_of_the_list_are_out_for_good_no_others_are_waited_for(self):
        self.list("algo-1:1", "algo-2:1")
        with self.start("10", "algo-1:0:4:5", "algo-2:0:4:5",
                        options=("--elastic-timeout", "1h", "--restart-delay", "0")) as job:
            done = job.finish()
        self.assert_status(done, 5)
        assert_says(self, done, "^no restart: algo-[12] is out, and 0 hosts are fewer than the 1 of --min-hosts$")

    def end_with_no_reset_left(self, *hosts):
        """These are listed when the only one has been used."""
        self.list("algo-1:1", "algo-2:1")
        with self.start("10", "algo-1:0:2:hears", "algo-1:0:5:hears", options=("--max-restarts", "1")) as job:
            self.listens(job)
            self.list("algo-1:1", "algo-2:1", "algo-3:1")
            self.listens(job)
            self.list(*hosts)
            done = job.finish()
        self.assert_status(done, 125)
        assert_says(self, done, "other hosts are listed, and no restart is left to go on with these")
        self.assertEqual(done.stdout.count("total"), 0)

    def test_a_host_that_leaves_when_no_reset_is_left_ends_the_job(self):
        self.end_with_no_reset_left("algo-1:1", "algo-2:1")

    def test_a_host_that_comes_when_no_reset_is_left_ends_the_job(self):
        self.end_with_no_reset_left("algo-1:1", "algo-2:1", "algo-3:1", "algo-4:1")

    def test_a_host_on_which_a_worker_has_failed_comes_back_when_it_has_cooled_down(self):
        self.list("algo-1:1", "algo-2:1")
        with self.start("10", "algo-2:0:4:3", "algo-1:0:6:hears", options=("--exclude-for", f"{scaled(15)}s:1h")) as job:
            self.listens(job)  # before that time is over
            done = job.finish()
        self.assert_status(done, 0)
        total = 4 * 2 + 3 * 1 + 3 * 2
        self.assertEqual(by_rank(done.stdout), {0: [f"as 0 2 0 1 0 2 total {total}"], 2: [f"as 1 2 0 1 1 2 total {total}"]})
        assert_says(self, done, "^1 worker joins on algo-2; 1 worker goes on with what its state has committed in memory: reset 2$")

    @gate
    def test_a_spare_takes_in_what_the_others_have(self):
        events, ready = self.shared / "events", self.shared / "ready"
        self.addCleanup(ready.unlink, missing_ok=True)
        with self.bed.sml_run_popen("algo-1", *OURS, "--min-np", "2", "--spares", "1", "--events", events, "-H",
                                    "algo-1:1,algo-2:1,algo-3:1,algo-4:1", *WORKER, "10", f"algo-1:0:4:3@{ready}") as job:
            wait_for_event(events, "host_ready", host="algo-4")
            ready.touch()
            done = job.finish()
        self.assert_status(done, 0)
        total = 4 * 3 + 6 * 3
        self.assertEqual(by_rank(done.stdout), {1: [f"as 0 3 0 1 0 3 total {total}"], 2: [f"as 1 3 0 1 1 3 total {total}"],
                                                3: [f"as 2 3 0 1 2 3 total {total}"]})

    def test_all_start_anew_with_the_hosts_that_have_joined(self):
        self.list("algo-1:1", "algo-2:1")
        fail = [f"algo-{i}:0:6:5!" for i in (1, 2, 3)]
        with self.start("8", "algo-1:0:4:hears!", *fail, options=("--exclude-after", "9", "--restart-delay", "0")) as job:
            self.listens(job)
            self.list("algo-1:1", "algo-2:1", "algo-3:1")
            done = job.finish()
        self.assert_status(done, 0)
        self.assertEqual(by_rank(done.stdout), {rank: [f"as {rank} 3 0 1 {rank} 3 total {8 * 3}"] for rank in range(3)})
        self.assertEqual([e["world_size"] for e in self.events("restart")], [3])

    def starts_anew(self, how):
        self.list("algo-1:1", "algo-2:1")
        with self.start("6", how, "algo-1:0:2:hears", options=("--grow-after", "1s")) as job:
            self.listens(job)
            self.list("algo-1:1", "algo-2:1", "algo-3:1")
            self.listens(job)
            job.send_signal(15)
            done = job.finish()
        self.assertEqual([e["world_size"] for e in self.events("restart")], [3])
        return done

    def test_who_does_not_hear_starts_anew(self):
        assert_says(self, self.starts_anew("deaf"),
                    r"^rank 0 does not hear that other hosts are there \(hvd.elastic\); these are for the next restart$")

    def test_who_cannot_be_told_starts_anew(self):
        said = (r"^rank [0-2] has registered with Horovod's store in words that we do not know \(it is not base64\); hosts that "
                "come or go are for the next restart$")
        assert_says(self, self.starts_anew("odd"), said, said)  # in each attempt
