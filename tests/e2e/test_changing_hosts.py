"""Hosts that come and go while a job runs: listed by --host-discovery-script, or in a host file that is watched."""
import pathlib

import schemas
from harness import HostsCase, gate, scaled, wait_until
from jobs import heartbeat, sh, ssh_config

# Attempts go on until a file of that number is there, and end with what it holds.
PLACES = ('echo "$SML_ATTEMPT $RANK $LOCAL_RANK $GROUP_RANK $WORLD_SIZE $SML_HOST"; '
          'until [ -e $0/end$SML_ATTEMPT ]; do sleep 0.1; done; exit $(cat $0/end$SML_ATTEMPT)')


def own_lines(text):
    return [line.removeprefix("sml-run: ") for line in text.splitlines() if line.startswith("sml-run: ")]


class Changing(HostsCase):
    hosts = 3

    def setUp(self):
        super().setUp()
        self.shared = pathlib.Path("/run/sml-testbed", self.bed.name, "shared")
        self.said = self.out = ""
        for name in ("hosts", "discover", "asked", "end1", "end2", "end3", "report", "events"):
            self.addCleanup((self.shared / name).unlink, missing_ok=True)

    def list(self, *hosts, slots=2):
        self.write("hosts", "".join(f"{host}:{slots}\n" for host in hosts))

    def write(self, name, text):
        fresh = self.shared / "fresh"  # nobody reads half of it
        fresh.write_text(text)
        fresh.rename(self.shared / name)

    def start(self, *options, source=None, restarts="3"):
        source = source or ("--host-discovery-script", f"cat {self.shared}/hosts")
        return self.bed.sml_run_popen("algo-1", "--max-restarts", restarts, "--restart-delay", "0:0", "--max-fruitless",
                                      "0", "--discovery-interval", "200ms", *source, *options, "--no-tag", "sh", "-c",
                                      PLACES, self.shared)

    def ranks(self, job, attempt, count):
        """Where they are, once so many of that attempt run."""
        while True:
            rows = [line.split() for line in self.out.split("\n")[:-1] if line.startswith(f"{attempt} ")]
            if len(rows) >= count:
                return sorted([*map(int, row[1:5]), row[5]] for row in rows)
            self.out += job.read_until("\n").decode()

    def hear(self, job, text):
        def said():
            self.said += job.errors_so_far().decode()
            return text in self.said
        wait_until(said, lambda: f"{text!r} was not said; there was: {self.said}")

    def end(self, job, attempt, status):
        self.write(f"end{attempt}", str(status))
        if status:
            return None
        done = job.finish()
        self.said += done.stderr
        return done

    @staticmethod
    def on(*hosts):
        return [[rank, rank % 2, rank // 2, 2 * len(hosts), hosts[rank // 2]] for rank in range(2 * len(hosts))]

    @gate
    def test_a_host_that_comes_has_workers_from_the_next_restart_on(self):
        self.list("algo-1", "algo-2")
        with self.start("--report", self.shared / "report", "--events", self.shared / "events") as job:
            self.assertEqual(self.ranks(job, 1, 4), self.on("algo-1", "algo-2"))
            self.list("algo-1", "algo-2", "algo-3")
            self.hear(job, "algo-3 is ready, for the next restart")
            self.end(job, 1, 5)
            self.assertEqual(self.ranks(job, 2, 6), self.on("algo-1", "algo-2", "algo-3"))
            done = self.end(job, 2, 0)
        self.assert_status(done, 0)
        said = own_lines(self.said)
        self.assertIn("4 ranks on 2 hosts, from --host-discovery-script", said)
        self.assertIn("algo-3 is new in the list of hosts", said)
        self.assertIn("the job goes on with 6 ranks on 3 hosts, now with algo-3", said)
        report = schemas.checked("report", (self.shared / "report").read_text())
        self.assertEqual([a["hosts"] for a in report["attempts"]], [["algo-1", "algo-2"], ["algo-1", "algo-2", "algo-3"]])
        happened = schemas.checked_lines("event", (self.shared / "events").read_text())
        *first, last = [e["host"] for e in happened if e["event"] == "host_connected"]
        self.assertEqual((sorted(first), last), (["algo-1", "algo-2"], "algo-3"))  # the first two at the same time

    def test_without_a_host_that_is_listed_no_more_the_workers_start_anew_and_with_it_again(self):
        self.list("algo-1", "algo-2", "algo-3")
        with self.start("--min-np", "2", "--grow-after", "1s", "--events", self.shared / "events", restarts="1") as job:
            self.assertEqual(self.ranks(job, 1, 6), self.on("algo-1", "algo-2", "algo-3"))
            self.list("algo-1", "algo-3")
            self.assertEqual(self.ranks(job, 2, 4), self.on("algo-1", "algo-3"))
            self.list("algo-1", "algo-2", "algo-3")
            self.assertEqual(self.ranks(job, 3, 6), self.on("algo-1", "algo-3", "algo-2"))
            done = self.end(job, 3, 0)
        self.assert_status(done, 0)
        said = own_lines(self.said)
        for text in ("algo-2 is not in the list of hosts any more",
                     "the workers are ended, and start anew: algo-2 is listed no more",
                     "attempt 1 has ended for that; the next follows, and is no restart",
                     "the job goes on with 4 ranks on 2 hosts, without algo-2",
                     "algo-2 is in the list of hosts again",
                     "the workers are ended, and start anew: there are hosts for 6 ranks (--grow-after)"):
            self.assertIn(text, said)
        happened = schemas.checked_lines("event", (self.shared / "events").read_text())
        self.assertEqual([[e["new"], e["again"], e["withdrawn"]] for e in happened if e["event"] == "host_list_changed"],
                         [[[], [], ["algo-2"]], [[], ["algo-2"], []]])

    @gate
    def test_a_lost_host_is_waited_for_until_another_comes(self):
        self.list("algo-1", "algo-2")
        with self.start(*heartbeat(5)[0]) as job:
            self.ranks(job, 1, 4)
            self.addCleanup(self.bed.start, "algo-2")
            self.bed.kill("algo-2")
            self.hear(job, "others are waited for, up to 10 min (--elastic-timeout)")
            self.list("algo-1", "algo-3")
            self.assertEqual(self.ranks(job, 2, 4), self.on("algo-1", "algo-3"))
            done = self.end(job, 2, 0)
        self.assert_status(done, 0)
        self.assertIn("algo-3 takes the place of algo-2, with its 2 ranks", own_lines(self.said))

    def test_nobody_waits_for_ever(self):
        self.list("algo-1", "algo-2")
        with self.start(*heartbeat(5)[0], "--elastic-timeout", "1s") as job:
            self.ranks(job, 1, 4)
            self.addCleanup(self.bed.start, "algo-2")
            self.bed.kill("algo-2")
            done = job.finish()
        self.assert_status(done, 125)
        self.assertRegex(done.stderr, "no restart: algo-2 is out, and no spare host is left to take its place")

    def test_the_time_of_the_job_passes_while_others_are_waited_for(self):
        self.list("algo-1", "algo-2")
        with self.start(*heartbeat(5)[0], "--elastic-timeout", "1h", "--timeout", f"{scaled(30)}s") as job:
            self.ranks(job, 1, 4)
            self.addCleanup(self.bed.start, "algo-2")
            self.bed.kill("algo-2")
            self.hear(job, "others are waited for")
            done = job.finish()
        self.assert_status(done, 124)
        self.assertIn("waits between attempts included, the limit of --timeout", done.stderr)

    def test_a_host_that_cannot_be_reached_is_named_and_the_job_goes_on(self):
        self.list("algo-1", "algo-2")
        ssh_config(self, self.bed, "algo-1", "Host algo-3\n ConnectTimeout 1\n")
        with self.start() as job:
            self.ranks(job, 1, 4)
            self.addCleanup(self.bed.start, "algo-3")
            self.bed.kill("algo-3")
            self.list("algo-1", "algo-2", "algo-3")
            self.hear(job, "the spare host algo-3 is out: ")
            self.end(job, 1, 5)
            self.assertEqual(self.ranks(job, 2, 4), self.on("algo-1", "algo-2"))
            self.assert_status(self.end(job, 2, 0), 0)

    def test_a_script_without_an_answer_changes_nothing_and_is_named_once(self):
        script, asked = self.shared / "discover", self.shared / "asked"
        good = f"echo >> {asked}; echo algo-1:2; echo algo-2:2\n"
        bad = (("echo oops >&2; exit 3\n", "--host-discovery-script: exited with status 3: oops"),
               ("echo algo-3:x\n", "--host-discovery-script:1:"), ("kill -9 $$\n", "exited with status 137"),
               ("true\n", "the list of hosts is empty"))
        self.write("discover", good)
        with self.start("--min-np", "1", "--grow-after", "0", source=("--host-discovery-script", f"sh {script}")) as job:
            self.ranks(job, 1, 4)
            for text, said in bad:
                self.write("discover", text)
                self.hear(job, said)
                before = len(asked.read_text())
                self.write("discover", good)
                wait_until(lambda: len(asked.read_text()) > before + 1, lambda: "the answer before the last is known")
            done = self.end(job, 1, 0)
        self.assert_status(done, 0)
        self.assertEqual(self.said.count("; the hosts stay as they were"), len(bad), self.said)
        self.assertNotIn("start anew", self.said)

    def test_a_script_that_hangs_is_ended(self):
        script = self.shared / "discover"
        self.write("discover", "echo algo-1:1\n")
        with self.start(source=("--host-discovery-script", f". {script}")) as job:
            self.ranks(job, 1, 1)
            self.write("discover", "sleep 1000\n")
            self.hear(job, "--host-discovery-script: has not ended within 30 s; the hosts stay as they were")
            self.assert_status(self.end(job, 1, 0), 0)

    def test_a_script_that_hangs_ends_with_a_launcher_that_is_killed(self):
        with self.start(source=("--host-discovery-script", "sleep 988; true")) as job:
            wait_until(lambda: any(p["cmd"].endswith("sleep 988") for p in self.bed.ps("algo-1")))
            sh(self.bed, "algo-1", "pkill -KILL -x sml-run")
            self.assert_status(job.finish(), 137)
        self.bed.assert_clean()

    def test_a_job_begins_when_enough_hosts_are_listed(self):
        self.list()
        with self.start("-np", "2", "--max-np", "4") as job:
            self.hear(job, "waiting for hosts: --host-discovery-script lists 0 hosts, fewer than the 1 that are needed")
            self.list("algo-1", "algo-2", slots=1)
            self.assertEqual([row[4] for row in self.ranks(job, 1, 2)], ["algo-1", "algo-2"])
            self.assert_status(self.end(job, 1, 0), 0)

    def test_a_script_that_fails_at_the_start_starts_nothing(self):
        done = self.bed.sml_run("algo-1", "--max-restarts", "1", "--host-discovery-script", "echo no >&2; exit 4", "true")
        self.assert_status(done, 2)
        self.assertIn("sml-run: --host-discovery-script: exited with status 4: no\n", done.stderr)
        done = self.bed.sml_run("algo-1", "--max-restarts", "1", "--host-discovery-script", "echo algo-1:2", "-np", "3",
                                "--elastic-timeout", "1s", "true")
        self.assert_status(done, 125)
        self.assertIn("--host-discovery-script lists 2 slots, fewer than the 3 that are needed", done.stderr)

    def test_a_host_file_is_read_again(self):
        self.list("algo-1")
        with self.start("--grow-after", "500ms", source=("--hostfile", self.shared / "hosts", "--watch-hosts")) as job:
            self.assertEqual(self.ranks(job, 1, 2), self.on("algo-1"))
            self.list("algo-1", "algo-2")
            self.assertEqual(self.ranks(job, 2, 4), self.on("algo-1", "algo-2"))
            self.assert_status(self.end(job, 2, 0), 0)
