"""Faults of hosts, networks and starts, as tests/faults.md lists them: status, first words, nothing left."""
import math
import time

from harness import PYTHON, SML_RUN, gate, scaled, wait_until
from jobs import (assert_says, await_receiver, by_rank, edit_file, forget_agents, heartbeat, hold_receiver, sh, ssh_config,
                  wait_for_event)
from test_faults import FaultCase

WRITER = """
import os, time
print("ready", flush=True)
i = marked = 0
while not os.path.exists("/run/go"):
    print("line", i, flush=True)
    i += 1
    marked += os.path.exists("/run/mark")
    if marked == 300:
        print("many lines later", flush=True)
    time.sleep(0.005)
print("end", i)
"""


class LostHosts(FaultCase):
    hosts = 4
    others = ["algo-1", "algo-2", "algo-4"]

    def start(self, *options):
        job = self.popen("sh", "-c", "sleep 600 & echo ready; exec sleep 600", options=options)
        self.await_ready(job)
        return job

    def assert_nothing_runs(self, hosts):
        """A log-in that is given up has nobody who waits for its end over there."""
        self.bed.assert_clean(hosts=hosts)

    def assert_works_again(self):
        done = self.job("echo", "again")
        self.assert_ending(done, 0, None)
        self.assertEqual(done.stdout.count("again"), 8)

    def assert_lost(self, lose, back):
        """A host is lost while the job runs; it is brought back when the test ends, at the latest."""
        options, limit = heartbeat(5)
        with self.start(*options) as job:
            self.addCleanup(back, "algo-3")
            lose("algo-3")
            self.assert_ending(job.finish(), 125, f"algo-3: lost: nothing received for {limit}$", hosts=self.others)

    def test_cut_off_and_healed_too_late(self):
        self.assert_lost(self.bed.cut, self.bed.heal)
        self.bed.assert_clean()  # by the lost host's own clock, before it is back
        self.bed.heal("algo-3")
        self.assert_works_again()

    def test_cut_off_and_healed_in_time(self):
        """Not a line of what was written meanwhile is lost or doubled."""
        self.await_go(*self.bed.names())
        self.addCleanup(sh, self.bed, "algo-1", "rm -f /run/mark")
        with self.popen(PYTHON, "-c", WRITER) as job:
            out = self.await_ready(job)
            self.addCleanup(self.bed.heal, "algo-3")
            self.bed.cut("algo-3")
            self.bed.put("algo-1", "/run/mark", "")
            out += job.read_until("many lines later")  # the others go on
            to_us = f"ss -Htin dst {self.bed.address('algo-1')}"
            wait_until(lambda: "backoff" in sh(self.bed, "algo-3", to_us))  # and it is not heard
            self.bed.heal("algo-3")
            out += job.read_until("[4] line")
            self.go(*self.bed.names())
            done = job.finish()
        self.assert_ending(done, 0, None)
        lines = (out.decode() + done.stdout).splitlines()
        for rank in range(8):
            said = [ln.removeprefix(f"[{rank}] ") for ln in lines if ln.startswith(f"[{rank}] ")]
            said = [ln for ln in said if ln != "many lines later"]
            self.assertEqual(said, ["ready", *[f"line {i}" for i in range(len(said) - 2)], f"end {len(said) - 2}"])

    def test_frozen_and_thawed(self):
        self.assert_lost(self.bed.freeze, self.bed.thaw)
        self.bed.thaw("algo-3")
        self.bed.assert_clean()
        self.assert_works_again()

    @gate
    def test_killed(self):
        self.assert_lost(self.bed.kill, self.bed.start)

    @gate
    def test_rebooted(self):
        """The connection says at once that the host has gone."""
        with self.start() as job:
            self.addCleanup(self.bed.start, "algo-3")
            self.bed.kill("algo-3", fin=True)
            done = job.finish()
            self.assert_ending(done, 125, "algo-3: its agent has gone before its work was done: ", hosts=self.others)

    def test_sshd_killed(self):
        with self.start() as job:
            self.addCleanup(self.bed.start, "algo-3")
            self.addCleanup(self.bed.kill, "algo-3")
            sh(self.bed, "algo-3", "pkill -KILL -x sshd")
            done = job.finish()
            self.assert_ending(done, 125, "algo-3: its agent has gone before its work was done: ", hosts=self.others)
            self.bed.assert_clean()

    @gate
    def test_an_ssh_session_killed(self):
        """The agent does not take it for the launcher's end, and is found again."""
        script = "echo ready; until [ -e /run/go ]; do sleep .1; done; echo went on"
        self.await_go(*self.bed.names())
        with self.popen("sh", "-c", script) as job:
            self.await_ready(job)
            sh(self.bed, "algo-3", "pkill -KILL -f '^sshd: root'")
            wait_until(lambda: b"made again" in job.errors_so_far())
            self.go(*self.bed.names())
            done = job.finish()
        self.assert_ending(done, 0, None)
        self.assertEqual(done.stdout.count("went on"), 8)

    def test_everything_stands_still_for_longer_than_the_heartbeat(self):
        """As a suspended cluster does: nobody is lost. (The fault is a time, so that it takes one.)"""
        self.await_go(*self.bed.names())
        script = "echo ready; until [ -e /run/go ]; do sleep .1; done; echo went on"
        silence = scaled(5)
        with self.popen("sh", "-c", script, options=["--heartbeat-timeout", f"{silence}s"]) as job:
            self.await_ready(job)
            self.addCleanup(self.bed.thaw, *self.bed.names())
            self.bed.freeze(*self.bed.names())
            # A `sleep` that ends in this moment is a zombie until its parent goes on; a shell that has just made one waits
            # in D until that has executed its program (vfork).
            wait_until(lambda: {p["state"] for p in self.bed.ps()} <= {"T", "Z", "D"}, lambda: self.bed.ps())
            time.sleep(1.2 * silence)  # the fault itself
            self.bed.thaw(*self.bed.names())
            self.go(*self.bed.names())
            done = job.finish()
        self.assert_ending(done, 0, None)
        self.assertEqual(done.stdout.count("went on"), 8)

    # Of a start, one after the other.
    moments = (("host_step", "connecting"), ("host_step", "authenticating"), ("host_step", "starting the agent"),
               ("host_step", "preparing"), ("host_ready", None), ("host_step", "running"))

    def limit_connecting(self):
        """To algo-3, so that its loss is soon seen then; but a log-in that is only slow is not given up."""
        ssh_config(self, self.bed, "algo-1", f"Host algo-3\n ConnectTimeout {math.ceil(scaled(2))}\n")

    def lose_at(self, lose, event, step):
        """What is on its way is slow, so that the start goes not much further while we look."""
        self.bed.delay(50, "algo-3")
        self.addCleanup(self.bed.delay, 0, "algo-3")
        events = self.bed.path("algo-1", self.events)
        self.addCleanup(events.unlink, missing_ok=True)
        options = [*heartbeat(5)[0], "--start-timeout", f"{scaled(5)}s", "--events", self.events]
        with self.popen("sh", "-c", "echo ready; exec sleep 600", options=options) as job:
            wait_for_event(events, event, host="algo-3", **({"step": step} if step else {}))
            lose("algo-3")
            done = job.finish()
        events.unlink()
        self.assert_ending(done, 125, r"(algo-3|\d hosts): ", hosts=self.others)
        assert_says(self, done, "algo-3")

    def test_cut_off_during_the_start(self):
        """At moments that its events tell of; random ones are the simulation's."""
        self.limit_connecting()
        self.addCleanup(self.bed.heal, "algo-3")
        for event, step in self.moments:
            with self.subTest(event=event, step=step):
                try:
                    self.lose_at(self.bed.cut, event, step)
                    self.bed.assert_clean()  # while it is cut off still
                finally:
                    self.bed.heal("algo-3")
        self.bed.delay(0, "algo-3")
        self.assert_works_again()

    def test_cut_off_while_the_agent_is_sent(self):
        """What waits there for the rest of the bytes gives up by itself, and leaves no part of them."""
        forget_agents(self.bed)
        hold_receiver(self, self.bed, "algo-3")
        self.addCleanup(self.bed.heal, "algo-3")
        options = [*heartbeat(5)[0], "--start-timeout", f"{scaled(5)}s"]
        with self.popen("sh", "-c", "echo ready; exec sleep 600", options=options) as job:
            await_receiver(self.bed, "algo-3")
            self.bed.cut("algo-3")
            done = job.finish()
        self.assert_ending(done, 125, r"(algo-3|\d hosts): ", hosts=self.others)
        self.bed.assert_clean()
        self.assertNotIn(".new", sh(self.bed, "algo-3", f"ls -A {self.cache}"))

    def test_a_job_that_ends_while_the_agent_is_sent(self):
        """What receives it ends with its connection, however late it is, and leaves no part of it."""
        forget_agents(self.bed)
        sh(self.bed, "algo-3", "mkfifo /run/door")
        self.addCleanup(sh, self.bed, "algo-3", "rm -f /run/door")
        edit_file(self, self.bed, "algo-3", "/home/root/.bashrc", lambda _: "read x < /run/door\n")
        for host in self.others:
            place = self.bed.put(host, "/run/program", "#!/bin/sh\necho started\n", mode=0o755)
            self.addCleanup(place.unlink, missing_ok=True)
        hold_receiver(self, self.bed, "algo-2")
        with self.popen("/run/program") as job:
            await_receiver(self.bed, "algo-2")
            sh(self.bed, "algo-3", "echo > /run/door")
            done = job.finish()
        self.assert_status(done, 127)
        self.assertNotIn("started", done.stdout)
        self.bed.assert_clean(hosts=("algo-1", "algo-3"))
        sh(self.bed, "algo-2", "pkill -CONT -x head")
        self.bed.assert_clean()
        self.assertNotIn(".new", sh(self.bed, "algo-2", f"ls -A {self.cache}"))

    def test_killed_during_the_start(self):
        """At moments that its events tell of; random ones are the simulation's."""
        self.limit_connecting()
        self.addCleanup(self.bed.start, "algo-3")
        for event, step in self.moments[1::2]:
            with self.subTest(event=event, step=step):
                try:
                    self.lose_at(self.bed.kill, event, step)
                finally:
                    self.power_on()
        self.assert_works_again()

    def power_on(self):
        self.bed.start("algo-3")


class Links(FaultCase):
    def test_a_slow_link(self):
        """tests/bench/round_trips counts what it costs."""
        self.bed.delay(200, "algo-1", "algo-3")
        self.addCleanup(self.bed.delay, 0, "algo-1", "algo-3")
        done = self.job(*self.only(5, "exit 9"))
        self.assert_ending(done, 9, "rank 5 on algo-3 exited with status 9 ")

    def test_another_clock(self):
        """The clock of the launcher's host is another than that of the others: who failed first is seen all the same."""
        script = f"echo ready; case $RANK in [14]) {self.await_go(*self.HOST_OF.values())}; exit 3$RANK;; esac; exec sleep 600"
        for shift in ("+100000", "-600"):
            words = self.words(["sh", "-c", script], ())
            argv = ["unshare", "--time", f"--monotonic={shift}", "--fork", "--kill-child", str(SML_RUN), *words]
            with self.subTest(shift=shift), self.bed.popen("algo-1", argv, user=self.user, env=self.env) as job:
                self.await_ready(job)
                pids = self.waiting()
                self.signal("algo-1", "STOP")
                self.end_in_turn(pids, 4, 1)
                self.signal("algo-1", "CONT")
                done = job.finish()
                self.assert_ending(done, 34, "rank 4 on algo-3 exited with status 34 after ")
            for host in ("algo-1", "algo-3"):
                sh(self.bed, host, "rm -f /run/go")


class OneChannel(FaultCase):
    sshd = ["MaxSessions 1"]

    @gate
    def test_one_session_per_connection(self):
        done = self.job("echo", "started")
        self.assert_ending(done, 0, None)
        self.assertEqual(done.stdout.count("started"), 6)


class OtherMachines(FaultCase):
    hosts = 2

    @gate
    def test_a_host_of_another_kind(self):
        self.bed.put("algo-2", "/run/uname", "#!/bin/sh\necho riscv64\n", mode=0o755)
        sh(self.bed, "algo-2", "mount --bind /run/uname /usr/bin/uname")
        self.addCleanup(sh, self.bed, "algo-2", "umount /usr/bin/uname; rm /run/uname")
        forget_agents(self.bed)
        done = self.job("echo", "started")
        self.assert_ending(done, 125, "algo-2: is a machine of type riscv64, the agent at hand is for ", ("algo-1",))
        self.bed.assert_clean()  # the shell there that waited for the agent ends with its input
        self.assertNotIn("started", done.stdout)
        self.assert_nothing_was_stored("algo-2")

    def assert_nothing_was_stored(self, host):
        self.assertEqual(sh(self.bed, host, f"ls -A {self.cache} 2>/dev/null || true"), "")

    @gate
    def test_one_host_under_two_names(self):
        hosts = ["algo-1", "localhost", "algo-2", self.bed.address("algo-2")]
        done = self.bed.sml_run("algo-1", "-H", ",".join(hosts), "sh", "-c", "echo started $RANK $SML_HOST $(hostname)")
        self.assert_ending(done, 0, "warning: localhost is this machine, as algo-1 is")
        places = ["algo-1", "algo-1", "algo-2", "algo-2"]  # by its first name
        self.assertEqual(by_rank(done.stdout), {r: [f"started {r} {name} {name}"] for r, name in enumerate(places)})


class OneOfSixtyFour(FaultCase):
    """The limits of the one are short, those of the others long: however slow this machine is, only one side is met."""

    hosts = 64
    bad = "algo-33"

    def assert_nothing_runs(self, hosts):
        """What is on its way to being ready somewhere when the job ends sees that once it gets a processor."""
        self.bed.assert_clean(hosts=hosts)

    def start(self, command=("sh", "-c", "echo started")):
        return self.bed.sml_run("head", "-H", "algo-[1-64]", *command)

    def check(self, first, status=125, hosts=(), **kw):
        done = self.start(**kw)
        self.assert_ending(done, status, f"{self.bad}: {first}", hosts=hosts)
        self.assertNotIn("started", done.stdout)

    def others(self):
        return [h for h in self.bed.names() if h != self.bad]

    def test_dead(self):
        self.addCleanup(self.bed.heal, self.bad)
        self.bed.cut(self.bad)
        ssh_config(self, self.bed, "head", f"Host {self.bad}\n ConnectTimeout 1\n")
        self.check("(no connection within 1 s|no route to host)$")

    def test_refused(self):
        ssh_config(self, self.bed, "head", f"Host {self.bad}\n Port 2299\n")
        self.check("connection refused$")

    def test_wrong_key(self):
        known = self.bed.path("head", "/home/root/.ssh/known_hosts").read_text().splitlines()
        keys = {line.split(",")[0]: line.split(" ", 1)[1] for line in known}
        edit_file(self, self.bed, "head", "/home/root/.ssh/known_hosts",
                  lambda old: old.replace(keys[self.bad], keys["algo-1"]))
        self.check("the host key has changed: it is ssh-ed25519 SHA256:")

    def test_hanging_in_its_banner(self):
        limit = math.ceil(scaled(1))
        ssh_config(self, self.bed, "head", f"Host {self.bad}\n Port 2298\n ConnectTimeout {limit}\n")
        for greeting in (b"", b"SSH-2.0-Open", b"Welcome\r\n"):
            server = ("import socket; l = socket.create_server(('', 2298)); print('ready', flush=True); all = []\n"
                      f"while True: all.append(l.accept()[0]); all[-1].send({greeting!r})")
            with self.subTest(greeting=greeting), self.bed.popen(self.bad, [PYTHON, "-c", server]) as process:
                process.read_until("ready")
                self.check(f"connected, but its ssh server sent no keys within {limit} s$", hosts=self.others())
                process.terminate()
                process.wait()

    def test_a_program_missing(self):
        for host in self.bed.names():
            place = self.bed.put(host, "/run/program", "#!/bin/sh\necho started\n", mode=0o755)
            self.addCleanup(place.unlink, missing_ok=True)
        self.bed.path(self.bad, "/run/program").unlink()
        self.check("there is no program /run/program$", status=127, command=["/run/program"])

    def test_a_slow_login(self):
        """The others get ready meanwhile, and a line names the one that all wait for."""
        sh(self.bed, self.bad, "mkfifo /run/door")
        self.addCleanup(sh, self.bed, self.bad, "rm -f /run/door")
        edit_file(self, self.bed, self.bad, "/home/root/.bashrc", lambda _: "read x < /run/door\n")
        argv = ["-H", "algo-[1-64]", "--heartbeat-timeout", "1h", "--start-timeout", "1h", "sh", "-c", "echo started"]
        with self.bed.sml_run_popen("head", *argv) as job:
            said = b""
            while b"waiting for algo-33 (starting the agent: logged in, but the shell there has not answered)" not in said:
                line = job.stderr.readline()
                self.assertTrue(line, said)
                said += line
            sh(self.bed, self.bad, "echo > /run/door")
            done = job.finish()
        self.assert_ending(done, 0, None)
        self.assertEqual(done.stdout.count("started"), 64)

    def test_too_few_descriptors_for_all(self):
        done = self.bed.exec("head", ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", str(SML_RUN), "-H", "algo-[1-64]",
                                      "echo", "started"])
        self.assert_ending(done, 125, r"64 hosts need \d+ open files, the limit is 64$")
        self.assertNotIn("started", done.stdout)
