"""Connections of hosts that call, which break while a job runs: they are made again, and nothing is lost or comes twice."""
import subprocess

from harness import PYTHON, gate, wait_until
from jobs import BLOCK, LINES, Output, heartbeat, reset_connection, sh
from test_dial_in import PORT, NoSsh

PATIENT = ("--heartbeat-timeout", "1h")
AGAIN = "host-1: the connection to it had broken, and has been made again"


class Links(NoSsh):
    hosts = 2

    def reset(self, place, around="{}"):
        reset_connection(self, f"algo-{place + 1}", PORT, around)

    def cut(self):
        self.addCleanup(self.bed.heal, "algo-2")
        self.bed.cut("algo-2")

    def run_with(self, disturb, blocks, *options, status=0, go=""):
        """The host that has called prints so much, while `disturb(read)` goes on, and then waits for the file `go`; the
        head shows what was printed, once and in order."""
        self.bed.put("algo-1", "/run/lines.py", LINES)
        self.bed.put("algo-2", "/run/lines.py", LINES)
        script = f"[ $RANK = 0 ] || exec {PYTHON} /run/lines.py {blocks} 0 {status} {go}"
        head, other = self.start_all(*options, "--no-tag", "--nproc-per-node", "1", "sh", "-c", script)
        output = self.output = Output(head)
        disturb(output.read)
        output.read_all()
        done = self.ends([head, other], status)
        self.assertEqual(output.size, blocks * BLOCK)
        self.assertEqual(output.digest(), sh(self.bed, "algo-2", "cat /run/told-1; rm /run/told-1").strip())
        return done[0]

    def test_reset_from_either_side_in_100_mb_of_output(self):
        def disturb(read):
            for place, mark in enumerate((5, 25, 45, 65, 85)):
                read(mark << 20)
                self.reset(place % 2)
        self.assertIn(AGAIN, self.run_with(disturb, 10_000).stderr)

    @gate
    def test_reset_on_the_head_s_side_alone(self):
        """As where something between them has forgotten the connection: the host learns of it when it speaks."""
        def disturb(read):
            read(5 << 20)
            self.reset(0, "set -e; tc qdisc add dev eth0 root blackhole; {}; tc qdisc del dev eth0 root")
        self.assertIn(AGAIN, self.run_with(disturb, 4_000).stderr)

    def test_cut_and_healed_in_time(self):
        """What was on its way is sent again: nobody calls anew."""
        def disturb(read):
            read(5 << 20)
            self.cut()
            self.output.read_until_resent(self.bed, ("algo-1", "algo-2"), PORT)
            self.bed.heal("algo-2")
        done = self.run_with(disturb, 10_000, "--max-restarts", "3", *PATIENT)
        self.assertNotIn(AGAIN, done.stderr)
        self.assertNotIn("restart 1", done.stderr)

    def prepared(self, place, script):
        """A shell on that host which has begun, and runs the script when it gets a line."""
        shell = self.enterContext(self.bed.popen(f"algo-{place + 1}", ["sh", "-c", f"echo begun; read line; {script}"],
                                                 stdin=subprocess.PIPE))
        shell.read_until("begun\n")
        return shell

    def let_go(self, shell):
        done = shell.finish("go\n")
        self.assert_status(done, 0)
        return done.stdout

    def status_told_while(self, mute):
        """When the worker ends, what the one at `mute` says goes nowhere; then the connection ends, first at one side and
        the next time at the other. The host that calls may be silent for an hour; the head sends the status for 5 s at most,
        in which all that is to happen is prepared."""
        end = "touch /run/go; while pgrep -f '^[^ ]*python3[^ ]* .* /run/go$' >/dev/null; do sleep .01; done"
        for broken in (0, 1):
            with self.subTest(broken=broken):
                def disturb(read, broken=broken):
                    read(20 * BLOCK)
                    ends = self.prepared(1, end)
                    breaks = self.prepared(broken, f"ss -HtK 'sport = :{PORT} or dport = :{PORT}'")
                    speaks = self.prepared(mute, "tc qdisc del dev eth0 root")
                    sh(self.bed, f"algo-{mute + 1}", "tc qdisc add dev eth0 root blackhole")
                    self.let_go(ends)
                    ended = self.let_go(breaks)
                    self.let_go(speaks)
                    sh(self.bed, "algo-2", "rm /run/go")
                    self.assertNotEqual(ended, "", "nothing was broken")
                self.assertIn(AGAIN, self.run_with(disturb, 20, *PATIENT, status=7, go="/run/go").stderr)

    @gate
    def test_a_status_that_is_told_into_a_broken_connection(self):
        self.status_told_while(1)

    def test_an_answer_to_a_status_that_is_told_into_a_broken_connection(self):
        self.status_told_while(0)

    def running_after_a_reset(self, *options):
        options = options or PATIENT
        both = self.start_all(*options, "--nproc-per-node", "1", "sh", "-c", "echo up; exec sleep 1000")
        both[0].read_until("[1] up")
        self.reset(1)
        wait_until(lambda: AGAIN.encode() in both[0].errors_so_far(), lambda: both[0].errors_so_far())
        return both

    def test_a_stop_after_a_reset_ends_both(self):
        for place in (0, 1):
            both = self.running_after_a_reset()
            sh(self.bed, f"algo-{place + 1}", "pkill -TERM -x sml-run")
            self.ends(both, 143)

    def test_a_head_that_is_killed_after_a_reset(self):
        head, other = self.running_after_a_reset()
        sh(self.bed, "algo-1", "pkill -KILL -x sml-run")
        done = other.finish()
        self.assert_status(done, 125)
        self.assertIn(f"the head, algo-1 port {PORT}, has gone", done.stderr)
        head.finish()
        self.bed.assert_clean()

    @gate
    def test_a_host_that_is_killed_after_a_reset(self):
        head, other = self.running_after_a_reset()
        sh(self.bed, "algo-2", "pkill -KILL -x sml-run")
        done = head.finish()
        self.assert_status(done, 125)
        self.assertIn("its sml-run has gone", done.stderr)
        other.finish()

    def test_a_host_that_is_lost_after_a_reset(self):
        options, limit = heartbeat(2)
        head, other = self.running_after_a_reset(*options)
        self.cut()
        done = self.ends([head, other], 125)
        self.assertIn(f"host-1: lost: nothing received for {limit}", done[0].stderr)
        self.assertIn(f"has gone: nothing received for {limit}", done[1].stderr)
