"""Kernels without newer system calls, and containers that forbid them: what is not there is done without, here as on other
hosts. A seccomp filter answers in the kernel's place."""
import json
import pathlib
import platform
import unittest

from harness import PYTHON, SML_RUN, HostsCase, gate, run, wait_until
from jobs import TROUBLE, assert_says, forget_agents, sh

DENY = pathlib.Path(__file__).with_name("deny.py")
LAST_OF_LINUX_3_17 = 320  # kexec_file_load
NEWEST = 1023
HERE = ["--host-source", "local", "-np", "2"]
MEMFD_CREATE, PIDFD_OPEN, CLONE3, OPENAT2 = 319, 434, 435, 437
FIRST_SINCE_2019 = 424  # pidfd_send_signal: what a seccomp profile of 2019 does not know


@unittest.skipUnless(platform.machine() == "x86_64", "the numbers of system calls are those of x86-64")
class OldKernels(HostsCase):
    hosts = 2

    def assert_runs(self, error, first, last, *options):
        done = self.bed.exec("algo-1", [PYTHON, DENY, error, str(first), str(last), SML_RUN, *options, "sh", "-c", "echo hi $RANK"])
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.splitlines()), ["[0] hi 0", "[1] hi 1"])
        assert_says(self, done, never=TROUBLE)

    @gate
    def test_none_of_the_system_calls_that_linux_3_17_lacks(self):
        """The oldest kernel that README names."""
        for options in (HERE, ["-H", "algo-1,algo-2"]):
            with self.subTest(options=options):
                self.assert_runs("ENOSYS", LAST_OF_LINUX_3_17 + 1, NEWEST, *options)

    @gate
    def test_calls_that_a_container_forbids(self):
        for what, first, last in (("pidfd_open", PIDFD_OPEN, PIDFD_OPEN), ("clone3", CLONE3, CLONE3),
                                  ("memfd_create", MEMFD_CREATE, MEMFD_CREATE), ("all of late", FIRST_SINCE_2019, NEWEST)):
            for options in (HERE, ["-H", "algo-1,algo-2"]):
                with self.subTest(what=what, options=options):
                    forget_agents(self.bed)
                    self.assert_runs("EPERM", first, last, *options)

    @gate
    def test_what_an_agent_that_was_killed_with_its_guardian_leaves(self):
        """The launcher ends it without the system calls for handles of processes."""
        for error, first in (("EPERM", FIRST_SINCE_2019), ("ENOSYS", LAST_OF_LINUX_3_17 + 1)):
            line = [PYTHON, DENY, error, str(first), str(NEWEST), SML_RUN, "--heartbeat-timeout", "1h", "--grace", "1h",
                    "-H", "algo-1", "sh", "-c", "setsid sleep 601 & setsid sleep 602 & echo ready; exec sleep 600"]
            with self.subTest(error=error), self.bed.popen("algo-1", line) as job:
                job.read_until("ready")
                # Stopped, neither sees the other's end; the guardian may have been ended, too, when it is its turn.
                sh(self.bed, "algo-1", "set -e; pkill -STOP -x 'sml-run-(agent|guard)'; pkill -KILL -x sml-run-agent; "
                                       "pkill -KILL -x sml-run-guard || true")
                done = job.finish()
                self.assert_status(done, 125)
                assert_says(self, done, r"algo-1: ended [1-9]\d* process(es)? of the job that its agent had left there$")
                self.assertEqual(self.bed.ps(), [])

    def test_jobs_in_containers_are_seen_without_openat2(self):
        for error in ("ENOSYS", "EPERM"):
            with self.subTest(error=error), self.bed.sml_run_popen("algo-1", "sh", "-c", "echo ready; exec sleep 600") as job:
                job.read_until("ready")
                [one] = wait_until(lambda: json.loads(self.bed.sml_run("algo-1", "ps", "--format", "json").stdout))
                seen = run([PYTHON, DENY, error, str(OPENAT2), str(OPENAT2), SML_RUN, "ps"])
                self.assertIn(one["id"], seen.stdout)
                job.terminate()
                job.finish()

    def test_a_failure_is_the_programs(self):
        done = self.bed.exec("algo-1", [PYTHON, DENY, "ENOSYS", str(LAST_OF_LINUX_3_17 + 1), str(NEWEST), SML_RUN, *HERE,
                                        "sh", "-c", "[ $RANK = 1 ] && exit 7; sleep 600"])
        self.assert_status(done, 7)

    def test_memory_that_cannot_be_executed(self):
        """vm.memfd_noexec, of a PID namespace of our own."""
        for level in ("1", "2"):
            line = f"echo {level} > /proc/sys/vm/memfd_noexec && exec {SML_RUN} --host-source local -np 2 sh -c 'echo hi $RANK'"
            if sh(self.bed, "algo-1", "test -e /proc/sys/vm/memfd_noexec || echo no").strip():
                self.skipTest("this kernel has no vm.memfd_noexec")
            done = self.bed.exec("algo-1", ["unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", line])
            self.assert_status(done, 0)
            self.assertEqual(sorted(done.stdout.splitlines()), ["[0] hi 0", "[1] hi 1"])
