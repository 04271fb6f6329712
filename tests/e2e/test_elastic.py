"""Workers of hvd.elastic that go on without others; see elastic_worker.py. Horovod itself is run by
tests/frameworks/by_hand/horovod."""
import pathlib

from harness import PYTHON, SML_RUN, HostsCase
from jobs import by_rank

WORKER = [PYTHON, pathlib.Path(__file__).parent / "elastic_worker.py"]
OURS = ["--max-restarts", "9", "--max-fruitless", "0", "--exclude-after", "1", "--elastic", "horovod"]


def own_lines(done):
    return [line.removeprefix("sml-run: ") for line in done.stderr.splitlines() if line.startswith("sml-run: ")]


class Elastic(HostsCase):
    hosts = 3

    def job(self, hosts, least, *words, options=OURS):
        return self.bed.sml_run("algo-1", *options, "--min-np", least, "-H", hosts, *WORKER, *words, timeout=100)

    def test_those_that_survive_keep_what_they_have(self):
        done = self.job("algo-1:1,algo-2:1,algo-3:1", "2", "10", "algo-2:0:4:3")
        self.assert_status(done, 0)
        total = 4 * 3 + 6 * 2  # anew it would be 20
        self.assertEqual(by_rank(done.stdout), {0: [f"as 0 2 0 1 0 2 total {total}"], 2: [f"as 1 2 0 1 1 2 total {total}"]})
        self.assertEqual(own_lines(done)[1:], ["rank 1 on algo-2 exited with status 3; the others may go on without it (hvd.elastic)",
                                               "algo-2 is out; 2 workers go on with what its state has committed in memory: reset 1"])

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

    def test_too_few_survive(self):
        done = self.job("algo-1:1,algo-2:1,algo-3:1", "3", "10", "algo-2:0:4:3")
        self.assert_status(done, 3)
        self.assertEqual(done.stdout, "")
        self.assertIn("no restart: algo-2 is out, and 2 ranks are fewer than the 3 of --min-np", own_lines(done))

    def test_all_fail(self):
        done = self.job("algo-1:1,algo-2:1", "1", "10", "algo-1:0:4:5", "algo-2:0:4:5")
        self.assert_status(done, 5)

    def test_as_often_as_horovodrun_may(self):
        horovodrun = pathlib.Path("/run/sml-testbed", self.bed.name, "shared", "horovodrun")
        horovodrun.symlink_to(SML_RUN)
        self.addCleanup(horovodrun.unlink)
        line = ["-np", "3", "--min-np", "1", "-H", "algo-1:1,algo-2:1,algo-3:1"]
        words = ["10", "algo-2:0:4:3", "algo-3:0:6:7"]
        done = self.bed.sml_run("algo-1", *line, *WORKER, *words, binary_path=horovodrun, timeout=100)
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, f"[0]<stdout>:as 0 1 0 1 0 1 total {4 * 3 + 2 * 2 + 4}\n")
        done = self.bed.sml_run("algo-1", *line, "--reset-limit", "1", *WORKER, *words, binary_path=horovodrun, timeout=100)
        self.assert_status(done, 7)
        self.assertEqual(done.stdout, "")
        self.assertIn("no restart: 1 restart has been used (--max-restarts)", own_lines(done))

    def test_who_is_not_elastic_starts_anew(self):
        done = self.bed.sml_run("algo-1", *OURS, "--min-np", "1", "-H", "algo-1:1,algo-2:1", "--restart-delay", "0", "sh", "-c",
                                '[ $SML_ATTEMPT = 2 ] && exit 0; [ $RANK = 1 ] && exit 3; sleep 60', timeout=30)
        self.assert_status(done, 0)
        self.assertNotIn("hvd.elastic", done.stderr)
