"""The harness itself: a test of "nothing is left" is worth something only if it sees what is left."""
import signal
import subprocess
import unittest
from unittest import mock

from harness import Cgroups, HostsCase, TestCase, gate, own_processes, popen, run, wait_until, watchdog_times


@gate
class LocalRuns(TestCase):
    def test_output_status_and_input_are_kept(self):
        done = run(["sh", "-c", "cat; printf 'a\\r\\n\\377' >&2; exit 7"], input=b"x\0y", binary=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, b"x\0y", b"a\r\n\xff"))

    def test_what_hangs_is_killed_and_fails(self):
        with watchdog_times(0.001), self.assertRaisesRegex(AssertionError, "hangs: .*it has not ended"):
            run(["sh", "-c", "echo early; sleep 1000"])

    def test_an_orphan_in_a_session_of_its_own_is_seen(self):
        run(["sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 </dev/null &"])
        self.assertTrue(any("sleep 1000" in command for _, command in own_processes()))
        inner = TestCase("fail")
        with watchdog_times(0.001), self.assertRaisesRegex(AssertionError, "processes left here"):
            inner._check_nothing_left()
        self.assertEqual(own_processes(), [])

    def test_a_cgroup_that_is_left_is_seen(self):
        if Cgroups.own is None:
            self.skipTest("no cgroup (v2) can be made: only root can, where /sys/fs/cgroup can be written")
        (Cgroups.own / "sml-run-abcdef").mkdir()
        inner = TestCase("fail")
        with watchdog_times(0.001), self.assertRaisesRegex(AssertionError, "cgroups left:\n.*/sml-run-abcdef"):
            inner._check_nothing_left()
        self.assertEqual(Cgroups.left(), [])

    def test_read_until_sees_the_text(self):
        with popen(["sh", "-c", "echo ready; sleep 1000"]) as p:
            self.assertIn(b"ready", p.read_until("ready"))
        self.assertEqual(p.returncode, -signal.SIGKILL)


@gate
class Hosts(HostsCase):
    def test_commands_run_on_hosts(self):
        done = self.bed.exec("algo-1", ["sh", "-c", "hostname; echo $A; pwd; id -un; cat"], env={"A": "b c"},
                             cwd="/usr", user="tester", input="in")
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "algo-1\nb c\n/usr\ntester\nin")
        self.assertEqual(self.bed.hosts(2), "algo-1:2,algo-2:2")

    def test_hosts_reach_each_other_by_ssh_until_cut(self):
        self.assertEqual(self.bed.exec("algo-1", ["ssh", "algo-2", "hostname"]).stdout, "algo-2\n")
        self.bed.cut("algo-2")
        try:
            done = self.bed.exec("algo-1", ["ssh", "-o", "ConnectTimeout=1", "algo-2", "hostname"])
        finally:
            self.bed.heal("algo-2")
        self.assertEqual(done.returncode, 255)

    def test_a_killed_host_comes_back(self):
        self.bed.kill("algo-2")
        self.bed.start("algo-2")
        self.assertEqual(self.bed.exec("algo-1", ["ssh", "algo-2", "hostname"]).stdout, "algo-2\n")

    def test_a_process_left_on_a_host_is_seen(self):
        self.bed.exec("algo-2", ["sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 </dev/null &"])
        kill = self.bed.kill_processes

        def kill_in_time(rows):  # it is the look that is to bite, not what ends the process
            with watchdog_times(1):
                kill(rows)

        with mock.patch.object(self.bed, "kill_processes", kill_in_time), watchdog_times(0.01), \
                self.assertRaisesRegex(AssertionError, "algo-2 .*sleep 1000"):
            self.bed.assert_clean()
        self.bed.assert_clean()

    def test_a_file_left_on_a_host_is_seen(self):
        self.bed.put("algo-2", "/tmp/litter/x", b"")
        self.assertEqual(self.bed.files_left(), ["algo-2:/tmp/litter", "algo-2:/tmp/litter/x"])
        self.assertEqual(self.bed.files_left(["/tmp/litter*"]), [])
        self.bed.exec("algo-2", ["rm", "-r", "/tmp/litter"])

    def test_a_running_command_takes_signals(self):
        with self.bed.popen("algo-1", ["sh", "-c", "trap 'echo got; exit 5' TERM; echo ready; while :; do sleep 0.05; done"],
                            stderr=subprocess.STDOUT) as p:
            p.read_until("ready")
            p.send_signal(signal.SIGTERM)
            self.assertEqual(p.finish().returncode, 5)

    def test_a_wait_without_an_end_fails(self):
        with watchdog_times(0.001), self.assertRaisesRegex(AssertionError, "hangs: .*what was said"):
            wait_until(lambda: False, lambda: "what was said")


if __name__ == "__main__":
    unittest.main()
