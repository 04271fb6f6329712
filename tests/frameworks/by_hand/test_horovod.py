"""Horovod itself, on torch of today, started by the lines of its documentation."""
from frameworks import VENV, FrameworkCase, script

PYTHON = VENV / "horovod" / "bin" / "python"
LINE = "reduced by rank {} of "


class Horovod(FrameworkCase):
    def test_on_this_machine(self):
        self.assert_said(self.here("horovodrun", "-np", "2", PYTHON, script("horovod_train.py")), LINE, 2)

    def test_on_hosts(self):
        done = self.on_hosts("horovodrun", "-np", "3", "-H", self.bed.hosts(1), PYTHON, script("horovod_train.py"))
        self.assert_said(done, LINE, 3)

    def test_a_failing_rank(self):
        done = self.on_hosts("horovodrun", "-np", "3", "-H", self.bed.hosts(1), PYTHON, script("horovod_train.py"),
                             env={"FAILS": "1"})
        self.assert_failed(done, 7, "sml-run: rank 1 on algo-2 exited with status 7")

    def test_it_says_how_it_was_built(self):
        done = self.here("horovodrun", "--check-build", env={"PATH": f"{PYTHON.parent}:/usr/bin:/bin"})
        self.assert_status(done, 0)
        self.assertIn("[X] Gloo", done.stdout)
