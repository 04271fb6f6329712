"""Hosts that are lost in jobs with --max-restarts: spares take their places, and who is where is told."""
import json
import pathlib

import schemas
from harness import PYTHON, HostsCase, gate, wait_until
from jobs import heartbeat, own_lines, ssh_config

# Of a process that this one traces, and never looks at again, the end is not seen by who waits for it.
HOLD = """import ctypes, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long] * 4
if libc.ptrace(0x4206, int(sys.argv[1]), 0, 0x40): sys.exit(1)  # PTRACE_SEIZE; its end is reported
print("holds", flush=True)
time.sleep(600)
"""
PLACES = ('echo "$SML_ATTEMPT $RANK $LOCAL_RANK $GROUP_RANK $WORLD_SIZE $SML_HOST"; '
          'if [ $SML_ATTEMPT = 1 ]; then echo runs; sleep 600; fi')


def read_lines(job, text, count):
    """What is printed until `text` has come so often."""
    got = b""
    while got.count(text) < count:
        got += job.read_until("\n")
    return got.decode()



class Spares(HostsCase):
    hosts = 5

    def shared(self, name):
        path = pathlib.Path("/run/sml-testbed", self.bed.name, "shared", name)
        self.addCleanup(lambda: path.unlink(missing_ok=True))
        return path

    def lose(self, host, *options, runs=8, program=("sh", "-c", PLACES), command_on="algo-1"):
        """Runs a job with a spare, of which that host dies once all ranks run. No grace is waited for: nobody is there."""
        silence, self.limit = heartbeat(5)
        with self.bed.sml_run_popen(command_on, "--max-restarts", "3", "--spares", "1", "--grace", "1h", *silence, *options, "-H",
                                    self.bed.hosts(slots=2), "--no-tag", *program) as job:
            before = read_lines(job, b"runs\n", runs)
            self.bed.kill(host)
            self.addCleanup(self.bed.start, host)
            done = job.finish()
        done.stdout = before + done.stdout
        return done

    def places(self, done, attempt):
        rows = [line.split() for line in done.stdout.splitlines() if line != "runs"]
        return sorted([*map(int, row[1:5]), row[5]] for row in rows if row[0] == str(attempt))

    def test_a_spare_takes_the_place_of_a_host_where_processes_cannot_be_ended(self):
        program = 'echo "$SML_ATTEMPT $RANK $LOCAL_RANK $GROUP_RANK $WORLD_SIZE $SML_HOST"; [ $SML_ATTEMPT != 1 ] || ' \
                  '{ sh -c "trap : TERM; sleep 555 & wait; wait" & echo runs; read line; exit 9; }'
        with self.bed.sml_run_popen("algo-1", "--max-restarts", "1", "--spares", "1", "--grace", "1s", "--stdin", "all", "-H",
                                    self.bed.hosts(slots=2), "--no-tag", "sh", "-c", program, stdin=-1) as job:
            read_lines(job, b"runs\n", 8)
            [held, *_] = wait_until(lambda: [p for p in self.bed.ps("algo-2") if p["cmd"] == "sleep 555"])
            holder = self.enterContext(self.bed.popen("algo-2", [PYTHON, "-c", HOLD, str(held["pid"])]))
            holder.read_until("holds\n")
            done = job.finish(input="\n")
        holder.kill()
        self.assert_status(done, 0)
        self.assertIn("algo-5 takes the place of algo-2, with its 2 ranks", own_lines(done))
        self.assertRegex(done.stderr, r"algo-2: pid \d+ \(sleep\)")

    @gate
    def test_a_spare_takes_the_ranks_of_a_lost_host_and_all_is_told(self):
        report, events, page = self.shared("report"), self.shared("events"), self.shared("page.json")
        done = self.lose("algo-2", "--report", report, "--events", events, "--timeline", page)
        self.assert_status(done, 0)
        first = [[rank, rank % 2, rank // 2, 8, f"algo-{rank // 2 + 1}"] for rank in range(8)]
        self.assertEqual(self.places(done, 1), first)
        second = [[*row[:4], "algo-5" if row[4] == "algo-2" else row[4]] for row in first]
        self.assertEqual(self.places(done, 2), second, "the others keep their places")

        said = own_lines(done)
        self.assertIn("8 ranks on 4 hosts, 1 spare, from -H", done.stderr)
        self.assertIn(f"algo-2: lost: nothing received for {self.limit}", said)
        self.assertIn("algo-5 takes the place of algo-2, with its 2 ranks", said)
        written = schemas.checked("report", report.read_text())
        self.assertEqual([a["hosts"] for a in written["attempts"]],
                         [["algo-1", "algo-2", "algo-3", "algo-4"], ["algo-1", "algo-5", "algo-3", "algo-4"]])
        happened = schemas.checked_lines("event", events.read_text())
        self.assertEqual(sum(e["event"] == "host_connected" for e in happened), 5, "survivors and spare stay connected")
        again = next(e for e in happened if e["event"] == "restart")
        self.assertEqual([h["host"] for h in again["hosts"]], ["algo-1", "algo-5", "algo-3", "algo-4"])
        order = [e["event"] for e in happened if e["event"] in ("host_failed", "workers_start")]
        self.assertEqual(order, ["workers_start", "host_failed", "workers_start"])
        drawn = json.loads(page.read_text())["traceEvents"]
        names = {e["pid"]: e["args"]["name"] for e in drawn if e["name"] == "process_name"}
        runs = {(names[e["pid"]], e["args"]["rank"]) for e in drawn if e["ph"] == "X" and "rank" in e.get("args", {})}
        self.assertLess({("algo-2", 2), ("algo-5", 2), ("algo-1", 0)}, runs)

    def test_a_spare_has_imported_what_is_preloaded_before_it_takes_a_place(self):
        module = 'import os\nPID = os.getpid()\nopen("/run/imported", "a").write(f"{PID}\\n")\n'
        script = 'import os, slow_module, time\nattempt = os.environ["SML_ATTEMPT"]\n' \
                 'os.write(1, f"{attempt} {os.environ[\'SML_HOST\']} {slow_module.PID}\\n".encode())\n' \
                 'if attempt == "1": os.write(1, b"runs\\n"); time.sleep(600)\n'
        for host in self.bed.names():
            self.bed.put(host, "/run/slow_module.py", module)
            self.bed.put(host, "/run/script.py", script)
        with self.bed.sml_run_popen("algo-1", "--max-restarts", "3", "--spares", "1", "-H", self.bed.hosts(slots=2),
                                    "--preload", "slow_module", "-x", "PYTHONPATH=/run", "--no-tag", PYTHON,
                                    "/run/script.py") as job:
            read_lines(job, b"runs\n", 8)
            imported = self.bed.path("algo-5", "/run/imported")
            wait_until(lambda: imported.exists() and imported.read_text())
            self.bed.kill("algo-2")
            self.addCleanup(self.bed.start, "algo-2")
            done = job.finish()
        self.assert_status(done, 0)
        self.assertNotIn("without it", done.stderr)
        self.assertEqual([line.split()[2] for line in done.stdout.splitlines() if line.startswith("2 algo-5 ")],
                         [imported.read_text().strip()] * 2, "once, and both ranks are forks of that process")

    def test_the_host_of_rank_0_is_no_exception(self):
        done = self.lose("algo-1", command_on="head")
        self.assert_status(done, 0)
        self.assertIn(f"algo-1: lost: nothing received for {self.limit}", own_lines(done))
        self.assertEqual([row[4] for row in self.places(done, 2)], ["algo-5"] * 2 + [f"algo-{h}" for h in "223344"])

    @gate
    def test_a_lost_spare_stops_nothing_and_takes_no_place(self):
        with self.bed.sml_run_popen("algo-1", "--max-restarts", "3", "--spares", "1", *heartbeat(5)[0], "-H",
                                    self.bed.hosts(slots=1), "--no-tag", "sh", "-c",
                                    "echo runs; until [ -e /run/sml-testbed/*/shared/go ]; do sleep 0.1; done") as job:
            read_lines(job, b"runs\n", 4)
            self.bed.kill("algo-5")
            self.addCleanup(self.bed.start, "algo-5")
            wait_until(lambda: b"the spare host algo-5 is out: lost" in job.errors_so_far())
            self.shared("go").touch()
            done = job.finish()
        self.assert_status(done, 0)
        self.assertNotIn("restart 1", done.stderr)

    def test_a_host_that_cannot_be_reached_is_replaced_before_anything_runs(self):
        self.bed.kill("algo-3")
        self.addCleanup(self.bed.start, "algo-3")
        ssh_config(self, self.bed, "algo-1", "Host algo-3\n ConnectTimeout 1\n")  # the others have longer
        done = self.bed.sml_run("algo-1", "--max-restarts", "1", "--spares", "1", "-H", self.bed.hosts(slots=1), "--no-tag",
                                "sh", "-c", "echo $RANK $SML_HOST")
        self.assert_status(done, 0)
        self.assertIn("algo-5 takes the place of algo-3, with its 1 rank", own_lines(done))
        self.assertEqual(sorted(done.stdout.splitlines()), ["0 algo-1", "1 algo-2", "2 algo-5", "3 algo-4"])

    def test_more_lost_hosts_than_spares_are_the_end(self):
        with self.bed.sml_run_popen("algo-1", "--max-restarts", "3", "--spares", "1", *heartbeat(5)[0], "-H",
                                    self.bed.hosts(slots=1), "--no-tag", "sh", "-c", "echo runs; sleep 600") as job:
            read_lines(job, b"runs\n", 4)
            for host in ("algo-2", "algo-3"):
                self.addCleanup(self.bed.start, host)
            self.bed.kill("algo-2", "algo-3")
            done = job.finish()
        self.assert_status(done, 125)
        self.assertRegex("\n".join(own_lines(done)), "no restart: .*no spare host is left to take .* place")

    def test_without_a_spare_the_job_goes_on_smaller_as_far_as_it_may(self):
        show = 'echo "$SML_ATTEMPT $RANK $LOCAL_RANK $GROUP_RANK $WORLD_SIZE $SML_HOST"; echo runs; ' \
               '[ $SML_ATTEMPT != 1 ] || sleep 600'
        for least, status in ((("--min-hosts", "2", "--max-hosts", "3"), 0), (("--min-np", "6"), 125)):
            hosts = self.bed.hosts(slots=2, names=["algo-1", "algo-2", "algo-3"])
            with self.bed.sml_run_popen("algo-1", "--max-restarts", "3", *least, *heartbeat(5)[0], "-H", hosts,
                                        "--no-tag", "sh", "-c", show) as job:
                before = read_lines(job, b"runs\n", 6)
                self.addCleanup(self.bed.start, "algo-2")
                self.bed.kill("algo-2")
                done = job.finish()
            self.bed.start("algo-2")
            self.assert_status(done, status)
            done.stdout = before + done.stdout
            if status == 0:
                self.assertEqual(self.places(done, 2), [[r, r % 2, r // 2, 4, f"algo-{(1, 3)[r // 2]}"] for r in range(4)])
                self.assertIn("the job goes on with 4 ranks on 2 hosts, without algo-2", own_lines(done))
            else:
                self.assertIn("no restart: algo-2 is out, and 4 ranks are fewer than the 6 of --min-np", own_lines(done))


class Excluded(HostsCase):
    hosts = 3
    FAILS = 'echo "$SML_ATTEMPT $RANK $SML_HOST"; [ $SML_HOST != algo-2 ] || exit 5; [ $SML_ATTEMPT = 3 ] || sleep 600'

    def run_with(self, *options, hosts=("algo-1", "algo-2", "algo-3")):
        return self.bed.sml_run("algo-1", *options, "-H", self.bed.hosts(slots=1, names=list(hosts)), "--no-tag", "sh", "-c",
                                self.FAILS)

    @gate
    def test_a_host_on_which_attempts_fail_is_out_and_the_next_job_avoids_it(self):
        shared = pathlib.Path("/run/sml-testbed", self.bed.name, "shared")
        file, events = shared / "bad", shared / "events"
        for path in (file, events):
            self.addCleanup(path.unlink, missing_ok=True)
        done = self.run_with("--max-restarts", "5", "--restart-delay", "0:0", "--spares", "1", "--exclude-after", "2",
                             "--exclude-file", file, "--events", events)
        self.assert_status(done, 0)
        self.assertEqual(sorted(line for line in done.stdout.splitlines() if line[0] == "3"), ["3 0 algo-1", "3 1 algo-3"])
        said = own_lines(done)
        out = "algo-2 is out: 2 attempts have failed there (--exclude-after)"
        self.assertIn(out, said)
        before = done.stderr[:done.stderr.index(out)]
        self.assertEqual(before.count("rank 1 on algo-2 exited with status 5"), 2, "the cause comes first")
        self.assertIn("algo-3 takes the place of algo-2, with its 1 rank", said)
        happened = schemas.checked_lines("event", events.read_text())
        self.assertEqual([(e["host"], e["failures"]) for e in happened if e["event"] == "host_excluded"], [("algo-2", 2)])
        connected = [e["host"] for e in happened if e["event"] == "host_connected"]
        self.assertEqual(set(connected), {"algo-1", "algo-2", "algo-3"})
        self.assertEqual([connected.count(host) for host in ("algo-1", "algo-2")], [1, 1], "they stay connected")
        self.assertRegex(file.read_text(), r"^algo-2 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ # 2 attempts have failed there; rank 1 on algo-2"
                                           r" exited with status 5 after .*\n$")

        done = self.bed.sml_run("algo-1", "--exclude-file", file, "--spares", "1", "--max-restarts", "1", "-H",
                                self.bed.hosts(slots=1), "--no-tag", "sh", "-c", "echo $RANK $SML_HOST")
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.splitlines()), ["0 algo-1", "1 algo-3"], "one spare fewer")
        self.assertIn(f"without algo-2, which is in {file} (--exclude-file)", done.stderr)

    @gate
    def test_without_another_host_it_is_the_end(self):
        done = self.run_with("--max-restarts", "5", "--restart-delay", "0:0", "--exclude-after", "1", hosts=("algo-1", "algo-2"))
        self.assert_status(done, 5)
        self.assertIn("no restart: algo-2 is out, and no spare host is left to take its place (--spares)", own_lines(done))

    def test_a_host_where_no_process_can_be_made_is_out(self):
        """The limit of that user: root has none."""
        program = '[ $SML_ATTEMPT -gt 1 ] || { echo up; read line; exit 3; }; hostname'
        with self.bed.sml_run_popen("algo-1", "-H", "tester@algo-2:1,algo-3:1", "--spares", "1", "--max-restarts", "2",
                                    "--restart-delay", "0:0", "--max-fruitless", "0", "--no-tag", "sh", "-c", program,
                                    stdin=-1) as job:
            job.read_until("up")
            limit = "for pid in $(pgrep -u tester sml-run-agent); do prlimit --pid $pid --nproc=1:1 || exit; done"
            self.assert_status(self.bed.exec("algo-2", ["sh", "-c", limit], user="tester"), 0)
            done = job.finish(input="go\n")
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "algo-3\n")
        self.assertIn("algo-2 is out: it is not well, no worker can be started there", own_lines(done))
