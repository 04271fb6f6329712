"""Connections between sml-run and its hosts that are cut or reset while a job runs: it goes on, and nothing is lost."""
import hashlib
import subprocess

from harness import PYTHON, HostsCase, gate, wait_until
from jobs import (BLOCK, LINES, TROUBLE, Output, assert_says, await_receiver, edit_file, forget_agents, heartbeat, hold_receiver,
                  let_lines_end, reset_connection, sh)


def signal_session(bed, host, name):
    """To what serves the session there."""
    sh(bed, host, f"pkill -{name} -f '^sshd: root'")


def reset(bed, *hosts):
    """What served the session there is gone at once, as nobody has asked it to."""
    for host in hosts:
        signal_session(bed, host, "KILL")


class Links(HostsCase):
    hosts = 3

    def reset_and_see(self, job, *hosts):
        """... and that the connections have been made again."""
        reset(self.bed, *hosts)
        said = bytearray()

        def again():
            said.extend(job.errors_so_far())
            return said.count(b"has been made again") >= len(hosts)
        wait_until(again, lambda: said)

    def told(self, host, rank=0):
        return sh(self.bed, host, f"cat /run/told-{rank}; rm /run/told-{rank}").strip()

    def run_with(self, disturb, blocks, *options, pause=0.0, status=0, go=(), hosts="algo-2"):
        """A rank that prints so much, while `disturb(read)` goes on, and then waits for the file `go`; what is shown is
        what was printed, once and in order."""
        with self.bed.sml_run_popen("algo-1", *options, "--no-tag", "-H", hosts, PYTHON, "-c", LINES, str(blocks),
                                    str(pause), str(status), *go) as job:
            output = Output(job)
            self.job, self.output = job, output
            disturb(output.read)
            output.read_all()
            done = job.finish()
        self.assert_status(done, status)
        self.assertEqual(output.size, blocks * BLOCK)
        self.assertEqual(output.digest(), self.told("algo-2"))
        return done

    @gate
    def test_a_session_that_is_killed_in_100_mb_of_output(self):
        def disturb(read):
            for mark in (5, 30, 60, 90):
                read(mark << 20)
                self.reset_and_see(self.job, "algo-2")

        self.run_with(disturb, 10_000)

    def test_a_connection_that_breaks_before_the_agent_runs(self):
        """Once, while the login reads its start files: all of it is done again."""
        sh(self.bed, "algo-2", "mkfifo /run/door")
        self.addCleanup(sh, self.bed, "algo-2", "rm -f /run/door /run/first")
        edit_file(self, self.bed, "algo-2", "/home/root/.bashrc",
                  lambda _: "[ -e /run/first ] || { touch /run/first; read x < /run/door; exit; }\n")
        with self.bed.sml_run_popen("algo-1", "--no-tag", "-H", "algo-2", "hostname") as job:
            wait_until(lambda: self.bed.path("algo-2", "/run/first").exists())
            reset(self.bed, "algo-2")
            done = job.finish()
        sh(self.bed, "algo-2", "exec 3<>/run/door; echo >&3; pkill -f '^bash -c' || true")
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "algo-2\n")

    def read_sshd_config_again(self, host):
        def times():
            return self.bed.sshd_log(host).count("Server listening on")

        before = times()
        sh(self.bed, host, "pkill -HUP -f '^sshd: .*listener'")
        wait_until(lambda: times() > before)

    def test_a_connection_that_is_reset_during_the_authentication(self):
        """Once, while the server looks for the keys of the user: another log-in follows."""
        keys = "[ -e /run/first ] || { touch /run/first; read x < /run/door; }; cat /home/root/.ssh/authorized_keys"
        self.bed.put("algo-2", "/run/keys", f"#!/bin/sh\n{keys}\n", mode=0o755)
        sh(self.bed, "algo-2", "mkfifo /run/door")
        self.addCleanup(sh, self.bed, "algo-2", "exec 3<>/run/door; echo >&3; rm -f /run/door /run/first /run/keys")
        self.addCleanup(self.read_sshd_config_again, "algo-2")
        edit_file(self, self.bed, "algo-2", "/run/sshd/sshd_config", lambda text:
                  "AuthorizedKeysFile none\nAuthorizedKeysCommand /run/keys\nAuthorizedKeysCommandUser root\n" + text)
        self.read_sshd_config_again("algo-2")
        with self.bed.sml_run_popen("algo-1", "--no-tag", "-H", "algo-2", "hostname") as job:
            wait_until(lambda: self.bed.path("algo-2", "/run/first").exists())
            reset_connection(self, "algo-2", 22)
            done = job.finish()
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "algo-2\n")

    def test_a_connection_that_is_reset_while_the_agent_is_sent(self):
        """Once: another log-in asks for the bytes anew."""
        forget_agents(self.bed)
        hold_receiver(self, self.bed, "algo-2")
        with self.bed.sml_run_popen("algo-1", "--no-tag", "-H", "algo-2", "hostname") as job:
            await_receiver(self.bed, "algo-2")
            reset_connection(self, "algo-2", 22)
            done = job.finish()
        sh(self.bed, "algo-2", "pkill -CONT -x head || true")
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "algo-2\n")

    @gate
    def test_a_connection_that_is_reset_by_the_system(self):
        def disturb(read):
            read(5 << 20)
            for host in ("algo-1", "algo-2"):  # as seen from here, and from there
                reset_connection(self, host, 22)
                read(20 << 20)

        done = self.run_with(disturb, 4_000)
        self.assertGreaterEqual(done.stderr.count("has been made again"), 2, done.stderr)

    @gate
    def test_cut_for_less_than_the_heartbeat_timeout(self):
        def disturb(read):
            read(5 << 20)
            self.addCleanup(self.bed.heal, "algo-2")
            self.bed.cut("algo-2")
            self.output.read_until_resent(self.bed, ("algo-1", "algo-2"), 22)
            self.bed.heal("algo-2")

        done = self.run_with(disturb, 3_000, "--max-restarts", "3", "--heartbeat-timeout", "1h")
        assert_says(self, done, never=TROUBLE + "|restart 1")

    def test_cut_for_longer_than_tcp_waits(self):
        """If it is asked nothing else it takes a connection for broken after 30 s, and an agent waits for another but 5 s."""
        def disturb(read):
            read(5 << 20)
            self.addCleanup(self.bed.heal, "algo-2")
            self.bed.cut("algo-2")
            self.output.read_until_resent(self.bed, ("algo-1", "algo-2"), 22, times="([89]|1[0-9])")
            self.bed.heal("algo-2")

        done = self.run_with(disturb, 3_000, "--heartbeat-timeout", "1h")
        assert_says(self, done, never=TROUBLE)

    @gate
    def test_a_status_that_is_told_while_the_connection_breaks(self):
        """It goes to a server that no longer hands it on, and is lost with that."""
        def disturb(read):
            read(20 * BLOCK)
            signal_session(self.bed, "algo-2", "STOP")
            let_lines_end(self, "algo-2", "/run/go")
            self.assertNotIn(b"exited with", self.job.errors_so_far())
            reset(self.bed, "algo-2")

        before = self.bed.sshd_log("algo-2").count("Accepted publickey")
        done = self.run_with(disturb, 20, "--heartbeat-timeout", "1h", status=7, go=("/run/go",))
        self.assertIn("rank 0 on algo-2 exited with status 7", done.stderr)
        self.assertEqual(self.bed.sshd_log("algo-2").count("Accepted publickey"), before + 2, "it was broken, and made again")

    def test_input_that_is_fed_meanwhile(self):
        code = ("import hashlib, sys\nseen = hashlib.sha256()\nsize = 0\nwhile piece := sys.stdin.buffer.read1(65536):\n"
                "    seen.update(piece); before = size; size += len(piece)\n"
                "    if size >> 22 != before >> 22: print('so far', size, flush=True)\nprint(seen.hexdigest())")
        with self.bed.sml_run_popen("algo-1", "--no-tag", "-H", "algo-2", PYTHON, "-c", code, stdin=subprocess.PIPE) as job:
            given = hashlib.sha256()
            for turn in range(24):
                piece = bytes([turn]) * (1 << 20)
                given.update(piece)
                job.stdin.write(piece)
                job.stdin.flush()
                if turn in (6, 12, 18):
                    self.reset_and_see(job, "algo-2")
            job.stdin.close()
            job.stdin = None
            out = job.read_until(given.hexdigest())
            done = job.finish()
        self.assert_status(done, 0)
        self.assertIn(b"so far", out)

    @gate
    def test_all_hosts_at_once_and_again(self):
        script = "echo ready; until [ -e /run/go ]; do sleep .1; done; echo went on; exit 0"
        with self.bed.sml_run_popen("algo-1", "--no-tag", "-H", self.bed.hosts(slots=2), "sh", "-c", script) as job:
            job.read_until("ready\n" * 6)
            for _ in range(3):
                self.reset_and_see(job, "algo-2", "algo-3")
            for host in self.bed.names():
                self.addCleanup(sh, self.bed, host, "rm -f /run/go")
                self.bed.put(host, "/run/go", "")
            done = job.finish()
        self.assert_status(done, 0)
        self.assertEqual(done.stdout.count("went on"), 6)

    @gate
    def test_a_launcher_that_is_killed_after_a_reset(self):
        with self.bed.sml_run_popen("head", "-H", self.bed.hosts(slots=1), "sh", "-c", "echo ready; exec sleep 600") as job:
            job.read_until("ready")
            self.reset_and_see(job, "algo-2")
            sh(self.bed, "head", "pkill -KILL -x sml-run")
            wait_until(lambda: not self.bed.ps(), lambda: self.bed.ps())
            job.finish()

    def test_a_host_that_is_lost_after_a_reset(self):
        options, limit = heartbeat(2)
        with self.bed.sml_run_popen("algo-1", *options, "-H", self.bed.hosts(slots=1), "sh", "-c",
                                    "echo ready; exec sleep 600") as job:
            job.read_until("ready")
            self.reset_and_see(job, "algo-2")
            self.addCleanup(self.bed.start, "algo-2")
            self.bed.kill("algo-2")
            done = job.finish()
        self.assert_status(done, 125)
        self.assertIn(f"algo-2: lost: nothing received for {limit}", done.stderr)
