"""Every command line of README.md and the manuals is run as it stands, on a testbed with the hosts that they name."""
import json
import os
import pathlib
import re
import shutil
import sys
import unittest
import unittest.mock

import schemas
from harness import BUILD, REPO, SML_RUN, HostsCase, TestCase, gate, popen, run, sml_run, wait_until
from test_mpi import compiled

MANUALS = tuple(str(path.relative_to(REPO)) for path in sorted((REPO / "man").iterdir()))
PAGES = ("README.md", "SKILL.md", *MANUALS)

DOCKER = ("docker build --target build -f packaging/sagemaker/Dockerfile.batch -t sml-run-build . && "
          "docker run --rm sml-run-build cat /build/sml-run > sml-run && chmod +x sml-run")
# Lines that install or build, and the test that runs them.
RUN_ELSEWHERE = {
    "pip install ./sml_run-*.whl": "release.test_release.Wheel.test_pip_puts_it_on_the_path",
    "apt install ./sml-run_*.deb": "release.test_release.Deb.test_it_is_installed_and_removed",
    "apt purge sml-run": "release.test_release.Deb.test_it_is_installed_and_removed",
    "rpm -i sml-run-*.rpm": "release.test_release.Rpm.test_it_is_installed_and_removed",
    "rpm -e sml-run": "release.test_release.Rpm.test_it_is_installed_and_removed",
    "tar -C /usr/local --strip-components=1 -xf sml-run-*-$(uname -m).tar.gz": "release.test_release.Tarball.test_it_runs_where_it_is_unpacked",
    "packaging/quickstart": "e2e.test_install.Quickstart.test_a_second_run",
    "sml-run top": "e2e.test_top.Top.test_a_failing_job_is_seen_asked_and_stopped",
    DOCKER: "e2e.test_documents.Docker.test_the_line_builds_what_it_takes_out",
    "pip uninstall sml-run": "release.test_release.Wheel.test_pip_puts_it_on_the_path",
    "pip install ./packaging/python": "release.test_release.FromSource.test_what_is_missing_for_the_build_is_said_in_one_sentence",
    "packaging/release": "release.test_release.Bytes.test_a_second_run_gives_the_same",
    "srun --ntasks-per-node=1 sml-run python3 train.py": "e2e.test_steps.Steps.test_one_on_each_host_is_one_job_whatever_the_file_of_sagemaker_says",
}
# Those of them whose tests have a stand-in for minutes of building; by hand, as RELEASING.md says, they are run as they stand.
BY_HAND = {"packaging/quickstart": "tests/release/from_source", DOCKER: "tests/release/from_source",
           "pip install ./packaging/python": "pip install ./packaging/python"}
# No whole command lines, and one for conda, which Debian does not have.
NOT_RUN = ("tar -tf", "COPY ", "conda remove ")

FAILS = """
import os, sys, time
print("step 1", flush=True)
if os.environ["RANK"] == "5":
    sys.exit("RuntimeError: CUDA error: an illegal memory access was encountered")
time.sleep(600)
"""
TRAIN = "import os, sys; print('rank', os.environ['SML_RANK'], 'of', os.environ['SML_WORLD_SIZE'], 'step 1')\n"
NVIDIA_SMI = "#!/bin/sh\nprintf 'GPU 0: A\\nGPU 1: A\\n'\n"
HOME = "/home/root"  # of the testbed's hosts
PLACE = f"{HOME}/place"  # where the lines are run
RESOURCES = {"current_host": "algo-1", "hosts": ["algo-1"], "network_interface_name": "eth0"}


def of_markdown(text):
    """Lines of ```sh blocks, and of tables the command lines in the columns for what you write."""
    for block in re.findall(r"^ *```sh\n(.*?)^ *```", text, re.M | re.S):
        yield from (line for line in block.splitlines() if line.strip())
    for table in re.findall(r"(?:^\|.*\n)+", text, re.M):
        rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in table.splitlines()]
        for column, title in enumerate(rows[0]):
            if title in ("you write", "to remove it", "your line", "this line"):
                lines = [line for row in rows[2:] for line in re.findall(r"`([^`]* [^`]*|packaging/\w+)`", row[column])]
                yield from (line for line in lines if not line.startswith(NOT_RUN))


def of_manual(text):
    """Lines that are displayed, and displayed blocks that call us."""
    for line in re.findall(r"^\.Dl (.*)$", text, re.M):
        yield line
    for block in re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", text, re.M | re.S):
        if re.match(r"#!/bin/sh|until ", block):
            yield block
        elif re.match(r"(\w+=\S+ )?sml-run ", block):
            yield from block.replace("\\e\n", "\\\n").replace("\\\n    ", " ").splitlines()


def in_sentences(page):
    """Commands that the text names between its blocks and tables; tests/run is what runs this."""
    text = re.sub(r"^ *```.*?^ *```|^\|.*?$", "", (REPO / page).read_text(), flags=re.M | re.S)
    for line in re.findall(r"`((?:sml-run|packaging/\w+|man|rm|srun)(?:[ /][^`]*)?)`", text):
        if " " in line or "/" in line:
            yield " ".join(line.split())


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
                      "secrets.env": "HF_TOKEN=word\n", "start.sh": '#!/bin/sh\nexec python3 train.py "$@"\n',
                      "end.json": '{"exit_code": 1, "verdict": "", "culprit": {"rank": 5}}',
                      "bin/nvidia-smi": NVIDIA_SMI, "ring": self.ring, "spawner": self.ring, "hosts.sh": "#!/bin/sh\necho algo-1:1\necho algo-2:1\n"}
        for host in ("algo-1", "algo-2"):
            self.bed.exec(host, ["rm", "-rf", "/opt/ml"])  # these are hosts like any others, until a line needs it
            self.addCleanup(self.bed.exec, host, ["rm", "-rf", PLACE, f"{HOME}/.config"])
            for name, text in self.files.items():
                self.bed.put(host, f"{PLACE}/{name}", text, mode=0o755)
            self.bed.exec(host, [f"{BUILD}/sml-run", "--install-links", f"{PLACE}/bin/links"])
        self.bed.exec("algo-1", ["mkdir", "-p", f"{PLACE}/links"])
        self.address = self.bed.address("algo-1")
        self.secret = "0123456789abcdef0123456789abcdef"

    def environment(self, line):
        own = f"{PLACE}/bin:" if "gpu" in line else ""
        if not line.startswith("sml-run"):
            own += f"{PLACE}/bin/links:"
        return {"PATH": f"{own}{BUILD}:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": HOME, "WANDB_MODE": "offline", "WANDB_API_KEY": "word", "LR": "0.1",
                **({"AWS_BATCH_JOB_ARRAY_INDEX": "1"} if "--array-file" in line else {}),
                **({"SML_JOB_SECRET": self.secret} if "--nnodes" in line else {})}

    def start(self, host, line):
        return self.bed.popen(host, ["sh", "-c", line], env=self.environment(line), cwd=PLACE)

    def run_here(self, line):
        return self.bed.exec("algo-1", ["bash" if "completion bash" in line else "sh", "-c", line], env=self.environment(line), cwd=PLACE)

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
        if ".venv" in line:
            for host in ("algo-1", "algo-2"):
                self.bed.exec(host, ["/usr/bin/python3", "-m", "venv", "--without-pip", f"{PLACE}/.venv"])
        if "/fsx/train" in line:
            self.bed.put("algo-1", f"{PLACE}/data/part-0", "x")
            line = line.replace("/fsx/train", f"{PLACE}/data")
        return self.run_here(line)

    @gate
    def test_of_the_readme_s_first_screen(self):
        """What a failure looks like, but for times and pids."""
        block = re.search(r"^```console\n\$ (.*?)\n\.\.\.\n(.*?)^```", (REPO / "README.md").read_text(), re.M | re.S)
        self.bed.put("algo-1", f"{PLACE}/train.py", FAILS)
        self.bed.put("algo-2", f"{PLACE}/train.py", FAILS)
        done = self.run_here(block[1])
        self.assertEqual(done.returncode, 1)

        def told(text):
            return re.sub(r"after [\d.]+ s \(pid \d+\)", "after N s (pid N)", text)
        self.assertTrue(told(done.stderr).endswith("\n" + told(block[2])), done.stderr)

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
        self.check("README.md", 25)

    @gate
    def test_of_the_readme_s_sentences(self):
        self.bed.exec("algo-1", [SML_RUN, "-H", "algo-2:1", "true"], env=self.environment("sml-run"))
        count = 0
        for line in in_sentences("README.md"):
            if line in (*RUN_ELSEWHERE, *commands("README.md")) or line.endswith("/README.md"):
                continue
            host = "algo-2" if line.startswith("rm ") else "algo-1"
            site = f"{PLACE}/site"
            with self.subTest(line=line):
                done = self.bed.exec(host, ["sh", "-c", line.replace("TOPIC", "restarts").replace("FOLDER", site)],
                                     env={**self.environment("sml-run"), "MANPAGER": "cat"}, cwd=PLACE if line.startswith("sml-run") else REPO)
                self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}{done.stderr}")
            count += 1
        self.assertGreaterEqual(count, 5, "the commands cannot be found any more")

    @gate
    def test_of_the_page_for_assistants(self):
        self.check("SKILL.md", 10)

    def test_what_the_page_for_assistants_says_of_the_report(self):
        self.bed.put("algo-1", f"{PLACE}/train.py", "import os, sys; sys.exit(7 if os.environ['RANK'] == '1' else 0)")
        start, = (line for line in commands("SKILL.md") if "--report end.json" in line)
        self.assertEqual(self.run_here(start).returncode, 7)
        ask, = (line for line in commands("SKILL.md") if "culprit" in line)
        self.assertRegex(self.run_here(ask).stdout, r"^7 .*'rank': 1\b")

    @gate
    def test_of_the_manual(self):
        self.check("man/sml-run.1", 5)

    @gate
    def test_of_the_pages_by_topic(self):
        for page in MANUALS:
            if page not in ("man/sml-run.1", "man/sml-run-guide.7"):
                self.check(page, 0)
        self.check("man/sml-run-hosts.7", 3)

    @gate
    def test_of_the_guide(self):
        self.check("man/sml-run-guide.7", 20)


class MovingPicture(HostsCase):
    """The terminal in the README is that of a run, and a run still looks so."""
    hosts = 2

    def pictures(self):
        sys.path.insert(0, str(REPO / "packaging/pictures"))
        self.addCleanup(sys.path.remove, str(REPO / "packaging/pictures"))
        import terminal
        return terminal

    def test_a_run_prints_what_was_recorded(self):
        terminal = self.pictures()
        folder = pathlib.Path("/run/sml-testbed", self.bed.name, "shared", "picture")
        folder.mkdir()
        self.addCleanup(shutil.rmtree, folder)
        shutil.copy(terminal.HERE / "train.py", folder)
        with unittest.mock.patch.dict(os.environ, SML_TESTBED=self.bed.name):
            cast, status = terminal.run_in_terminal(terminal.on_testbed(folder, BUILD))
        self.assertEqual(status, 0, cast)
        self.assertEqual(self.by_origin(terminal, cast), self.by_origin(terminal, terminal.recorded()))

    def by_origin(self, terminal, cast):
        """Lines of each rank, and of sml-run; how they come between each other differs from run to run. Not those of a slow start."""
        lines = {}
        for line in (one for one in terminal.masked(terminal.text_of(cast)) if not one.startswith("sml-run: waiting for ")):
            lines.setdefault(line.split()[0], []).append(line)
        return lines

    @gate
    def test_the_picture_is_that_of_the_record(self):
        terminal = self.pictures()
        self.assertEqual(terminal.drawn(), terminal.PICTURE.read_text(), "packaging/pictures/terminal.py draw makes it anew")
        self.assertIn(f"]({terminal.PICTURE.relative_to(REPO)})", (REPO / "README.md").read_text())
        self.assertEqual(json.loads(terminal.CAST.read_text().splitlines()[0])["command"], terminal.LINE)

    def test_bytes_that_a_picture_cannot_show_are_refused(self):
        with self.assertRaises(ValueError):
            self.pictures().Screen().feed("\x1b[2A")


class Elsewhere(TestCase):
    def test_each_has_a_test(self):
        lines = {line for page in PAGES for line in commands(page)} | set(in_sentences("README.md"))
        for line, where in RUN_ELSEWHERE.items():
            self.assertIn(line, lines)
            folder, module, case, test = where.split(".")
            text = (REPO / "tests" / folder / f"{module}.py").read_text()
            self.assertRegex(text, rf"class {case}\(")
            self.assertIn(f"def {test}(", text)

    def test_what_a_stand_in_runs_is_run_by_hand_before_a_release(self):
        self.assertEqual(set(BY_HAND) - set(RUN_ELSEWHERE), set())
        told = (REPO / "RELEASING.md").read_text()
        for words in BY_HAND.values():
            self.assertIn(words, told)
            if words.startswith("tests/"):
                self.assertTrue(os.access(REPO / words, os.X_OK))


class Docker(TestCase):
    """An image takes minutes to build, which tests/release/from_source does; the line names what the file has."""

    def test_the_line_builds_what_it_takes_out(self):
        _, stage, name, taken = re.search(r"^(docker) build --target (\w+) -f (\S+) .* cat (\S+) > ", DOCKER).groups()
        text = (REPO / name).read_text()
        steps = re.search(rf"^FROM \S+ AS {stage}\n(.*?)^FROM ", text, re.M | re.S)[1]
        self.assertIn(f"cmake --build {taken.rpartition('/')[0]} --target sml-run ", steps)
        self.assertIn(f"COPY --from={stage} {taken} ", text)
        self.assertIn(f"`{DOCKER}`", (REPO / "README.md").read_text())

    def test_the_line_that_is_built_by_hand_is_this_one(self):
        script = (REPO / "tests/release/from_source").read_text()
        found = re.search(r"^  line=\$\(sed -n '(.*)' \"\$repo/README.md\"\)$", script, re.M)[1]
        done = run(["sed", "-n", found, REPO / "README.md"])
        self.assertEqual(done.stdout, DOCKER + "\n")


class Json(TestCase):
    """Every key that a program may meet is in sml-run-json(5) and in packaging/schemas, and is as these say."""

    def keys(self, value):
        if isinstance(value, list):
            return set().union(*map(self.keys, value))
        if isinstance(value, dict):
            return set(value) | self.keys(list(value.values()))
        return set()

    def keys_of_schema(self, value):
        if isinstance(value, list):
            return set().union(*map(self.keys_of_schema, value))
        if isinstance(value, dict):
            return set(value.get("properties", ())) | self.keys_of_schema(list(value.values()))
        return set()

    def told(self):
        text = (REPO / "man/sml-run-json.5").read_text()
        return set(re.findall(r"\b[a-z][a-z_0-9]*\b", " ".join(re.findall(r"^\.(?:.* )?Li (.*)", text, re.M))))

    def assert_told(self, name, *texts):
        for text in texts:
            self.assertEqual(self.keys([schemas.checked(name, text)]) - self.told(), set())

    def test_the_schemas_are_schemas_and_the_manual_has_all_of_them(self):
        import jsonschema
        manual = (REPO / "man/sml-run-json.5").read_text()
        shared = {}
        for path in sorted(schemas.FOLDER.iterdir()):
            with self.subTest(path.name):
                schema = json.loads(path.read_text())
                jsonschema.Draft202012Validator.check_schema(schema)
                self.assertTrue(f" Pa {path.name} " in manual, "sml-run-json(5) does not name it")
                self.assertEqual(self.keys_of_schema(schema) - self.told(), set())
                for name, part in schema.get("$defs", {}).items():
                    self.assertEqual(shared.setdefault(name, part), part)
        self.assertGreater(len(shared), 3)

    def test_a_later_version_may_have_more_keys_but_not_fewer(self):
        import jsonschema
        line = {"rank": 0, "stream": "stdout", "line": "x", "host": "algo-1"}
        jsonschema.validate(line, schemas.schema("log-line"))
        del line["stream"]
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate(line, schemas.schema("log-line"))

    def test_a_key_that_no_schema_has_is_found(self):
        with self.assertRaisesRegex(AssertionError, "'host' was unexpected"):
            schemas.checked("log-line", '{"rank": 0, "stream": "stdout", "line": "x", "host": "algo-1"}')
        with self.assertRaisesRegex(AssertionError, "no event is called lunch"):
            schemas.checked("event", '{"event": "lunch"}')

    @gate
    def test_of_a_job_that_failed(self):
        folder = self.temporary_directory()
        sml_run("-np", "2", "--max-restarts", "1", "--report", f"{folder}/r", "--events", f"{folder}/e", "sh", "-c",
                "echo said: No space left on device >&2; [ $RANK = 0 ] && exit 3; kill -KILL $$")
        events = pathlib.Path(folder, "e").read_text().splitlines()
        self.assertGreater(len(events), 10)
        self.assert_told("report", pathlib.Path(folder, "r").read_text())
        self.assert_told("event", *events)

    @gate
    def test_of_what_starts_nothing(self):
        several = ("-np", "1", "-x", "A=1", "true", ":", "-np", "1", "--role", "reader", "cat")
        for schema, *line in (("plan", "--dry-run", "-np", "2", "true"), ("plan", "--dry-run", *several),
                              ("plan", "--dry-run", "-H", "me@a:1,b:1,[::1]:1", "--max-restarts", "1", "--spares", "1", "true"),
                              ("check", "--check", "-np", "2", "true"), ("check", "--check", *several), ("check", "--check", "no-such-program"),
                              ("options", "--explain", "-np", "2", "true")):
            with self.subTest(line=line):
                self.assert_told(schema, sml_run("--format", "json", *line).stdout)
        self.assertRegex(schemas.checked("version", sml_run("--version", "--format", "json").stdout)["version"], r"^\d+\.\d+")
        schemas.checked("environment", sml_run("--format", "json", "--dry-run", "--show-env", "0", "true").stdout)

    @gate
    def test_of_a_job_that_runs(self):
        with popen([SML_RUN, "-np", "1", "sh", "-c", "trap : USR1; echo ready; while :; do sleep 0.1; done"]) as job:
            job.read_until("ready")
            text = sml_run("ps", "--format", "json").stdout
            self.assert_told("jobs", text)
            mine, = wait_until(lambda: [j["id"] for j in json.loads(sml_run("ps", "--format", "json").stdout) if j["pid"] == job.pid])
            for schema, *words in (("status", "status", mine), ("stacks", "stacks", mine), ("log-line", "logs", mine), ("signalled", "signal", mine, "USR1"),
                                   ("ended", "stop", mine)):
                done = sml_run(*words, "--format", "json")
                self.assert_status(done, 0)
                self.assert_told(schema, *(done.stdout.splitlines() if schema == "log-line" else [done.stdout]))


class FirstScreens(TestCase):
    @gate
    def test_who_calls_without_a_word_gets_lines_to_try(self):
        done = sml_run()
        self.assert_status(done, 2)
        self.assertIn("no program to start", done.stderr)
        line = re.search(r"^  (sml-run -np 4 sh .*?) +#", done.stderr, re.M)[1]
        tried = run(["sh", "-c", line], env={"PATH": f"{BUILD}:/usr/bin:/bin"})
        self.assertEqual(sorted(tried.stdout.splitlines()), [f"[{r}] rank {r} of 4" for r in range(4)])

    @gate
    def test_help_fits_a_terminal_and_its_prompt(self):
        lines = sml_run("--help").stdout.splitlines()
        self.assertLess(len(lines), 24)
        self.assertLessEqual(max(map(len, lines)), 80)


class Manuals(TestCase):
    """What a reader sees."""

    def rendered(self, page):
        done = run(["mandoc", "-T", "utf8", "-O", "width=200", REPO / page])
        self.assert_status(done, 0)
        return re.sub(r".\x08", "", done.stdout)

    def test_programs_are_kept_apart(self):
        self.assertIn("python3 ps.py : -np 4", self.rendered("man/sml-run.1"))
        for page in MANUALS:
            self.assertNotRegex(self.rendered(page), r"\w: -np", page)

    def test_quotes_are_in_pairs(self):
        for page in MANUALS:
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
