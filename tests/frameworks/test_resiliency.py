"""NVIDIA's resiliency package: ranks begin again inside of a job that goes on."""
from frameworks import PYTHON, FrameworkCase, script


class Resiliency(FrameworkCase):
    def test_restart_in_process(self):
        done = self.here("sml-run", "-np", "2", PYTHON, script("resilient_train.py"))
        self.assert_said(done, "resilient rank {} of 2, after 1 restarts", 2)
        done = self.on_hosts("sml-run", "-H", self.bed.hosts(1), PYTHON, script("resilient_train.py"))
        self.assert_said(done, "resilient rank {} of 3, after 1 restarts", 3)
