"""TensorFlow: the two strategies for several machines, which TF_CONFIG tells who they are."""
from frameworks import PYTHON, FrameworkCase, script

MIRRORED = ["--preset", "tf", PYTHON, script("tf_mirrored.py")]


def with_servers(*options):
    program = [PYTHON, script("tf_servers.py")]
    return ["--preset", "tf", *options, "--role", "chief", "-np", "1", *program, ":", "--role", "worker", "-np", "1", *program,
            ":", "--role", "ps", "-np", "1", *program]


class TensorFlow(FrameworkCase):
    def test_workers_that_mirror_each_other(self):
        self.assert_said(self.here("sml-run", "-np", "2", *MIRRORED), "mirrored by worker {} of 2", 2)
        done = self.on_hosts("sml-run", "-H", self.bed.hosts(1), *MIRRORED)
        self.assert_said(done, "mirrored by worker {} of 3", 3)
        self.assertEqual(len({line.split(":")[-1] for line in done.stdout.splitlines() if "mirrored by" in line}), 1, done)

    def test_parameter_servers(self):
        said = ("coordinated by chief 0: 20 steps", "serving as worker 0", "serving as ps 0")
        for done in (self.here("sml-run", *with_servers()),
                     self.on_hosts("sml-run", *with_servers("-H", self.bed.hosts(1)))):
            self.assert_status(done, 0)
            for line in said:
                self.assertEqual(done.stdout.count(line), 1, done)

    def test_a_failing_rank(self):
        done = self.on_hosts("sml-run", "-H", self.bed.hosts(1), "-x", "FAILS=1", *MIRRORED)
        self.assert_failed(done, 7, "sml-run: rank 1 on algo-2 exited with status 7")

    def test_a_failing_parameter_server(self):
        done = self.here("sml-run", *with_servers(), env={"FAILS": "ps"})
        self.assert_failed(done, 7, "sml-run: rank 2 on localhost exited with status 7")
