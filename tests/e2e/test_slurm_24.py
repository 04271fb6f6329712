"""The tests of jobs in a batch script, in the Slurm of Debian 13 (24.11), which starts agents with --external-launcher."""
import pathlib
import unittest

import test_starters
from harness import wait_until

ROOT = pathlib.Path("/var/lib/sml-testbed/slurm-24.11")


@unittest.skipUnless((ROOT / "usr/sbin/slurmctld").exists(), f"no Slurm of Debian 13 in {ROOT} (tests/run makes it for the whole layer e2e)")
class Slurm24(test_starters.Slurm):
    root = ROOT
    is_in_gate = False

    def test_steps_take_nothing_from_the_job(self):
        """Agents are started as an external launcher's: their steps are none of the tasks of the allocation."""
        self.started(f"{test_starters.SML} sh -c 'echo up; sleep 600'")
        wait_until(lambda: self.printed().count("up") == 8, self.printed)
        calls = self.bed.exec("algo-1", ["pgrep", "-af", "srun .*--nodelist="]).stdout.splitlines()
        self.assertTrue(calls)
        for call in calls:
            self.assertIn("--external-launcher", call)
            self.assertNotIn("--overlap", call)


if __name__ == "__main__":
    unittest.main()
