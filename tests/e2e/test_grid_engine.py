"""In a batch job of a real Grid Engine, on hosts without an SSH server, the hosts are reached by qrsh."""
import os
import pathlib
import shutil
import subprocess
import unittest

from harness import REPO, SML_RUN, TestCase, Testbed, wait_until
from test_starters import without_ssh

UNPACKED = pathlib.Path("/var/lib/sml-testbed/sge/usr/lib/gridengine/sge_qmaster")
# The hosts also have SageMaker's file, which would come first.
SML = f"{SML_RUN} --host-source sge"


@unittest.skipUnless(UNPACKED.exists(), "no Grid Engine is unpacked (tests/run fetches it for the whole layer e2e)")
class GridEngine(TestCase):
    hosts = 4

    @classmethod
    def setUpClass(cls):
        cls.bed = cls.enterClassContext(Testbed())
        cls.bed.up(cls.hosts)
        subprocess.run([REPO / "tests/testbed/sge-up", "2"], env={**os.environ, "SML_TESTBED": cls.bed.name}, check=True)
        without_ssh(cls.bed)
        base = pathlib.Path(os.environ.get("SML_TESTBED_DIR", "/run/sml-testbed"))
        cls.folder = base / cls.bed.name / "shared" / "jobs"
        cls.env = {"SGE_ROOT": str(cls.folder.parent / "sge"), "SGE_CELL": "default", "SGE_QMASTER_PORT": "6444"}

    def setUp(self):
        self.folder.mkdir()
        self.folder.chmod(0o777)
        self.addCleanup(shutil.rmtree, self.folder)
        self.output = self.folder / "out"

    def sge(self, *words):
        return self.bed.exec("head", list(words), user="tester", env=self.env)

    def submit(self, script, *options):
        file = self.folder / "job.sh"
        file.write_text("#!/bin/bash\n" + script)
        return self.sge("qsub", "-terse", "-pe", "mpi", str(2 * self.hosts), "-j", "y", "-o", str(self.output), *options, str(file))

    def batch(self, script):
        """A batch job on all hosts, awaited: its status and what was printed."""
        done = self.submit(script, "-sync", "y")
        return done.returncode, self.output.read_text(errors="replace")

    def started(self, script):
        done = self.submit(script)
        self.assert_status(done, 0)
        self.addCleanup(self.sge, "qdel", done.stdout.strip())
        return done.stdout.strip()

    def printed(self):
        return self.output.read_text() if self.output.exists() else ""

    def test_a_batch_script_needs_no_option(self):
        show = 'echo "$SML_HOST $RANK $(uname -n) ${QRSH_COMMAND:+leaked}"'
        status, out = self.batch(f"{SML} --verbose --no-tag sh -c '{show}'")
        self.assertEqual(status, 0, out)
        self.assertIn("the other hosts are reached by qrsh, as this is a job of Grid Engine", out)
        rows = [ln.split() for ln in out.splitlines() if ln.startswith("algo-")]
        self.assertEqual(sorted(int(row[1]) for row in rows), list(range(8)), out)
        self.assertEqual({row[0] for row in rows}, set(self.bed.names()))
        for row in rows:
            self.assertEqual((row[0], len(row)), (row[2], 3))

    def test_qrsh_as_the_command_to_the_hosts_leaves_nothing_of_its_own(self):
        status, out = self.batch(f"{SML} --no-tag --quiet --ssh-command 'qrsh -inherit' sh -c "
                                 "'echo $(uname -n) ${QRSH_COMMAND:+leaked} ${QRSH_PORT:+leaked}'")
        self.assertEqual(status, 0, out)
        self.assertEqual(sorted(out.splitlines()), sorted(2 * self.bed.names()), out)

    def test_the_status_is_that_of_the_rank(self):
        status, out = self.batch(f"{SML} sh -c 'test $RANK != 5 || exit 9; sleep 600'")
        self.assertEqual(status, 9, out)
        self.assertIn("exited with status 9", out)
        self.assertNotIn("qrsh", out)
        self.bed.assert_clean()

    def test_qdel_leaves_nothing(self):
        job = self.started(f"{SML} sh -c 'echo up; sleep 600'")
        wait_until(lambda: self.printed().count("up") == 8, self.printed)
        self.assert_status(self.sge("qdel", job), 0)
        self.bed.assert_clean()

    def test_30_mb_come_through_byte_for_byte(self):
        made = "import sys, random; random.seed(7); sys.stdout.buffer.write(random.randbytes(30 << 20))"
        status, out = self.batch(f"cd {self.folder}; python3 -c '{made}' > in\n"
                                 f"{SML} --quiet --no-tag --stdin 7 sh -c 'test $RANK != 7 || cat' < in > back")
        self.assertEqual(status, 0, out)
        self.assertEqual((self.folder / "in").stat().st_size, 30 << 20)
        self.assertEqual((self.folder / "in").read_bytes(), (self.folder / "back").read_bytes())

    def test_the_death_of_qrsh_is_one_sentence(self):
        self.started(f"{SML} sh -c 'echo up; sleep 600'; echo status $?")
        wait_until(lambda: self.printed().count("up") == 8, self.printed)
        killer = next(p for p in self.bed.ps() if p["comm"] == "qrsh")
        self.assert_status(self.bed.exec(killer["host"], ["kill", "-KILL", str(killer["pid"])]), 0)
        wait_until(lambda: "status" in self.printed(), self.printed)
        self.assertIn("status 125", self.printed())
        self.assertIn("qrsh was killed by SIGKILL (killed)\n", self.printed())
        self.bed.assert_clean()


if __name__ == "__main__":
    unittest.main()
