"""Every command line of README.md and the manuals is run as it stands, on a testbed with the hosts that they name."""
import json
import re
import unittest

from harness import BUILD, REPO, HostsCase, TestCase, gate, run
from test_mpi import compiled

PAGES = ("README.md", "man/sml-run.1", "man/sml-run-agent.1", "man/sml-run-guide.7")

# Lines that install or build, and the test that runs them.
RUN_ELSEWHERE = {
    "pip install ./sml_run-*.whl": "release.test_release.Wheel.test_pip_puts_it_on_the_path",
}

TRAIN = "import os, sys; print('rank', os.environ['SML_RANK'], 'of', os.environ['SML_WORLD_SIZE'], 'step 1')\n"
NVIDIA_SMI = "#!/bin/sh\nprintf 'GPU 0: A\\nGPU 1: A\\n'\n"
HOME = "/home/root"  # of the testbed's hosts
PLACE = f"{HOME}/place"  # where the lines are run
RESOURCES = {"current_host": "algo-1", "hosts": ["algo-1"], "network_interface_name": "eth0"}


def of_markdown(text):
    """Lines of ```sh blocks."""
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S):
        yield from (line for line in block.splitlines() if line.strip())


def of_manual(text):
    """Lines that are displayed, and displayed blocks that call us."""
    for line in re.findall(r"^\.Dl (.*)$", text, re.M):
        yield line
    for block in re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", text, re.M | re.S):
        if re.match(r"#!/bin/sh|until ", block):
            yield block
        elif re.match(r"(\w+=\S+ )?sml-run ", block):
            yield from block.replace("\\e\n", "\\\n").replace("\\\n    ", " ").splitlines()


def commands(page):
    text = (REPO / page).read_text()
    for line in of_markdown(text) if page.endswith(".md") else of_manual(text):
        line = line.replace("\\&", "").replace("\\-", "-").removeprefix("$ ")
        if not line.startswith("#!"):
            line = re.sub(r"\s+# .*", "", line)
        yield line.strip()


class Commands(HostsCase):
    hosts = 2
    watchdog_times = 3

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.ring = compiled(cls, "openmpi")

    def setUp(self):
        super().setUp()
        self.files = {"train.py": TRAIN, "ps.py": TRAIN, "cluster.conf": "Include ~/.ssh/config\n", "runs.csv": "1,0.1\n2,0.01\n",
                      "bin/nvidia-smi": NVIDIA_SMI, "ring": self.ring, "spawner": self.ring, "hosts.sh": "#!/bin/sh\necho algo-1:1\necho algo-2:1\n"}
        for host in ("algo-1", "algo-2"):
            self.bed.exec(host, ["rm", "-rf", "/opt/ml"])  # these are hosts like any others, until a line needs it
            self.addCleanup(self.bed.exec, host, ["rm", "-rf", PLACE, f"{HOME}/.config"])
            for name, text in self.files.items():
                self.bed.put(host, f"{PLACE}/{name}", text, mode=0o755)
        self.bed.exec("algo-1", ["mkdir", "-p", f"{PLACE}/links"])
        self.bed.exec("algo-1", ["ln", "-sf", f"{BUILD}/sml-run", f"{PLACE}/bin/mpirun"])
        self.address = self.bed.address("algo-1")
        self.secret = "0123456789abcdef0123456789abcdef"

    def environment(self, line):
        own = f"{PLACE}/bin:" if "gpu" in line or line.startswith("mpirun") else ""
        return {"PATH": f"{own}{BUILD}:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": HOME, "WANDB_MODE": "offline", "LR": "0.1",
                **({"AWS_BATCH_JOB_ARRAY_INDEX": "1"} if "--array-file" in line else {}),
                **({"SML_JOB_SECRET": self.secret} if "--nnodes" in line else {})}

    def start(self, host, line):
        return self.bed.popen(host, ["sh", "-c", line], env=self.environment(line), cwd=PLACE)

    def run_here(self, line):
        return self.bed.exec("algo-1", ["sh", "-c", line], env=self.environment(line), cwd=PLACE)

    def run_on_both(self, line):
        """What is started on every host; a line for one of two by its number is given its other half."""
        line = line.replace("10.0.0.1", self.address).replace("--nnodes 2:4", "--nnodes 1:2")  # there are two
        other = line.replace("--node-rank 0", "--node-rank 1") if "--node-rank 0" in line else line
        if "--node-rank 1" in line:
            line, other = line.replace("--node-rank 1", "--node-rank 0"), line
        with self.start("algo-2", other) as second:
            done = self.run_here(line)
            self.assertEqual(second.finish().returncode, 0)
        return done

    def run_beside_a_job(self, line):
        with self.start("algo-1", "exec sml-run -np 2 --status-signal USR1 sh -c 'echo ready; exec sleep 600' 2>&1") as job:
            job.read_until("ready")
            done = self.run_here(line)
            job.read_until("ranks 2 running")
            job.terminate()
            job.finish()
        return done

    def run_on_a_job(self, line):
        with self.start("algo-1", "exec sml-run -np 2 sh -c 'trap : USR1; echo ready; while :; do sleep 0.1; done' 2>&1") as job:
            job.read_until("ready")
            with self.start("algo-1", line) as asked:
                if "--follow" in line:
                    asked.read_until("ready")
                    job.terminate()
                done = asked.finish()
            job.terminate()
            job.finish()
        return done

    def run_in_a_container(self, line):
        """Of SageMaker."""
        for name, value in (("input/config/resourceconfig.json", RESOURCES), ("input/config/hyperparameters.json", {"sagemaker_program": "train.py"})):
            self.bed.put("algo-1", f"/opt/ml/{name}", json.dumps(value))
        self.bed.put("algo-1", "/opt/ml/code/train.py", TRAIN)
        done = self.run_here(line)
        self.bed.exec("algo-1", ["rm", "-rf", "/opt/ml"])
        return done

    def run_as_it_is_meant(self, line):
        if "--nnodes" in line:
            return self.run_on_both(line)
        if line.startswith("kill "):
            return self.run_beside_a_job(line)
        if re.match(r"sml-run (ps|status|stacks|stop|signal|logs)\b", line):
            return self.run_on_a_job(line)
        if line.startswith("sml-run train"):
            return self.run_in_a_container(line)
        if "/fsx/train" in line:
            self.bed.put("algo-1", f"{PLACE}/data/part-0", "x")
            line = line.replace("/fsx/train", f"{PLACE}/data")
        return self.run_here(line)

    def check(self, page, least):
        count = 0
        for line in commands(page):
            if line in RUN_ELSEWHERE:
                continue
            with self.subTest(line=line):
                done = self.run_as_it_is_meant(line)
                self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}{done.stderr}")
                self.bed.exec("algo-1", ["sh", "-c", f"rm -rf {PLACE}/logs {HOME}/.config/sml-run"])
            count += 1
        self.assertGreaterEqual(count, least, "the command lines cannot be found any more")

    @gate
    def test_of_the_readme(self):
        self.check("README.md", 5)

    @gate
    def test_of_the_manual(self):
        self.check("man/sml-run.1", 10)

    @gate
    def test_of_the_guide(self):
        self.check("man/sml-run-guide.7", 20)


class Elsewhere(TestCase):
    def test_each_has_a_test(self):
        lines = {line for page in PAGES for line in commands(page)}
        for line, where in RUN_ELSEWHERE.items():
            self.assertIn(line, lines)
            folder, module, case, test = where.split(".")
            text = (REPO / "tests" / folder / f"{module}.py").read_text()
            self.assertRegex(text, rf"class {case}\(")
            self.assertIn(f"def {test}(", text)


class Manuals(TestCase):
    """What a reader sees."""

    def rendered(self, page):
        done = run(["mandoc", "-T", "utf8", "-O", "width=200", REPO / page])
        self.assert_status(done, 0)
        return re.sub(r".\x08", "", done.stdout)

    def test_programs_are_kept_apart(self):
        self.assertIn("python3 ps.py : -np 4", self.rendered("man/sml-run.1"))

    def test_quotes_are_in_pairs(self):
        for page in PAGES[1:]:
            text = self.rendered(page)
            self.assertEqual(text.count("“"), text.count("”"), page)
            self.assertNotIn("””", text)
            self.assertNotIn("““", text)

    def test_the_agents_options(self):
        text = (REPO / "launcher/agent/main.cc").read_text()
        options = set(re.findall(r'word == "(--[a-z]+)"', text))
        self.assertGreaterEqual(len(options), 4)
        described = set(re.findall(r"^\.It Fl -([a-z]+)", (REPO / "man/sml-run-agent.1").read_text(), re.M))
        self.assertEqual({f"--{name}" for name in described}, options)


class Kubernetes(TestCase):
    """The files of packaging/kubernetes against a schema of the kinds that they have."""

    def test_they_are_valid(self):
        import jsonschema
        import yaml
        schema = json.loads((REPO / "tests/e2e/kubernetes.schema.json").read_text())
        kinds = set()
        for path in sorted((REPO / "packaging/kubernetes").glob("*.yaml")):
            for document in yaml.safe_load_all(path.read_text()):
                jsonschema.validate(document, schema)
                kinds.add(document["kind"])
        self.assertEqual(kinds, {"Service", "Job", "PyTorchJob", "MPIJob"})

    def test_a_mistake_is_found(self):
        import jsonschema
        import yaml
        schema = json.loads((REPO / "tests/e2e/kubernetes.schema.json").read_text())
        text = (REPO / "packaging/kubernetes/pytorchjob.yaml").read_text().replace("restartPolicy", "restartpolicy")
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate(yaml.safe_load(text), schema)


if __name__ == "__main__":
    unittest.main()
