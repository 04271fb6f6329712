"""sml_run.launch() in a notebook, with Jupyter's own kernel: functions of a cell are sent by cloudpickle."""
import json
import re

import frameworks
from frameworks import script
from harness import BUILD, REPO, TestCase, run

NEEDS_THE_NETWORK = True
TRAIN = """import os, sml_run
class Broken(Exception): pass
def train(rate, fails=None):
    import sys
    rank = int(os.environ["RANK"])
    print("step", rank)
    print("warning", rank, file=sys.stderr)
    if rank == fails:
        raise Broken(f"rank {rank} is broken")
    if fails is not None:
        import time; time.sleep(600)
    return rank * rate
"""
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Notebook(TestCase):
    watchdog_times = 20  # a venv of 140 packages is made at its first use

    def cells(self, *texts):
        home = self.temporary_directory()
        done = run([frameworks.environment("sagemaker") / "bin/python", "-W", "ignore", script("run_notebook.py"), json.dumps(texts)],
                   env={"HOME": str(home), "IPYTHONDIR": str(home / "ipython"), "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
                        "PYTHONPATH": f"{REPO}/packaging/python", "PATH": f"{BUILD}:/usr/bin:/bin"})
        self.assert_status(done, 0)
        return json.loads(done.stdout)

    def test_results_and_output_come_to_the_cell(self):
        _, cell, size, last = self.cells(TRAIN, "sml_run.launch(train, 0.5, nproc=3)", "sml_run.run(['-np', '2', 'echo', 'said']).status",
                                         "sml_run.launch(lambda: Broken, nproc=1)[0].__name__")
        self.assertEqual(cell["result"], "[0.0, 0.5, 1.0]")
        self.assertEqual(sorted(cell["stdout"].splitlines()), [f"[{rank}] step {rank}" for rank in range(3)])
        for rank in range(3):
            self.assertIn(f"[{rank}] warning {rank}\n", cell["stderr"])
        self.assertEqual((size["result"], sorted(size["stdout"].splitlines())), ("0", ["[0] said", "[1] said"]))
        self.assertEqual(last["result"], "'Broken'")

    def test_the_failing_rank_raises_its_own_exception(self):
        _, cell, after = self.cells(TRAIN, "sml_run.launch(train, 0.5, fails=1, nproc=3)", "sml_run.launch(train, 2, nproc=1)")
        self.assertEqual((cell["error"]["name"], cell["error"]["text"].splitlines()[0]), ("Broken", "rank 1 is broken"))
        self.assertIn("rank 1 on localhost:", COLOURS.sub("", cell["error"]["trace"]))
        self.assertEqual(after["result"], "[0]")

    def test_the_stop_button_ends_the_ranks(self):
        """TestCase sees that nothing is left."""
        begun = self.temporary_directory() / "begun"
        code = f"def wait():\n    import time\n    open({str(begun)!r}, 'w').close()\n    time.sleep(600)\nsml_run.launch(wait, nproc=2)"
        _, cell, after = self.cells(TRAIN, f"INTERRUPT after {begun}: {code}", "sml_run.launch(train, 2, nproc=1)")
        self.assertEqual(cell["error"]["name"], "KeyboardInterrupt")
        self.assertIn("sml-run: stopped by SIGINT", cell["stderr"])
        self.assertEqual(after["result"], "[0]")
