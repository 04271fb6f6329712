"""In a batch job of a real OAR, on hosts without an SSH server of their own, the hosts are reached by oarsh."""
import os
import pathlib
import shutil
import subprocess
import unittest

from harness import REPO, SML_RUN, TestCase, Testbed, wait_until
from jobs import sh

UNPACKED = pathlib.Path("/var/lib/sml-testbed/oar/usr/lib/oar/oarexec")
# The hosts also have SageMaker's file, which would come first.
SML = f"{SML_RUN} --host-source oar"


@unittest.skipUnless(UNPACKED.exists(), "no OAR is unpacked (tests/run fetches it for the whole layer e2e)")
class Oar(TestCase):
    hosts = 4

    @classmethod
    def setUpClass(cls):
        cls.bed = cls.enterClassContext(Testbed())
        cls.bed.up(cls.hosts)
        subprocess.run([REPO / "tests/testbed/oar-up", "2"], env={**os.environ, "SML_TESTBED": cls.bed.name}, check=True)
        for host in ("head", *cls.bed.names()):  # not OAR's
            sh(cls.bed, host, "pkill -f '[s]shd.*/run/sshd/sshd_config'")
        base = pathlib.Path(os.environ.get("SML_TESTBED_DIR", "/run/sml-testbed"))
        cls.folder = base / cls.bed.name / "shared" / "jobs"

    def setUp(self):
        self.folder.mkdir()
        self.folder.chmod(0o777)
        self.addCleanup(shutil.rmtree, self.folder)
        self.output = self.folder / "out"

    def oar(self, command):
        # oarsub asks for PWD, which only a shell sets.
        return self.bed.exec("head", ["bash", "-c", f"cd {self.folder} && {command}"], user="tester")

    def started(self, script):
        """The id of a batch job on all hosts, which writes to self.output."""
        file = self.folder / "job.sh"
        file.write_text("#!/bin/bash\n" + script)
        file.chmod(0o755)
        done = self.oar(f"oarsub -l /nodes={self.hosts} -O out -E out {file}")
        self.assert_status(done, 0)
        job = done.stdout.split("OAR_JOB_ID=")[1].split()[0]
        self.addCleanup(self.oar, f"oardel {job}")
        return job

    def batch(self, script):
        """What a batch job on all hosts has printed, and the status of its last command."""
        self.started(script + "\necho over $?\n")
        wait_until(lambda: "\nover " in "\n" + self.printed(), self.printed)
        out, _, status = self.printed().rpartition("over ")
        return int(status), out

    def printed(self):
        return self.output.read_text(errors="replace") if self.output.exists() else ""

    def test_a_batch_script_needs_no_option(self):
        show = 'echo "$SML_HOST $RANK $(uname -n) $OAR_KEY $(env | grep -c ^OAR_) ${OAR_JOB_USER:+leaked}"'
        status, out = self.batch(f"{SML} --verbose --no-tag sh -c '{show}'")
        self.assertEqual(status, 0, out)
        self.assertIn("the other hosts are reached by oarsh, as this is a job of OAR", out)
        self.assertNotIn("secret", out)
        rows = [ln.split() for ln in out.splitlines() if ln.startswith("algo-")]
        self.assertEqual(sorted(int(row[1]) for row in rows), list(range(8)), out)
        self.assertEqual({row[0] for row in rows}, set(self.bed.names()))
        for row in rows:
            self.assertEqual((row[0], row[3], len(row)), (row[2], "1", 5))
        self.assertEqual(len({row[4] for row in rows}), 1, "ranks have the same variables of OAR")

    def test_the_status_is_that_of_the_rank(self):
        status, out = self.batch(f"{SML} sh -c 'test $RANK != 5 || exit 9; sleep 600'")
        self.assertEqual(status, 9, out)
        self.assertIn("exited with status 9", out)
        self.assertNotIn("oarsh", out)
        self.bed.assert_clean()

    def test_oardel_leaves_nothing(self):
        job = self.started(f"{SML} sh -c 'echo up; sleep 600'")
        wait_until(lambda: self.printed().count("up") == 8, self.printed)
        self.assert_status(self.oar(f"oardel {job}"), 0)
        self.bed.assert_clean()
        # OAR kills launcher, agent and guardian of that host at once; their folder goes with the next job there.
        self.assert_status(self.bed.sml_run("algo-1", "-H", "localhost", "true", user="tester"), 0)

    def test_30_mb_come_through_byte_for_byte(self):
        made = "import sys, random; random.seed(7); sys.stdout.buffer.write(random.randbytes(30 << 20))"
        status, out = self.batch(f"python3 -c '{made}' > in\n"
                                 f"{SML} --quiet --no-tag --stdin 7 sh -c 'test $RANK != 7 || cat' < in > back")
        self.assertEqual(status, 0, out)
        self.assertEqual((self.folder / "in").stat().st_size, 30 << 20)
        self.assertEqual((self.folder / "in").read_bytes(), (self.folder / "back").read_bytes())

    def test_a_connection_that_breaks_is_made_again(self):
        """oarsh is an ssh: its end says nothing about the host."""
        self.started(f"{SML} --verbose sh -c 'echo up; until test -e {self.folder}/go; do sleep 0.1; done; echo done'; echo status $?")
        wait_until(lambda: self.printed().count("] up") == 8, self.printed)
        ssh = next(p for p in self.bed.ps() if p["comm"] == "ssh" and "OAR_CPUSET" in p["cmd"])
        self.assert_status(self.bed.exec(ssh["host"], ["kill", "-KILL", str(ssh["pid"])]), 0)
        wait_until(lambda: "again" in self.printed() or "status" in self.printed(), self.printed)
        (self.folder / "go").touch()
        wait_until(lambda: "status" in self.printed(), self.printed)
        self.assertIn("status 0", self.printed())
        self.assertEqual(self.printed().count("] done"), 8, self.printed())


if __name__ == "__main__":
    unittest.main()
