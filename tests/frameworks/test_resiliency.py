"""NVIDIA's resiliency package: ranks begin again inside of a job that goes on."""
from frameworks import PYTHON, FrameworkCase, script
from harness import scaled

SILENCE = f"{scaled(5):g}"


class Resiliency(FrameworkCase):
    def test_restart_in_process(self):
        done = self.here("sml-run", "-np", "2", PYTHON, script("resilient_train.py"))
        self.assert_said(done, "resilient rank {} of 2, after 1 restarts", 2)
        done = self.on_hosts("sml-run", "-H", self.bed.hosts(1), PYTHON, script("resilient_train.py"))
        self.assert_said(done, "resilient rank {} of 3, after 1 restarts", 3)

    def test_a_failing_rank(self):
        done = self.on_hosts("sml-run", "-H", self.bed.hosts(1), "-x", "FAILS=2", PYTHON, script("resilient_train.py"))
        self.assert_failed(done, 7, "sml-run: rank 2 on algo-3 exited with status 7")


class FtLauncher(FrameworkCase):
    """Its launcher, started by us once on each host, as by its documentation."""

    def line(self, hosts, ranks):
        return ["ft_launcher", f"--nnodes={hosts}", f"--nproc-per-node={ranks}", "--max-restarts=1", "--rdzv-backend=c10d",
                "--rdzv-endpoint=" + ("127.0.0.1" if hosts == 1 else "algo-1") + ":29577", script("watched_train.py")]

    def test_on_hosts(self):
        done = self.on_hosts("sml-run", "-H", self.bed.hosts(1), *self.line(3, 1))
        self.assert_said(done, "watched rank {} of 3, after 0 restarts", 3)

    def test_a_rank_that_fails_once_begins_again(self):
        done = self.here("sml-run", "-np", "1", *self.line(1, 2), env={"FAILS_ONCE": "1"})
        self.assert_said(done, "watched rank {} of 2, after 1 restarts", 2)


class RankMonitor(FrameworkCase):
    """The same scripts, with our monitor in the place of that launcher."""

    def test_on_hosts(self):
        done = self.on_hosts("sml-run", "-H", self.bed.hosts(1), "--rank-monitor", PYTHON, script("watched_train.py"))
        self.assert_said(done, "watched rank {} of 3, after 0 restarts", 3)

    def test_a_rank_that_sends_no_heartbeat_begins_again(self):
        done = self.here("sml-run", "-np", "2", "--rank-monitor", "--rank-heartbeat-timeout", SILENCE, "--max-restarts", "1",
                         PYTHON, script("watched_train.py"), env={"HANGS_ONCE": "1"})
        self.assert_said(done, "watched rank {} of 2, after 1 restarts", 2)
        self.assertRegex(done.stderr, rf"rank [01] on \S+ has sent no heartbeat for {SILENCE} s \(--rank-heartbeat-timeout\)")

    def test_limits_of_sections_that_the_script_calculates(self):
        done = self.here("sml-run", "-np", "2", "--rank-monitor", "--rank-section-timeouts", "setup:3600,step:3600",
                         "--max-restarts", "1", PYTHON, script("watched_sections.py"), env={"HANGS_ONCE": "1"})
        self.assert_said(done, "sections of rank {} of 2, after 1 restarts", 2)
        self.assertRegex(done.stderr, r'rank 1 on \S+ has been in section "step" for 5 s '
                                      r"\(the limit that its script has set\)")

    def test_lightning(self):
        done = self.here("sml-run", "-np", "2", "--rank-monitor", "--rank-heartbeat-timeout", SILENCE, "--max-restarts", "1",
                         PYTHON, script("watched_lightning.py"), env={"HANGS_ONCE": "1"})
        self.assert_said(done, "fitted by rank {} of 2, after 1 restarts", 2)
        self.assertRegex(done.stderr, rf"rank [01] on \S+ has sent no heartbeat for {SILENCE} s")
