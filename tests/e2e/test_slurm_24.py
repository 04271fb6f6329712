"""The tests of jobs in a batch script, in the Slurm of Debian 13 (24.11), which starts agents with --external-launcher."""
import pathlib
import unittest

import test_starters

ROOT = pathlib.Path("/var/lib/sml-testbed/slurm-24.11")


@unittest.skipUnless((ROOT / "usr/sbin/slurmctld").exists(), f"no Slurm of Debian 13 in {ROOT} (tests/run makes it for the whole layer e2e)")
class Slurm24(test_starters.Slurm):
    root = ROOT
    is_in_gate = False

    def test_steps_take_nothing_from_the_job(self):
        """As an external launcher an agent needs no task of the allocation, which has one of each node."""
        done = self.slurm("salloc", "--quiet", "-N4", "-n4", str(test_starters.SML_RUN), "--verbose", "--no-tag", "sh", "-c", "echo $SML_HOST")
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.split()), ["algo-1", "algo-2", "algo-3", "algo-4"])


if __name__ == "__main__":
    unittest.main()
