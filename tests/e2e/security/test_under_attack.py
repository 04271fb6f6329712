"""A job that trains while other users of its hosts, and a stranger on the network, try what they can all the time."""
import json
import os
import shutil

from harness import PYTHON, REPO, TRAIN_DDP, HostsCase, scaled, wait_until
from jobs import by_rank, cached_agents, sh
from test_dial_in import NoSsh

ATTACKERS = REPO / "tests/e2e/security/attackers.py"
USER, OTHER = "tester", "65534"
CACHE = f"/home/{USER}/.cache/sml-run"
OPEN, PRECIOUS, TARGET, MARK = "/run/open", "/run/precious", "/run/target", "/run/open/hijacked"
OWN = "/run/own"  # of the job's user: a report in a folder in which others write is refused before the start


class Training:
    """Three hosts and `head`, where the stranger is. Jobs are of `tester`; the other user has no more in common with it
    than the machine."""

    hosts = 3
    watchdog_times = 4

    def setUp(self):
        shared = self.seen_shared = sh(self.bed, "algo-1", "echo $TESTBED_SHARED").strip()
        self.shared = self.bed.path("algo-1", shared)
        self.meeting, self.go, self.model, self.hello = (f"{shared}/{n}" for n in ("meeting", "go", "model.pt", "hello"))
        self.addCleanup(self.clear)
        for host in self.bed.names():
            sh(self.bed, host, "mkdir -m 1777 $1; mkdir $3 $4; echo precious > $2; chown tester $2 $3 $4", OPEN, PRECIOUS, TARGET, OWN)
            self.addCleanup(sh, self.bed, host, "rm -r $1 $2 $3 $4", OPEN, PRECIOUS, TARGET, OWN)

    def clear(self):
        for file in self.shared.iterdir():
            file.unlink()

    def program(self):
        """Training; then each worker waits until the attackers have had their time."""
        script = ('if [ $RANK = 0 ]; then echo "$MASTER_ADDR $MASTER_PORT $HOROVOD_GLOO_RENDEZVOUS_PORT" > $0.new; mv $0.new $0; '
                  'fi; go=$1; shift; "$@"; status=$?; until [ -e $go ]; do sleep 0.1; done; rm -f $0; exit $status')
        return ("--torch-store", "--report", f"{OWN}/report.json", "--log-dir", f"{OPEN}/logs", "sh", "-c", script, self.meeting,
                self.go, PYTHON, TRAIN_DDP, "--epochs", "3", "--points", "3072", "--out", self.model)

    def result(self, done):
        """What must not change: losses and other output, what the programs said of errors, parameters, status."""
        programs_errors = sorted(ln for ln in done.stderr.splitlines() if not ln.startswith("sml-run: "))
        self.assert_status(done, 0)
        self.assertRegex(done.stdout, r"\[0\] trained: loss .* equal parameters on 3 ranks")
        return by_rank(done.stdout), programs_errors, self.bed.path("algo-1", self.model).read_bytes()

    def attack(self, name, who, host, user, **facts):
        facts = {"enough": f"{self.seen_shared}/enough {name}", "meeting": self.meeting, "hello": self.hello, "head": self.bed.address("algo-1"), "ports": [], "cache": CACHE,
                 "mark": MARK, "open": OPEN, "links": {"report.json": PRECIOUS, "logs": TARGET, "logs/0": TARGET},
                 "without": [], **facts}
        argv = [PYTHON, "-B", ATTACKERS, who, json.dumps(facts)]
        as_user = {"tester": []}.get(user, ["setpriv", f"--reuid={user}", "--clear-groups"])
        process = self.bed.popen(host, [*as_user, *argv], user="tester" if user == "tester" else "root", stdin=-1)
        self.enterContext(process).read_until("up\n")
        return process

    def attack_all(self, ports=(), without=(), stranger_without=()):
        plan = [("stranger", "stranger", "head", OTHER, stranger_without)]
        for host in self.bed.names():
            first = host == "algo-1"
            off = [*without, *([] if first else ["take_ports"]), *(["exchange_agent"] if first else [])]
            plan += [(f"other user on {host}", "other", host, OTHER, off), (f"job's user on {host}", "same", host, USER, ())]
        return {name: self.attack(name, who, host, user, ports=list(ports), without=list(off))
                for name, who, host, user, off in plan}

    def check(self, attackers):
        for name, process in attackers.items():
            done = process.finish(input="")
            self.assert_status(done, 0)
            for attack, count in json.loads(done.stdout.splitlines()[-1]).items():
                with self.subTest(attacker=name, attack=attack, tries=count["tries"]):
                    self.assertEqual(count["successes"], [])
                    self.assertGreater(count["tries"], 0)
        for host in self.bed.names():
            self.assertEqual(sh(self.bed, host, "cat $1; ls $2; ls $3 2>/dev/null || true", PRECIOUS, TARGET, MARK), "precious\n")

    def quiet(self, job):
        """The result of the job without attackers."""
        self.bed.path("algo-1", self.go).touch()
        result = self.result(job())
        self.clear()
        for host in self.bed.names():
            shutil.rmtree(self.bed.path(host, f"{OPEN}/logs"), ignore_errors=True)
            self.bed.path(host, f"{OWN}/report.json").unlink(missing_ok=True)
        return result

    def end_when_tried(self, attackers, jobs):
        """Lets the job end when each attacker has tried all that it can often enough."""
        tried = lambda: all((self.shared / f"enough {name}").exists() for name in attackers)  # noqa: E731
        wait_until(lambda: tried() or any(job.poll() is not None for job in jobs))
        ended = [str(job.finish()) for job in jobs if job.poll() is not None]
        self.assertEqual(ended, [], "the job did not last as long as the attacks")
        self.assertTrue(tried(), os.listdir(self.shared))
        self.bed.path("algo-1", self.go).touch()


class OverSsh(Training, HostsCase):
    def test_training_goes_on_as_without(self):
        words = ("-H", self.bed.hosts(1), *self.program())
        expected = self.quiet(lambda: self.bed.sml_run("algo-1", *words, user=USER))
        for host in ("algo-2", "algo-3"):
            self.assertEqual(len(cached_agents(self.bed, host, CACHE)), 1)
            sh(self.bed, host, "chmod 755 /home/tester /home/tester/.cache; chmod 777 $1", CACHE)
        attackers = self.attack_all(stranger_without=("guess_key", "replay_hello", "be_a_head", "flood"))
        job = self.enterContext(self.bed.sml_run_popen("algo-1", *words, user=USER))
        self.end_when_tried(attackers, [job])
        self.assertEqual(self.result(job.finish()), expected)
        self.check(attackers)


class HostsThatCall(Training, NoSsh):
    def test_training_goes_on_as_without(self):
        expected = self.quiet(self.job)
        attackers = self.attack_all(ports=[29399], without=["exchange_agent"])
        lured = self.start(1, "--start-timeout", f"{scaled(4)}s", "touch", MARK, head="head", user=USER)
        running = self.start_all(*self.program(), user=USER)
        self.assert_status(lured.finish(), 125)
        self.end_when_tried(attackers, running)
        first, *others = self.ends(running, 0)
        self.assertEqual(self.result(first), expected)
        self.assertEqual([one.stdout for one in others], ["", ""])
        self.check(attackers)

    def job(self):
        return self.ends(self.start_all(*self.program(), user=USER), 0)[0]
