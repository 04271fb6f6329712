"""What another user of a host puts where sml-run looks, or says at a port of the job, gets no say in it.

The job is root's; `tester` has a log-in and no privileges. What it makes would leave /tmp/pwned if root ran it.
"""
import pathlib
import re
import subprocess

from harness import PYTHON, REPO, SML_RUN, HostsCase, TestCase, gate, run, scaled, watchdog
from jobs import assert_says, sh, wait_for_workers
from test_mpi import compiled, words

HERE = pathlib.Path(__file__).parent
HOST = "algo-1"
PWNED = "/tmp/pwned"
TESTER = 7700
EVIL_PROGRAM = f"#!/bin/sh\nid > {PWNED}\n"
EVIL_MODULE = f"import os\nos.close(os.open('{PWNED}', os.O_CREAT))\nraise ImportError('evil')\n"
EVIL_LIBRARY = f"""
#include <fcntl.h>
#include <unistd.h>
__attribute__((constructor)) static void load(void) {{ close(open("{PWNED}", O_CREAT | O_WRONLY, 0600)); }}
"""
# PORT: bytes to libpmix that made it read what is not there, and noise; then whether they are answered.
NOISE = r"""
import socket, struct, sys
for head in ((-1, 0, 1 << 20), (0, 0, 1 << 40), (-1, 7, 0), (1, 1, 1)):
    with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10) as s:
        try:
            s.sendall(struct.pack(">iIQ", *head) + bytes(range(256)) * 16)
            answer = s.recv(1)
        except ConnectionError:
            answer = b""
        assert answer == b"", answer
"""


class TrustCase(HostsCase):
    def setUp(self):
        super().setUp()
        for host in self.bed.names():
            self.addCleanup(sh, self.bed, host, f"rm -rf /tmp/* {PWNED} /run/own")
            sh(self.bed, host, "mkdir -p /run/own")

    def plant(self, host, path, text, mode=0o755):
        """A file of tester's."""
        self.bed.put(host, path, text, mode=mode, user="tester")

    def assert_not_pwned(self):
        for host in self.bed.names():
            self.assertEqual(sh(self.bed, host, f"cat {PWNED} 2> /dev/null; ls {PWNED} 2> /dev/null; true"), "")


class Pmix(TrustCase):
    """The port of libpmix, on 127.0.0.1 of each host of a job of Open MPI."""

    hosts = 1

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = compiled(cls, "openmpi")
        cls.stranger = cls.program.parent / "stranger"
        subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-rdynamic", "-I", REPO, HERE / "pmix_stranger.c", "-o",
                        cls.stranger, "-ldl"], check=True, timeout=watchdog())

    def setUp(self):
        super().setUp()
        self.job = self.enterContext(self.bed.sml_run_popen(HOST, "-H", f"{HOST}:4", "-np", "2", str(self.program), "wait"))
        self.job.read_until("all wait")
        pid = sh(self.bed, HOST, "pgrep -x program").split()[0]
        environ = sh(self.bed, HOST, f"tr '\\0' '\\n' < /proc/{pid}/environ")
        self.variables = dict(line.split("=", 1) for line in environ.splitlines() if "=" in line)

    def call(self, *line, user="tester"):
        """Who knows all that a rank knows."""
        known = {name: value for name, value in self.variables.items() if name.startswith("PMIX_")}
        return self.bed.exec(HOST, [str(self.stranger), *line], user=user, env=known).stdout

    def assert_goes_on(self):
        self.assertEqual(self.call("join", user="root"), "served\n")
        self.assertIsNone(self.job.poll())

    def test_another_user_is_no_rank_whatever_it_knows(self):
        for line in (["join"], ["spawn", f"id > {PWNED}"], ["abort"]):
            with self.subTest(line=line):
                self.assertEqual(self.call(*line), "refused\n")
        self.assert_not_pwned()
        self.assert_goes_on()

    def test_bytes_of_another_user_are_not_read(self):
        port = next(re.search(r"tcp4://127\.0\.0\.1:(\d+)", value).group(1) for name, value in self.variables.items()
                    if name.startswith("PMIX_SERVER_URI"))
        done = self.bed.exec(HOST, [PYTHON, "-c", NOISE, port], user="tester")
        self.assert_status(done, 0)
        self.assert_goes_on()

    def test_nothing_of_the_job_that_listens_answers_another_user(self):
        """Launcher, agent and libpmix close, or cannot be reached; the ranks' own ports say nothing."""
        pids = [str(p["pid"]) for p in self.bed.ps(HOST)]
        there = self.bed.exec(HOST, [PYTHON, HERE / "listeners.py", "list", *pids]).stdout
        for name in ("sml-run", "sml-run-agent", "sml-run-pmix", "program"):
            self.assertRegex(there, rf"(?m) {name}$")
        done = self.bed.exec(HOST, [PYTHON, HERE / "listeners.py", "knock"], user="tester", input=there.encode())
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "", f"of these:\n{there}")
        self.assert_goes_on()

    def test_the_name_of_the_ranks_world_cannot_be_guessed(self):
        self.assertRegex(self.variables["PMIX_NAMESPACE"], r"^sml-run\.[0-9a-f]{32}\.1$")

    def test_nothing_that_others_see_names_the_job(self):
        secrets = [self.variables["SML_JOB_ID"], self.variables["PMIX_NAMESPACE"].split(".")[1]]
        look = ("cat /proc/net/unix; cat /proc/[0-9]*/cmdline /proc/[0-9]*/comm | tr '\\0' ' '; "
                "find /tmp /var/tmp /dev/shm /run /sys/fs/cgroup 2> /dev/null; true")
        seen = sh(self.bed, HOST, look, user="tester")
        self.assertIn("sml-run", seen)
        for secret in secrets:
            self.assertGreater(len(secret), 15)
            self.assertNotIn(secret, seen)


class Callers(TestCase):
    def test_whose_a_connection_is_the_kernel_tells_by_either_way(self):
        """Asked for the one socket, and by its table where it cannot be asked."""
        folder = pathlib.Path(self.temporary_directory())
        for flags in ([], ["-DBY_TABLE"]):
            with self.subTest(flags=flags):
                subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", *flags, "-I", REPO, HERE / "pmix_callers.c", "-o",
                                folder / "callers"], check=True, timeout=watchdog())
                done = run([folder / "callers"])
                self.assert_status(done, 0)
                self.assertEqual(done.stdout.splitlines(), [f"{who} by IPv{n}: {what}" for n in (4, 6) for who, what in (
                    ("the user", "let in"), ("somebody else", "closed"), ("who has left", "closed"))])


class Preload(TrustCase):
    def test_modules_in_the_working_directory_are_not_imported(self):
        """What python3 /run/own/train.py itself does not look at."""
        for host in self.bed.names():
            self.bed.put(host, "/run/own/train.py", "print('trained')\n")
            sh(self.bed, host, "mkdir -m 1777 /tmp/open", user="tester")
            for name in ("_socket", "ctypes", "fcntl", "gc", "importlib", "os", "pkgutil", "posix", "runpy", "types"):
                self.plant(host, f"/tmp/open/{name}.py", EVIL_MODULE)
        for options in (["-np", "1"], ["-H", "algo-2"]):
            with self.subTest(options=options):
                done = self.bed.sml_run(HOST, *options, "--no-tag", "--preload", "json", "--wdir", "/tmp/open", "python3",
                                        "/run/own/train.py", cwd="/tmp/open")
                self.assert_not_pwned()
                self.assert_status(done, 0)
                self.assertEqual(done.stdout, "trained\n")
                assert_says(self, done, never="without it")


class Libraries(TrustCase):
    hosts = 1

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = compiled(cls, "openmpi")
        cls.evil = cls.program.parent / "evil.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", cls.evil], input=EVIL_LIBRARY.encode(), check=True,
                       timeout=watchdog())

    def test_libpmix_beside_the_programs_folder(self):
        sh(self.bed, HOST, 'mkdir -m 700 /tmp/job; cp "$1" /tmp/job/', str(self.program))
        sh(self.bed, HOST, 'mkdir /tmp/lib; : > /tmp/lib/libmpi.so.40; cp "$1" /tmp/lib/libpmix.so.2', str(self.evil),
           user="tester")
        done = self.bed.sml_run(HOST, "-H", f"{HOST}:2", "-np", "2", "/tmp/job/program", "ring")
        self.assert_not_pwned()
        self.assert_status(done, 0)
        self.assertEqual(words(done), ["ring 0 of 2 got 1", "ring 1 of 2 got 1"])
        assert_says(self, done, rf"/tmp/lib/libpmix\.so\.2 is not loaded, as /tmp/lib belongs to user {TESTER}")

    def test_a_check_says_which_folder_no_library_comes_from(self):
        sh(self.bed, HOST, 'mkdir -m 700 /tmp/job; cp "$1" /tmp/job/', str(self.program))
        sh(self.bed, HOST, 'mkdir -p /tmp/lib /tmp/share/openmpi; cp "$1" /tmp/lib/libpmix.so.2; : > /tmp/lib/libmpi.so.40; '
           ': > /tmp/lib/libopen-pal.so.40; : > /tmp/share/openmpi/help-mpi-errors.txt', str(self.evil), user="tester")
        done = self.bed.sml_run(HOST, "--check", "-H", f"{HOST}:2", "-np", "2", "-x", "LD_LIBRARY_PATH=/tmp/lib", "/tmp/job/program")
        self.assert_not_pwned()
        self.assert_status(done, 0)
        assert_says(self, done, rf"warning: {HOST}: LD_LIBRARY_PATH: no library is loaded from a folder for PMIx, as /tmp/lib belongs "
                                rf"to user {TESTER}", r"OPAL_PREFIX is not set to /tmp, .*, as /tmp can be written by every user")

    def test_a_library_that_a_closed_folder_only_links_to(self):
        """It is not loaded by its name, either, which the loader would look up in the same folder."""
        sh(self.bed, HOST, 'cp "$1" /tmp/evil.so', str(self.evil), user="tester")
        sh(self.bed, HOST, "mkdir -m 700 /tmp/job; mkdir /run/own/lib; ln -s /tmp/evil.so /run/own/lib/libpmix.so.2; "
                           'cp "$1" /tmp/job/', str(self.program))
        done = self.bed.sml_run(HOST, "--check", "-H", f"{HOST}:2", "-np", "2", "-x", "LD_LIBRARY_PATH=/run/own/lib", "/tmp/job/program")
        self.assert_not_pwned()
        self.assert_status(done, 0)
        assert_says(self, done, rf"/run/own/lib/libpmix\.so\.2 is not loaded, as /tmp/evil\.so belongs to user {TESTER}",
                    rf"LD_LIBRARY_PATH: no library is loaded from a folder for PMIx, as /tmp/evil\.so belongs to user {TESTER}")

    def test_folders_of_components_that_a_variable_names(self):
        sh(self.bed, HOST, 'mkdir -m 700 /tmp/job; cp "$1" /tmp/job/', str(self.program))
        sh(self.bed, HOST, 'mkdir /tmp/parts; for name in mca_psec_evil pmix_mca_psec_evil; do cp "$1" /tmp/parts/$name.so; done',
           str(self.evil), user="tester")
        for name in ("PMIX_MCA_mca_base_component_path", "PMIX_MCA_mca_base_param_files", "HWLOC_PLUGINS_PATH"):
            with self.subTest(name=name):
                done = self.bed.sml_run(HOST, "--check", "-H", f"{HOST}:2", "-np", "2", "-x", f"{name}=/usr/lib:/tmp/parts",
                                        "/tmp/job/program")
                self.assert_not_pwned()
                self.assert_status(done, 0)
                assert_says(self, done, rf"warning: {HOST}: {name} is not for the server of PMIx, as /tmp/parts belongs to user {TESTER}")

    def test_what_others_trust_their_own_user_trusts(self):
        """The same folder in a job of tester's: its library is tried, and is none; the system's serves the ranks."""
        sh(self.bed, HOST, 'mkdir /tmp/job /tmp/lib; cp "$1" /tmp/job/; : > /tmp/lib/libmpi.so.40; cp "$2" /tmp/lib/libpmix.so.2',
           str(self.program), str(self.evil), user="tester")
        done = self.bed.sml_run(HOST, "-H", f"{HOST}:2", "-np", "2", "/tmp/job/program", "ring", user="tester")
        self.assert_status(done, 0)
        self.assertEqual(words(done), ["ring 0 of 2 got 1", "ring 1 of 2 got 1"])
        self.assertEqual(sh(self.bed, HOST, f"stat -c %u {PWNED}"), f"{TESTER}\n")
        assert_says(self, done, never="is not loaded")


class Tools(TrustCase):
    """A program directly in /tmp, with tools of another user beside it."""

    def setUp(self):
        super().setUp()
        for host in self.bed.names():
            sh(self.bed, host, "cp /bin/sleep /tmp/rank")
            for name in ("gdb", "eu-stack", "py-spy"):
                self.plant(host, f"/tmp/{name}", EVIL_PROGRAM)

    def test_stacks(self):
        with self.bed.sml_run_popen(HOST, "-H", ",".join(self.bed.names()), "-x", "PATH=/run/own", "/tmp/rank", "987") as job:
            wait_for_workers(self.bed, "/tmp/rank 987", 2)
            self.assert_status(self.bed.sml_run(HOST, "stacks"), 0)
            job.terminate()
            done = job.finish()
        self.assert_not_pwned()
        for name in ("eu-stack", "gdb"):
            assert_says(self, done, rf"/tmp/{name} is not run, as /tmp/{name} belongs to user {TESTER}")

    def test_the_end_of_a_time_limit(self):
        done = self.bed.sml_run(HOST, "-H", "algo-2", "--timeout", f"{scaled(2)}s", "/tmp/rank", "987")
        self.assert_not_pwned()
        self.assert_status(done, 124)


class Commands(TrustCase):
    """What an option names is looked at, too, before it is run or obeyed."""

    def setUp(self):
        super().setUp()
        sh(self.bed, HOST, "mkdir -m 777 /tmp/open", user="tester")
        self.plant(HOST, "/tmp/open/lookover", EVIL_PROGRAM + f"echo {HOST}\n")

    def test_variables_in_the_working_directory(self):
        """deepspeed takes them; a library that they name would be loaded into each worker."""
        sh(self.bed, HOST, f"ln -sf {SML_RUN} /run/own/deepspeed; mkdir /run/own/ours; echo MINE=yes > /run/own/ours/.deepspeed_env; "
                           f"echo {HOST} slots=1 > /run/own/hosts")
        self.plant(HOST, "/tmp/open/.deepspeed_env", "MINE=evil\n", mode=0o644)
        for folder, value in (("/tmp/open", ""), ("/run/own/ours", "yes")):
            with self.subTest(folder=folder):
                done = self.bed.exec(HOST, ["/run/own/deepspeed", "--hostfile", "/run/own/hosts", "--force_multi", "--no_local_rank",
                                            "--no_python", "sh", "-c", "echo mine: $MINE"], cwd=folder)
                self.assertEqual((done.returncode, done.stdout.strip()), (0, f"mine: {value}".strip()), done)
                said = [] if value else [rf"^warning: \.deepspeed_env is not used, as /tmp/open belongs to user {TESTER}$"]
                assert_says(self, done, *said, never="is not used")

    def assert_refused(self, done, status, *must):
        self.assert_not_pwned()
        self.assert_status(done, status)
        self.assertEqual(done.stdout, "")
        assert_says(self, done, *must)

    def test_a_health_check(self):
        for command in ("/tmp/open/lookover --all", "lookover; true", "/tmp/open/\N{LATIN SMALL LETTER O WITH DIAERESIS}",
                        "/tmp/open/not-there-yet"):
            with self.subTest(command=command):
                done = self.bed.sml_run(HOST, "-H", f"{HOST},algo-2", "-x", "PATH=/tmp/open:/usr/bin:/bin", "--health-check",
                                        command, "echo", "ran")
                self.assert_refused(done, 125, f"{HOST}: not well: --health-check is not run, as /tmp/open belongs to user {TESTER}")

    def test_what_else_a_health_check_runs(self):
        """Only what it begins with is judged in advance; the shell finds nothing in a folder that others can write."""
        for command in ('"lookover"', "true && lookover", "X=1 lookover"):
            with self.subTest(command=command):
                done = self.bed.sml_run(HOST, "-H", f"{HOST},algo-2", "-x", "PATH=/tmp/open:/usr/bin:/bin", "--health-check",
                                        command, "echo", "ran")
                self.assert_refused(done, 125, rf"{HOST}: not well: --health-check exited with status 127, and printed: .*lookover: .*not "
                                               rf"found; PATH is used without a folder, as /tmp/open belongs to user {TESTER}")

    def test_a_discovery_script(self):
        for command, why in (("/tmp/open/lookover", f"is not run: /tmp/open belongs to user {TESTER}"),
                             ("/tmp/open/not-there-yet", f"is not run: /tmp/open belongs to user {TESTER}"),
                             ("true; lookover", rf"exited with status 127: .*lookover: .*not found; PATH is used without a folder, as /tmp/open "
                                            rf"belongs to user {TESTER}")):
            with self.subTest(command=command):
                done = self.bed.sml_run(HOST, "--host-discovery-script", command, "--min-np", "1", "--max-restarts", "1",
                                        "echo", "ran", env={"PATH": "/tmp/open:/usr/bin:/bin"})
                self.assert_refused(done, 2, f"--host-discovery-script: {why}")

    def test_tools_that_count_devices(self):
        """One that is passed over is as good as none, and a line says so."""
        self.plant(HOST, "/tmp/open/nvidia-smi", EVIL_PROGRAM + "echo GPU 0: H100\n")
        done = self.bed.sml_run(HOST, "--nproc-per-node", "auto", "sh", "-c", "true", env={"PATH": "/tmp/open:/usr/bin:/bin"})
        self.assert_refused(done, 0, rf"/tmp/open/nvidia-smi is not run, as /tmp/open belongs to user {TESTER}")

    def test_a_command_in_the_place_of_ssh(self):
        """The one behind it in PATH is run, and a line says so."""
        self.plant(HOST, "/tmp/open/ssh", EVIL_PROGRAM)
        done = self.bed.sml_run(HOST, "-H", "algo-2", "--ssh-command", "ssh", "--no-tag", "echo", "ran",
                                env={"PATH": "/tmp/open:/usr/bin:/bin"})
        self.assert_not_pwned()
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "ran\n")
        assert_says(self, done, rf"/tmp/open/ssh is not run, as /tmp/open belongs to user {TESTER}")

    def test_a_command_or_a_configuration_for_ssh_that_a_path_names(self):
        self.plant(HOST, "/tmp/open/config", f"Host *\n ProxyCommand touch {PWNED}\n", mode=0o644)
        for option, file, why in (("--ssh-command", "lookover", "is not run to reach hosts"), ("--ssh-config", "config", "is not obeyed")):
            with self.subTest(option=option):
                done = self.bed.sml_run(HOST, option, f"/tmp/open/{file}", "-H", "algo-2", "echo", "ran")
                self.assert_refused(done, 2, rf"/tmp/open/{file} {why}, as /tmp/open belongs to user {TESTER}",
                                    "hint: name one that is yours or root's")

    def test_the_programs_of_a_login(self):
        """getent and the ssh of ProxyJump are found behind these in PATH, and a line names each."""
        for name in ("getent", "ssh"):
            self.plant(HOST, f"/tmp/open/{name}", EVIL_PROGRAM)
        done = self.bed.sml_run(HOST, "-H", "algo-2", "--no-tag", "echo", "ran", env={"PATH": "/tmp/open:/usr/bin:/bin"})
        self.assert_not_pwned()
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "ran\n")
        for name in ("getent", "ssh"):
            assert_says(self, done, rf"/tmp/open/{name} is not run, as /tmp/open belongs to user {TESTER}")

    def test_a_program_that_is_notified(self):
        """The one behind it in PATH is run, and a line says so; what that starts by name is not theirs, either."""
        for name in ("hook", "helps"):
            self.plant(HOST, f"/tmp/open/{name}", EVIL_PROGRAM)
        self.bed.put(HOST, "/run/own/hook", "#!/bin/sh\nhelps || cat > /run/own/notice\n", mode=0o755)
        done = self.bed.sml_run(HOST, "--notify", "hook", "--notify-on", "end", "-np", "1", "-H", HOST, "true",
                                env={"PATH": "/tmp/open:/run/own:/usr/bin:/bin"})
        self.assert_refused(done, 0, rf"^warning: --notify hook: /tmp/open/hook is not run, as /tmp/open belongs to user {TESTER}")
        self.assertIn('"end"', sh(self.bed, HOST, "cat /run/own/notice"))

    def test_an_agent(self):
        done = self.bed.sml_run(HOST, "--agent-path", "/tmp/open/lookover", "-H", "algo-2", "echo", "ran")
        self.assert_refused(done, 2, f"--agent-path /tmp/open/lookover: is not sent to hosts, as /tmp/open belongs to user {TESTER}")

    def test_a_file_of_the_lines_of_an_array(self):
        self.plant(HOST, "/tmp/open/lines", f"id > {PWNED}\n", mode=0o644)
        done = self.bed.sml_run(HOST, "--array-file", "/tmp/open/lines", "--array-vars", "line", "--array-index", "0", "sh", "-c", "{line}")
        self.assert_refused(done, 2, f"--array-file /tmp/open/lines: is not obeyed, as /tmp/open belongs to user {TESTER}")

    @gate
    def test_a_configuration(self):
        self.plant(HOST, "/tmp/open/job.conf", "np = 1\n", mode=0o644)
        done = self.bed.sml_run(HOST, "--config", "/tmp/open/job.conf", "echo", "ran")
        self.assert_refused(done, 2, f"--config /tmp/open/job.conf: is not obeyed, as /tmp/open belongs to user {TESTER}")
