"""--preload as a user meets it: a worker is what it is without it, is imported once, and is executed where a fork is not
the same."""
import json
import os
import pathlib
import re
import signal

from harness import PYTHON, REPO, HostsCase, TestCase, gate, scaled, sml_run, sml_run_popen, wait_until
from jobs import by_rank, own_lines

WORKER = REPO / "tests" / "e2e" / "preload_worker.py"
# Of one job each, or only there because of the module.
DIFFER = {"MASTER_PORT", "SML_JOB_ID", "SML_MARK", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_ERROR_FILE",
          "HOROVOD_GLOO_RENDEZVOUS_PORT", "PMI_JOBID", "OMPI_MCA_orte_precondition_transports"}
SLOW = 'import os, time\nPID = os.getpid()\nprint("imported", flush=True)\nopen(os.environ["COUNT"], "a").write("x")\n' \
       'time.sleep(float(os.environ.get("TAKES", "0")))\n'


# Makes the process that imports it die once a worker is made, and before the agent knows; a worker that did not wait for
# the agent would have its time to run.
DYING = """import os, signal, sys, time
frame = sys._getframe()
while frame.f_code.co_filename != "sml-run --preload":
    frame = frame.f_back
say = frame.f_globals["say"]
def die(text):
    if text[:1].isdigit():
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGKILL)
    say(text)
frame.f_globals["say"] = die
"""


class PreloadCase(TestCase):
    def setUp(self):
        super().setUp()
        self.folder = self.temporary_directory()
        self.count = self.folder / "count"
        self.module("slow_module", SLOW)
        self.env = {**os.environ, "PYTHONPATH": str(self.folder), "COUNT": str(self.count), "PYTHONDONTWRITEBYTECODE": "1"}

    def module(self, name, text):
        (self.folder / f"{name}.py").write_text(text)

    def script(self, text):
        path = self.folder / "script.py"
        path.write_text(text)
        return path

    def run_both(self, *line, options=(), **kw):
        """Done without --preload, and with it."""
        kw.setdefault("env", self.env)
        plain = sml_run("-q", "-np", "2", *options, *line, **kw)
        preloaded = sml_run("-q", "-np", "2", "--preload", "slow_module", *options, *line, **kw)
        self.assertNotIn("without it", preloaded.stderr)
        self.assertEqual(self.count.read_text(), "x", "one process has imported the module")
        self.count.unlink()
        return plain, preloaded

    def said(self, done):
        return [line for line in own_lines(done) if "--preload" in line and "while --preload imports" not in line]


class SameAsExecuted(PreloadCase):
    maxDiff = None

    def facts(self, done):
        out = {}
        for rank, lines in by_rank(done.stdout).items():
            known = json.loads(lines[0])
            known["env"] = {name: value for name, value in known["env"].items()
                            if name not in DIFFER and not name.startswith("PMIX_")}
            out[rank] = known
        return out

    @gate
    def test_a_script(self):
        plain, preloaded = self.run_both("--wdir", self.folder, PYTHON, "-u", "-W", "error", WORKER, "", "--lr", "1 2")
        self.assert_status(preloaded, 0)
        facts = self.facts(preloaded)
        self.assertEqual(facts, self.facts(plain))
        self.assertEqual([facts[r]["env"]["RANK"] for r in (0, 1)], ["0", "1"])
        self.assertEqual(facts[0]["cmdline"], [PYTHON, "-u", "-W", "error", str(WORKER), "", "--lr", "1 2"])
        self.assertEqual(facts[0]["parent"], facts[1]["parent"])
        own = [json.loads(lines[1]) for lines in by_rank(preloaded.stdout).values()]
        self.assertEqual(len({o["pid"] for o in own}), 2)
        self.assertEqual(len({o["random"] for o in own}), 2, "each has random numbers of its own")
        self.assertEqual(len({o["imports"] for o in own}), 1)
        self.assertNotIn(own[0]["imports"], [None, *(o["pid"] for o in own)], "the module came with the fork")

    def test_a_module_and_a_folder(self):
        package = self.folder / "package"
        package.mkdir()
        (package / "__init__.py").write_text("")
        (package / "__main__.py").write_text(WORKER.read_text())
        for line in ((PYTHON, "-m", "package", "x"), (PYTHON, "-Bmpackage", "x"), (PYTHON, "package", "x")):
            plain, preloaded = self.run_both(*line, options=("--wdir", self.folder))
            self.assert_status(preloaded, 0)
            self.assertEqual(self.facts(preloaded), self.facts(plain))

    def test_ends(self):
        """Status, signal, traceback and what is printed last."""
        for what, status in (("", 0), ("fail", 1), ("interrupt", 130), ("words", 1), ("status", 7), ("kill", 139), ("hook", 1),
                             ("thread", 0)):
            plain, preloaded = self.run_both(PYTHON, WORKER, what, options=("--on-failure", "continue"))
            self.assert_status(preloaded, status)
            self.assertEqual(plain.returncode, status)
            for text in (plain, preloaded):
                text.rows = {rank: lines[2:] for rank, lines in by_rank(text.stdout).items()}
            self.assertEqual(preloaded.rows, plain.rows, what)
            self.assertEqual(sorted(by_tag(preloaded.stderr)), sorted(by_tag(plain.stderr)), what)

    def test_a_script_that_is_wrong(self):
        for text in ("def f(:\n", "raise SystemExit(3)", "import none_such"):
            plain, preloaded = self.run_both(PYTHON, self.script(text), options=("--on-failure", "continue"))
            self.assertEqual(preloaded.returncode, plain.returncode)
            self.assertEqual(sorted(by_tag(preloaded.stderr)), sorted(by_tag(plain.stderr)))

    def test_input_and_binding(self):
        _, preloaded = self.run_both(PYTHON, WORKER, "input", input="to rank 0")
        rows = by_rank(preloaded.stdout)
        self.assertEqual((rows[0][2], rows[1][2]), ("to rank 0", ""))
        plain, preloaded = self.run_both(PYTHON, WORKER, options=("--bind-to", "core", "--memory-policy", "prefer", "--nice", "3"))
        self.assertEqual(self.facts(preloaded), self.facts(plain))

    def test_output_is_buffered_as_asked(self):
        script = self.script('import os, sys\nprint("half", end="")\nos.write(1, b" direct\\n")\nos._exit(0)')
        for value, seen in (("1", "half direct"), ("", " direct")):
            _, preloaded = self.run_both(PYTHON, script, options=("-x", f"PYTHONUNBUFFERED={value}", "--no-tag"))
            self.assertEqual(preloaded.stdout.splitlines(), [seen] * 2)

    def test_a_directory_that_goes(self):
        """What fails between fork and the script is told as it is without it."""
        place = self.folder / "place"
        place.mkdir()
        self.module("rmdir_module", f"import os\nos.rmdir({str(place)!r})")
        done = sml_run("-np", "1", "--wdir", place, "--preload", "rmdir_module", PYTHON, WORKER, env=self.env)
        self.assert_status(done, 125)
        self.assertNotIn("without it", done.stderr)
        self.assertIn("cannot enter the working directory: no such file", done.stderr)


def by_tag(text):
    """Lines of workers, without ours, whose times differ, and without what Python's fault handler tells of the caller."""
    lines = [re.sub(r"thread 0x[0-9a-f]+", "thread", line) for line in text.splitlines() if not line.startswith("sml-run: ")]
    return [line for line in lines if not re.search(r'File "(sml-run --preload|<string>)", line \d+ in ', line)]


class Restarts(PreloadCase):
    @gate
    def test_later_attempts_do_not_import_again(self):
        # By one write, as the rank that fails last may be ended between a line and its end.
        script = self.script('import os, sys, slow_module\n'
                             'os.write(1, f"{os.environ[\'SML_ATTEMPT\']} {slow_module.PID}\\n".encode())\n'
                             'sys.exit(os.environ["SML_ATTEMPT"] != "3")')
        done = sml_run("--max-restarts", "5", "--restart-delay", "0:0", "--max-fruitless", "0", "-np", "2", "--no-tag",
                       "--preload", "slow_module", PYTHON, script, env=self.env)
        self.assert_status(done, 0)
        self.assertEqual(self.count.read_text(), "x")
        rows = {tuple(line.split()) for line in done.stdout.splitlines()}
        self.assertEqual({row[0] for row in rows}, {"1", "2", "3"})
        self.assertEqual(len({row[1] for row in rows}), 1, "one process has imported it")

    @gate
    def test_the_import_does_not_hold_up_the_end(self):
        with sml_run_popen("-np", "2", "--preload", "slow_module", PYTHON, WORKER, env={**self.env, "TAKES": "600"}) as job:
            wait_until(self.count.exists)
            job.send_signal(signal.SIGINT)
            done = job.finish()
        self.assert_status(done, 130)


class WithoutIt(PreloadCase):
    def assert_without(self, why, *line, modules="slow_module", status=0, options=(), **env):
        done = sml_run("-np", "2", "--preload", modules, *options, *line, env={**self.env, **env})
        self.assert_status(done, status)
        self.assertEqual(len(self.said(done)), 1, done)
        self.assertRegex(self.said(done)[0], why)
        return done

    def test_a_program_that_is_no_script(self):
        for line in (("true",), (PYTHON, "-c", "pass"), ("sh", "-c", f"{PYTHON} -c pass")):
            self.assert_without(r"--preload slow_module: .* no Python script or -m module; ", *line)
        self.assertFalse(self.count.exists())

    @gate
    def test_modules_that_cannot_be_imported(self):
        self.assert_without(r"localhost: --preload none_such: they cannot be imported: ModuleNotFoundError: No module named "
                            "'none_such'; workers are started without it$", PYTHON, WORKER, modules="none_such")
        self.module("wrong", "import sys; sys.exit(3)")
        self.assert_without("cannot be imported: SystemExit: 3;", PYTHON, WORKER, modules="wrong")
        self.module("crash", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
        self.assert_without("the process that imports them was killed by SIGKILL", PYTHON, WORKER, modules="crash")

    def test_imports_that_last(self):
        limit = f"{scaled(5):g}"  # which counts for the start of the agent, too
        self.assert_without(rf"they have been importing for {limit} s \(--start-timeout\)", PYTHON, WORKER,
                            options=("--start-timeout", f"{limit}s"), TAKES="600")

    def test_what_a_fork_would_not_have(self):
        self.module("threads", "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()")
        self.assert_without(r"they leave 1 threads? running \(python3.*\)", PYTHON, WORKER, modules="threads")
        self.module("sockets", "import socket\nS = socket.socket()")
        self.assert_without("they leave a socket open", PYTHON, WORKER, modules="sockets")
        self.module("processes", "import subprocess\nP = subprocess.Popen(['sleep', '600'])")
        self.assert_without("they leave a process running", PYTHON, WORKER, modules="processes")
        if os.path.exists("/dev/infiniband/rdma_cm"):
            self.module("devices", "F = open('/dev/infiniband/rdma_cm')")
            self.assert_without("they leave /dev/infiniband/rdma_cm open", PYTHON, WORKER, modules="devices")

    def test_variables_that_count_at_the_start(self):
        app = self.folder / "app"
        app.write_text(f"-np 1 {PYTHON} {WORKER}\n-np 1 -x PYTHONOPTIMIZE=1 {PYTHON} {WORKER}\n")
        done = sml_run("--app", app, "--preload", "slow_module", env=self.env)
        self.assert_status(done, 0)
        self.assertEqual(self.said(done), ["localhost: --preload slow_module: the workers differ in PYTHONOPTIMIZE, which counts "
                                           "when Python starts; such workers are started without it"])
        flags = [json.loads(lines[0])["flags"] for lines in by_rank(done.stdout).values()]
        self.assertEqual(["optimize=1" in f for f in flags], [False, True])

    def test_the_process_that_has_imported_them_dies(self):
        script = self.script('import os, signal, sys, slow_module\nprint(slow_module.PID == os.getpid())\n'
                             'if os.environ["SML_ATTEMPT"] == "1": os.kill(slow_module.PID, signal.SIGKILL)\n'
                             'sys.exit(os.environ["SML_ATTEMPT"] == "1")')
        done = sml_run("-np", "1", "--max-restarts", "1", "--restart-delay", "0:0", "--no-tag", "--preload", "slow_module", PYTHON,
                       script, env=self.env)
        self.assert_status(done, 0)
        self.assertEqual(done.stdout.split(), ["False", "imported", "True"])
        self.assertEqual(len(self.said(done)), 1)
        self.assertIn("was killed by SIGKILL", self.said(done)[0])

    def test_a_notice_before_the_end_of_a_batch_job_does_not_end_that_process(self):
        script = self.script('import os, signal, sys, slow_module\n'
                             'first = os.environ["SML_ATTEMPT"] == "1"\n'
                             'for one in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGPWR, signal.SIGXCPU):\n'
                             '    print(signal.getsignal(one).name)\n'
                             '    if first: os.kill(slow_module.PID, one)\n'
                             'sys.exit(first)')
        done = sml_run("-np", "1", "--max-restarts", "1", "--restart-delay", "0:0", "--no-tag", "--preload", "slow_module", PYTHON,
                       script, env=self.env)
        self.assert_status(done, 0)
        self.assertEqual(done.stdout.split(), ["SIG_DFL"] * 10)
        self.assertEqual(self.count.read_text(), "x")
        self.assertEqual(self.said(done), [])

    @gate
    def test_a_rank_runs_once_when_that_process_dies_before_it_tells_of_a_worker(self):
        self.module("dying", DYING)
        done = sml_run("-np", "1", "--no-tag", "--preload", "dying", PYTHON, self.script('print("runs", flush=True)'), env=self.env)
        self.assert_status(done, 0)
        self.assertEqual(done.stdout.split(), ["runs"])
        self.assertEqual(len(self.said(done)), 1, done.stderr)
        self.assertIn("workers are started without it", self.said(done)[0])

    def test_words_that_are_no_modules(self):
        done = sml_run("--preload", "a b", "true")
        self.assert_status(done, 2)
        self.assertIn("--preload: a b is not the name of a module", done.stderr)


class OnHosts(HostsCase):
    hosts = 2
    allowed_files = ("/tmp/m", "/tmp/m/*")

    def setUp(self):
        super().setUp()
        for host in self.bed.names():
            self.bed.exec(host, ["mkdir", "-p", "/tmp/m"])
            self.bed.put(host, "/tmp/m/slow_module.py", SLOW)
            self.bed.put(host, "/tmp/m/wait.py", 'import os, time\nprint(os.environ["RANK"], os.environ["SML_HOST"], flush=True)\n'
                                                 'os.spawnvp(os.P_NOWAIT, "sleep", ["sleep", "600"])\ntime.sleep(600)')
            self.addCleanup(self.bed.exec, host, ["rm", "-rf", "/tmp/m"])
        self.line = ("-np", "4", "-H", self.bed.hosts(slots=2), "-x", "COUNT=/tmp/m/count", "-x", "PYTHONDONTWRITEBYTECODE=1",
                     "-x", "PYTHONPATH=/tmp/m", "--no-tag", "--preload", "slow_module", PYTHON, "/tmp/m/wait.py")

    @gate
    def test_a_killed_agent_leaves_nothing(self):
        with self.bed.sml_run_popen("algo-1", *self.line) as job:
            job.read_until("3 algo-2")
            self.assertEqual(self.bed.exec("algo-2", ["cat", "/tmp/m/count"]).stdout, "x")
            agents = [p for p in self.bed.ps("algo-2") if pathlib.Path(p["cmd"].split()[0]).name.startswith("sml-run-agent")]
            self.assertTrue(agents)
            self.bed.kill_processes(agents)
            done = job.finish()
        self.assert_status(done, 125)  # and the harness looks for what is left

    def test_who_comes_while_the_host_of_rank_0_still_imports_is_refused_and_comes_again(self):
        # As clients of torch's store do. A connection that something else than rank 0 took would be cut off.
        self.bed.exec("algo-1", ["mkfifo", "/tmp/m/door"])
        self.bed.put("algo-1", "/tmp/m/slow_module.py", "open('/tmp/m/door').read()")
        self.bed.put("algo-2", "/tmp/m/slow_module.py", "")
        script = 'import os, slow_module, socket, time\nplace = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])\n' \
                 'if os.environ["RANK"] == "0":\n    caller, _ = socket.create_server(place).accept()\n    caller.sendall(b"x")\n' \
                 'while os.environ["RANK"] == "1":\n' \
                 '    try:\n        caller = socket.create_connection(place)\n        break\n' \
                 '    except ConnectionRefusedError:\n        print("refused", flush=True)\n        time.sleep(0.01)\n' \
                 'if os.environ["RANK"] == "1":\n    print("heard", caller.recv(1).decode())\n'
        for host in self.bed.names():
            self.bed.put(host, "/tmp/m/meet.py", script)
        with self.bed.sml_run_popen("algo-1", "-H", self.bed.hosts(slots=1), "--no-torch-store", "-x", "PYTHONPATH=/tmp/m",
                                    "--no-tag", "--preload", "slow_module", PYTHON, "/tmp/m/meet.py") as job:
            job.read_until("refused")
            self.bed.exec("algo-1", ["sh", "-c", "echo > /tmp/m/door"])
            done = job.finish()
        self.assert_status(done, 0)
        self.assertEqual(done.stdout.splitlines()[-1], "heard x")
