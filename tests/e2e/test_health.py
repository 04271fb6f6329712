"""Hosts that are not well: what --health-check says of them before an attempt, and what the job does without them."""
import pathlib

import schemas
from harness import HostsCase, gate, wait_until
from jobs import own_lines

SHARED = "/run/sml-testbed/*/shared"
# Not well is a host for which there is a file of that name.
CHECK = f'echo looked at $(hostname); for f in {SHARED}/ill-$(hostname); do [ -e $f ] && echo "GPU 3 is off the bus" >&2 && exit 7; done; true'


class Health(HostsCase):
    hosts = 4

    def shared(self, name):
        path = pathlib.Path("/run/sml-testbed", self.bed.name, "shared", name)
        self.addCleanup(lambda: path.unlink(missing_ok=True))
        return path

    def run_with(self, *options, check=CHECK, program=("sh", "-c", "echo $SML_ATTEMPT $RANK $SML_HOST"), names=None):
        return self.bed.sml_run("algo-1", "--health-check", check, *options, "-H",
                                self.bed.hosts(slots=1, names=names), "--no-tag", *program)

    @gate
    def test_hosts_that_are_well_run_the_job(self):
        done = self.run_with()
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.splitlines()), [f"1 {r} algo-{r + 1}" for r in range(4)])
        self.assertNotIn("looked at", done.stderr + done.stdout)

    @gate
    def test_a_spare_takes_the_place_before_anything_runs_and_no_restart_is_used(self):
        self.shared("ill-algo-2").touch()
        events = self.shared("events")
        fails_once = ("sh", "-c", "echo $SML_ATTEMPT $RANK $SML_HOST; [ $SML_ATTEMPT != 2 ] || [ $RANK != 0 ] || exit 3")
        done = self.run_with("--max-restarts", "1", "--restart-delay", "0:0", "--spares", "1", "--events", events,
                             program=fails_once)
        self.assert_status(done, 0)
        ran = [line.split() for line in done.stdout.splitlines()]
        self.assertEqual({row[0] for row in ran}, {"2", "3"}, "the one restart was left")
        self.assertEqual(sorted(row[1:] for row in ran if row[0] == "3"), [["0", "algo-1"], ["1", "algo-4"], ["2", "algo-3"]])
        said = own_lines(done)
        self.assertIn("algo-2: not well: --health-check exited with status 7, and printed: looked at algo-2; GPU 3 is off the bus",
                      said)
        self.assertIn("attempt 1 has not started its workers; the next follows, and is no restart", said)
        self.assertIn("algo-4 takes the place of algo-2, with its 1 rank", said)
        self.assertIn("attempt 2 failed with status 3; restart 1 of 1 now", said)
        happened = schemas.checked_lines("event", events.read_text())
        self.assertEqual([e["host"] for e in happened if e["event"] == "host_failed"], ["algo-2"])

    def test_without_another_host_nothing_runs(self):
        self.shared("ill-algo-2").touch()
        for options in ((), ("--max-restarts", "3"), ("--max-restarts", "3", "--min-hosts", "4")):
            done = self.run_with(*options)
            self.assert_status(done, 125)
            self.assertEqual(done.stdout, "")
            self.assertRegex(done.stderr, "algo-2: not well: --health-check exited with status 7")
        done = self.run_with("--max-restarts", "3", "--min-hosts", "3")
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.splitlines()), ["2 0 algo-1", "2 1 algo-3", "2 2 algo-4"])

    def test_a_host_that_falls_ill_is_out_at_the_restart_and_so_is_a_spare(self):
        ill = self.shared("ill-algo-3")
        falls = (f'echo $SML_ATTEMPT $RANK $SML_HOST; [ $SML_ATTEMPT = 1 ] || exit 0; '
                 f'if [ $RANK = 2 ]; then for d in {SHARED}; do touch $d/ill-algo-3; done; exit 1; fi; sleep 600')
        done = self.run_with("--max-restarts", "2", "--restart-delay", "0:0", "--spares", "1", program=("sh", "-c", falls))
        self.assert_status(done, 0)
        self.assertEqual(sorted(line for line in done.stdout.splitlines() if line[0] != "1"),
                         ["3 0 algo-1", "3 1 algo-2", "3 2 algo-4"])
        ill.unlink()
        self.shared("ill-algo-4").touch()
        waits = f"[ $SML_ATTEMPT = 2 ] || until [ -e {SHARED}/go ]; do sleep 0.05; done; [ $SML_ATTEMPT = 2 ]"
        with self.bed.sml_run_popen("algo-1", "--health-check", CHECK, "--max-restarts", "2", "--restart-delay", "0:0", "--spares",
                                    "1", "-H", self.bed.hosts(slots=1), "--no-tag", "sh", "-c", waits) as job:
            said = bytearray()
            wait_until(lambda: said.extend(job.errors_so_far()) or b"the spare host algo-4 is out" in said, lambda: said)
            self.shared("go").touch()
            done = job.finish()
        done.stderr = said.decode() + done.stderr
        self.assert_status(done, 0)
        self.assertRegex(done.stderr, "the spare host algo-4 is out: not well: --health-check exited with status 7")

    def test_a_check_that_does_not_end_is_ended_with_all_that_it_has_started(self):
        done = self.run_with("--start-timeout", "1h", check="echo begun; [ $(hostname) != algo-2 ] || { sleep 4711 & sleep 4712; }")
        self.assert_status(done, 125)
        self.assertRegex(done.stderr, "algo-2: not well: --health-check has not ended within 10 s, and printed: begun")

    def test_it_runs_where_the_workers_do_with_what_they_have(self):
        done = self.run_with("--wdir", "/usr/share", "-x", "HELD=yes", check='[ "$HELD $PWD" = "yes /usr/share" ]')
        self.assert_status(done, 0)
