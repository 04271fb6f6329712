"""What another user of a job's host can not do: a log-in of their own, no privileges."""
import json
import os
import pathlib
import re
import shlex
import subprocess

from harness import PYTHON, SML_RUN, HostsCase, TestCase, Testbed, gate, run, sml_run, sml_run_popen, wait_until, watchdog
from jobs import CACHE, assert_says, cached_agents, own_lines, edit_file, forget_agents, keep_file, sh
from on_hosts import OnHosts

HOST = "algo-2"

# Two names change places, for as long as the folder lets them: what was looked at is not what a path names next.
FLIP = """
import ctypes, sys
AT_FDCWD, RENAME_EXCHANGE = -100, 2
rename, one, other = ctypes.CDLL(None).renameat2, sys.argv[1].encode(), sys.argv[2].encode()
while True: rename(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE)
"""


class AgentsCache(HostsCase):
    """A folder in which root's agent is kept, open to all by mistake, and what `tester` does there."""

    def setUp(self):
        forget_agents(self.bed)
        self.job()
        self.agent = f"{CACHE}/{next(iter(cached_agents(self.bed, HOST)))}"
        self.addCleanup(sh, self.bed, HOST, "rm -f /run/hijacked /run/evil")
        self.bed.put(HOST, "/run/evil", "#!/bin/sh\ntouch /run/hijacked\n", mode=0o755)
        sh(self.bed, HOST, 'chmod 755 /home/root /home/root/.cache; chmod 777 "$1"', CACHE)

    def job(self):
        done = self.bed.sml_run("algo-1", "-H", HOST, "echo", "ran")
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "ran\n")

    def assert_not_hijacked(self):
        self.assertEqual(sh(self.bed, HOST, "ls /run/hijacked 2>/dev/null || true"), "")

    def start_script(self):
        """What a login shell is given, from a command that stands in for ssh."""
        self.addCleanup(sh, self.bed, "algo-1", "rm -f /run/save /run/script")
        self.bed.put("algo-1", "/run/save", '#!/bin/sh\nfor last; do :; done; printf %s "$last" > /run/script; exit 1\n',
                     mode=0o755)
        self.bed.sml_run("algo-1", "--ssh-command", "/run/save", "-H", HOST, "true")
        return self.bed.path("algo-1", "/run/script").read_text()

    def test_the_agent_changes_places_while_it_is_looked_at(self):
        script = self.bed.put(HOST, "/run/start", self.start_script())
        self.addCleanup(script.unlink)
        other = f"{CACHE}/other"
        sh(self.bed, HOST, 'cp /run/evil "$1"; chmod 755 "$1"; chown tester "$1"', other)
        with self.bed.popen(HOST, ["/usr/bin/python3", "-c", FLIP, self.agent, other], user="tester"):
            before = sh(self.bed, HOST, 'stat -c %i "$1"', self.agent)
            wait_until(lambda: sh(self.bed, HOST, 'stat -c %i "$1"', self.agent) != before)
            sh(self.bed, HOST, 'for i in $(seq 50); do chmod 777 "$1"; sh /run/start < /dev/null > /dev/null 2>&1; done; true',
               CACHE)
        self.assert_not_hijacked()

    @gate
    def test_an_agent_that_others_can_write_is_written_anew(self):
        sh(self.bed, HOST, 'chmod 777 "$1"', self.agent)
        sh(self.bed, HOST, 'cat /run/evil > "$1"', self.agent, user="tester")
        self.job()
        self.assert_not_hijacked()
        self.assertEqual(sh(self.bed, HOST, "stat -c %a,%U $1 $2", CACHE, self.agent).split(), ["700,root"] * 2)

    def test_a_whole_agent_is_not_run_where_another_user_could_have_exchanged_it(self):
        self.addCleanup(forget_agents, self.bed)
        for change in ('chown tester "$2"', 'chmod 777 "$2"', 'chmod 777 "$1"'):
            with self.subTest(change=change):
                sh(self.bed, HOST, f'chmod 700 "$1"; {change}', CACHE, self.agent)
                self.job()
                self.assertEqual(sh(self.bed, HOST, "stat -c %a,%U $1 $2", CACHE, self.agent).split(), ["700,root"] * 2)
        sh(self.bed, HOST, 'chown tester "$1"', CACHE)
        self.addCleanup(self.bed.put(HOST, "/run/start", self.start_script()).unlink)
        said = sh(self.bed, HOST, "sh /run/start < /dev/null 2>&1 || true")
        self.assertIn(" NEED ", said)
        self.assertNotIn(CACHE, said)

    def test_links_in_the_place_of_an_agent_that_is_being_written(self):
        """Its name until it is whole has the number of a process in it."""
        self.addCleanup(forget_agents, self.bed)
        self.addCleanup(sh, self.bed, HOST, "rm -f /run/precious")
        sh(self.bed, HOST, 'echo precious > /run/precious; rm "$1"', self.agent)
        plant = "import os, sys\nfor n in range(1, 20000): os.symlink('/run/precious', f'{sys.argv[1]}/.new-{n}')"
        self.assert_status(self.bed.exec(HOST, [PYTHON, "-c", plant, CACHE], user="tester"), 0)
        self.job()
        self.assertEqual(sh(self.bed, HOST, "cat /run/precious"), "precious\n")

    def test_a_link_to_another_program_of_root(self):
        sh(self.bed, HOST, 'mv "$1" "$1.away"; ln -s /run/evil "$1"', self.agent, user="tester")
        self.job()
        self.assert_not_hijacked()


SHOW_STORES = "echo $MASTER_ADDR $MASTER_PORT $HOROVOD_GLOO_RENDEZVOUS_PORT; read line"

# ADDRESS PORT STEP: talks to a store as the frameworks do, and prints what it hears. "leave" and "reset" hear nothing.
CALL = r"""
import socket, struct, sys
address, port, step = sys.argv[1:]
text = lambda t: struct.pack("Q", len(t)) + t
hello = b"\0" + struct.pack("I", 0x3C85F7CE)
write = b"\1" + text(b"k") + text(b"evil")
says = {"torch": hello + write + b"\3" + text(b"k"), "check": hello + b"\5" + struct.pack("Q", 1) + text(b"k"),
        "horovod": b"PUT /global/k HTTP/1.1\r\nContent-Length: 4\r\n\r\nevil"}
try:
    s = socket.create_connection((address, int(port)), 0.7 if step == "unanswered" else None)
    if step == "reset":
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.sendall(says.get(step, hello + write))
    if step in says:
        print(s.recv(15))
except OSError as e:
    print(type(e).__name__)
"""
TURNED_AWAY = ("b''\n", "ConnectionResetError\n", "BrokenPipeError\n")
SERVED = {"torch": r"b'\x04\x00\x00\x00\x00\x00\x00\x00evil'" + "\n", "horovod": "b'HTTP/1.1 200 OK'\n"}


def call(address, port, step, user="root"):
    return subprocess.run([PYTHON, "-c", CALL, address, port, step], user=user, stdout=subprocess.PIPE, text=True,
                          timeout=watchdog(), check=True).stdout


class Stores(TestCase):
    """The stores in which the frameworks meet are for the job's user: on one host."""

    def job(self):
        job = self.enterContext(sml_run_popen("--torch-store", "-np", "2", "--stdin", "all", "sh", "-c", SHOW_STORES, stdin=-1))
        return job, *re.search(r"(127\.0\.0\.1) (\d+) (\d+)", job.read_until("\n").decode()).groups()

    @gate
    def test_keys_are_neither_read_nor_written(self):
        job, address, *ports = self.job()
        for step, port in zip(("torch", "horovod"), ports):
            for at in (address, "::1", *subprocess.getoutput("hostname -I").split()[:1]):
                with self.subTest(step=step, at=at):
                    self.assertIn(call(at, port, step, "nobody"), TURNED_AWAY)
                    self.assertEqual(call(at, port, step), SERVED[step])
        done = job.finish(input="\n")
        self.assert_status(done, 0)
        assert_says(self, done, r"torch's store refused a connection from \S+: it is another user's than the job$")

    @gate
    def test_nothing_is_taken_from_who_is_gone_before_being_looked_at(self):
        job, address, torch, _ = self.job()
        for step in ("leave", "reset") * 3:
            call(address, torch, step, "nobody")
        self.assertEqual(call(address, torch, "check"), r"b'\x01'" + "\n", "a key of another user's is there")
        self.assert_status(job.finish(input="\n"), 0)

    def test_a_worker_that_becomes_another_user_is_served(self):
        caller = ["setpriv", "--reuid=65534", "--clear-groups", PYTHON, "-c", CALL]
        with sml_run_popen("-np", "1", "-x", "TORCHELASTIC_USE_AGENT_STORE=True", "sh", "-c",
                           '"$@" $MASTER_ADDR $MASTER_PORT torch', "sh", *caller) as job:
            self.assertEqual(job.finish().stdout, SERVED["torch"])


class StoresOfHosts(TestCase):
    """The same over the network: the agent on the caller's host tells whose the connection is."""

    @classmethod
    def setUpClass(cls):
        cls.bed = Testbed.shared(2)

    def job(self, *hosts, slots=1):
        argv = ["--torch-store", "-H", self.bed.hosts(slots, hosts), "--stdin", "all", "sh", "-c", SHOW_STORES]
        job = self.enterContext(self.bed.sml_run_popen("algo-1", *argv, stdin=-1))
        return job, *re.search(r"(\S+) (\d+) (\d+)$", job.read_until("\n").decode().strip()).groups()

    def call(self, host, *where, user="root"):
        return self.bed.exec(host, [PYTHON, "-c", CALL, *where], user=user).stdout

    @gate
    def test_keys_are_neither_read_nor_written(self):
        job, address, *ports = self.job("algo-1", "algo-2")
        for step, port in zip(("torch", "horovod"), ports):
            for host in ("algo-1", "algo-2"):
                with self.subTest(step=step, host=host):
                    self.assertIn(self.call(host, address, port, step, user="tester"), TURNED_AWAY)
                    self.assertEqual(self.call(host, address, port, step), SERVED[step])
        done = job.finish(input="\n")
        self.assert_status(done, 0)

    @gate
    def test_a_job_of_one_host_is_not_reached_from_another(self):
        job, _, *ports = self.job("algo-1", slots=2)  # a lone worker opens a store of its own
        for port in ports:
            self.assertEqual(self.call("algo-2", self.bed.address("algo-1"), port, "unanswered"), "TimeoutError\n")
        self.assert_status(job.finish(input="\n"), 0)


class Records(HostsCase):
    """Links and files that `tester` has put in the way of what root's job writes, in a folder that all can write."""

    OPEN, PRECIOUS, TARGET = "/run/open", "/run/precious", "/run/target"

    def setUp(self):
        for host in ("algo-1", HOST):
            sh(self.bed, host, "mkdir -m 777 $1; mkdir $3; echo precious > $2", self.OPEN, self.PRECIOUS, self.TARGET)
            self.addCleanup(sh, self.bed, host, "rm -r $1 $2 $3", self.OPEN, self.PRECIOUS, self.TARGET)

    def plant(self, host, script):
        sh(self.bed, host, f"cd {self.OPEN}; {script}", user="tester")

    def job(self, *words):
        return self.bed.sml_run("algo-1", "-H", f"algo-1,{HOST}", *words, "echo", "ran")

    def assert_nothing_written(self):
        for host in ("algo-1", HOST):
            self.assertEqual(sh(self.bed, host, "cat $1; ls $2", self.PRECIOUS, self.TARGET), "precious\n")

    @gate
    def test_links_in_the_place_of_records(self):
        self.plant("algo-1", f"ln -s {self.PRECIOUS} r.json")
        for option in ("--report", "--events", "--timeline"):
            with self.subTest(option=option):
                done = self.job(option, f"{self.OPEN}/r.json")
                self.assert_status(done, 2)
                self.assertEqual(done.stdout, "")
                self.assertIn(f"{option}: cannot open {self.OPEN}/r.json: it is a link, which is not followed", done.stderr)
        self.assert_nothing_written()

    def assert_refused(self, option, name, why):
        done = self.job(option, f"{self.OPEN}/{name}")
        self.assert_status(done, 2)
        self.assertEqual(done.stdout, "")
        self.assertIn(f"{option}: cannot open {self.OPEN}/{name}: {why}", done.stderr)

    @gate
    def test_a_fifo_of_another_user(self):
        """Which nobody reads, or its owner; before anything starts."""
        self.plant("algo-1", "mkfifo -m 666 r.json")
        for reads, why in (("true", "no such device or address"), ("exec 3<>r.json; echo up; read line",
                                                                    "it belongs to another user, and others can write in its folder")):
            with self.bed.popen("algo-1", ["sh", "-c", f"cd {self.OPEN}; {reads}"], user="tester", stdin=-1) as reader:
                if reads != "true":
                    reader.read_until("up\n")
                for option in ("--report", "--events", "--timeline"):
                    with self.subTest(reads=reads, option=option):
                        self.assert_refused(option, "r.json", why)
                reader.finish(input="\n")

    def test_where_a_group_can_write_it_is_the_same(self):
        sh(self.bed, "algo-1", f"mkfifo -m 666 {self.OPEN}/fifo; ln -s {self.TARGET} {self.OPEN}/way; "
                               f"chown -h tester {self.OPEN}/fifo {self.OPEN}/way; chgrp tester {self.OPEN}; chmod 775 {self.OPEN}")
        with self.bed.popen("algo-1", ["sh", "-c", f"exec 3<>{self.OPEN}/fifo; echo up; read line"], user="tester", stdin=-1) as reader:
            reader.read_until("up\n")
            for name, why in (("fifo", "it belongs to another user, and others can write in its folder"),
                              ("way/r.json", "way is a link of another user, where others can write")):
                for option in ("--report", "--events"):
                    with self.subTest(name=name, option=option):
                        self.assert_refused(option, name, why)
            reader.finish(input="\n")
        self.assert_nothing_written()

    def test_a_file_that_appears_while_the_job_runs_changes_nothing(self):
        """The report is in the file that was there at the start."""
        for made in ("mkfifo r.json", "echo theirs > r.json"):
            with self.subTest(made=made):
                swap = f"rm {self.OPEN}/r.json; su tester -c 'cd {self.OPEN}; {made}'; echo ran"
                done = self.bed.sml_run("algo-1", "-np", "1", "--report", f"{self.OPEN}/r.json", "sh", "-c", swap)
                self.assert_status(done, 0)
                self.assertEqual(done.stdout, "ran\n")
                self.assertNotIn("--report", done.stderr)
                there = sh(self.bed, "algo-1", f"cd {self.OPEN}; test -p r.json && echo a FIFO || cat r.json; rm r.json")
                self.assertIn(there, ("a FIFO\n", "theirs\n"))

    def test_a_file_of_another_user_is_not_replaced(self):
        self.plant("algo-1", "echo theirs > r.json")
        for option in ("--trace", "--metrics-file"):
            with self.subTest(option=option):
                done = self.job(option, f"{self.OPEN}/r.json")
                self.assert_status(done, 2)
                self.assertEqual(done.stdout, "")
                self.assertIn(f"{option}: {self.OPEN}/r.json belongs to another user, and is not replaced", done.stderr)
        self.assertEqual(sh(self.bed, "algo-1", f"cat {self.OPEN}/r.json"), "theirs\n")

    def test_a_second_name_of_another_file(self):
        sh(self.bed, "algo-1", f"ln {self.PRECIOUS} {self.OPEN}/r.json")
        done = self.job("--events", f"{self.OPEN}/r.json")
        self.assert_status(done, 2)
        self.assertIn("it is a file of another name too", done.stderr)
        self.assert_nothing_written()

    @gate
    def test_links_on_the_way_to_logs(self):
        for host in ("algo-1", HOST):
            self.plant(host, f"ln -s {self.TARGET} logs")
        for options in ([], ["--log-on-host"]):
            with self.subTest(options=options):
                done = self.job("--log-dir", f"{self.OPEN}/logs", *options)
                self.assert_status(done, 0)
                self.assertIn("logs is a link of another user, where others can write", done.stderr)
        self.assert_nothing_written()

    def test_ones_own_links_and_open_files_work(self):
        sh(self.bed, "algo-1", f"ln -s {self.TARGET} {self.OPEN}/mine")
        done = self.job("--report", f"{self.OPEN}/mine/r.json", "--events", "/dev/stdout",
                        "--log-dir", f"{self.OPEN}/mine/logs")
        self.assert_status(done, 0)
        self.assertIn('"event":', done.stdout)
        self.assertIn("r.json", sh(self.bed, "algo-1", f"ls {self.TARGET}"))
        self.assertNotEqual(sh(self.bed, "algo-1", f"ls {self.TARGET}/logs"), "")


class KeptFiles(HostsCase):
    """Files that outlive a job, in places where `tester` was first: a secret, known hosts, sources that are fetched."""

    OPEN, TARGET = "/run/open", "/run/target"

    def setUp(self):
        sh(self.bed, "algo-1", "mkdir -m 1777 $1; mkdir -m 777 $2", self.OPEN, self.TARGET)
        self.addCleanup(sh, self.bed, "algo-1", "rm -rf $1 $2", self.OPEN, self.TARGET)

    def plant(self, script):
        sh(self.bed, "algo-1", f"cd {self.OPEN}; {script}", user="tester")

    @gate
    def test_a_secret_is_not_made_where_another_user_leads(self):
        self.plant(f"ln -s {self.TARGET} config")
        done = self.bed.sml_run("algo-1", "--make-secret", env={"XDG_CONFIG_HOME": f"{self.OPEN}/config"})
        self.assert_status(done, 2)
        self.assertIn("config is a link of another user, where others can write", done.stderr)
        self.assertEqual(sh(self.bed, "algo-1", "ls $1", self.TARGET), "")
        sh(self.bed, "algo-1", f"ln -s {self.TARGET} {self.OPEN}/mine")
        done = self.bed.sml_run("algo-1", "--make-secret", env={"XDG_CONFIG_HOME": f"{self.OPEN}/mine"})
        self.assertEqual((done.returncode, done.stdout), (0, f"{self.OPEN}/mine/sml-run/secret\n"))
        self.assertEqual(sh(self.bed, "algo-1", "stat -c %a,%U $1/sml-run $1/sml-run/secret", self.TARGET).split(),
                         ["700,root", "600,root"])

    def accept(self, known):
        config = f"{self.OPEN}/ssh_config"
        self.bed.put("algo-1", config, f"Host *\n UserKnownHostsFile {known}\n", mode=0o600)
        return self.bed.sml_run("algo-1", "--ssh-config", config, "--accept-new-host-keys", "-H", HOST, "true")

    @gate
    def test_keys_of_hosts_are_not_added_to_files_that_another_user_chooses(self):
        """Which does not stop the log-in, as with ssh."""
        sh(self.bed, "algo-1", "echo '# precious' > $1/file", self.TARGET)
        for trap, known in ((f"ln -s {self.TARGET}/file known", "known"), (f"ln -s {self.TARGET} known", "known/file"),
                            ("echo '# precious' > known; chmod 666 known", "known")):
            with self.subTest(trap=trap):
                self.plant(f"rm -rf known; {trap}")
                self.assert_status(self.accept(f"{self.OPEN}/{known}"), 0)
                for file in (f"{self.TARGET}/file", f"{self.OPEN}/{known}"):
                    self.assertEqual(sh(self.bed, "algo-1", "cat $1", file), "# precious\n")

    def test_ones_own_link_to_known_hosts_counts(self):
        sh(self.bed, "algo-1", "touch $1/file; ln -s $1/file $2/mine", self.TARGET, self.OPEN)
        for known in (f"{self.OPEN}/mine", f"{self.TARGET}/new/deep/file"):
            self.assert_status(self.accept(known), 0)
            self.assertRegex(sh(self.bed, "algo-1", "cat $1", known), rf"^{HOST} ssh-")
        self.assertEqual(sh(self.bed, "algo-1", "stat -c %a $1/new $1/new/deep/file", self.TARGET).split(), ["700", "600"])

    def fetch(self):
        """A training job whose program is in an archive; its contract lies where the platform puts it."""
        return self.bed.sml_run("algo-1", "train")

    def contract(self):
        ml = "/opt/ml"
        self.addCleanup(sh, self.bed, "algo-1", "rm -rf /opt/ml")
        sh(self.bed, "algo-1", f"mkdir -p {ml}/input/config {ml}/model; cd {self.TARGET}; echo 'print(\"ran\")' > train.py; "
           "tar czf s.tar.gz train.py; rm train.py")
        self.bed.put("algo-1", f"{ml}/input/config/resourceconfig.json", json.dumps({"current_host": "algo-1", "hosts": ["algo-1"]}))
        self.bed.put("algo-1", f"{ml}/input/config/hyperparameters.json", json.dumps(
            {"sagemaker_program": "train.py", "sagemaker_submit_directory": json.dumps(f"{self.TARGET}/s.tar.gz")}))
        return ml

    @gate
    def test_sources_are_not_put_where_another_user_can_change_them(self):
        ml = self.contract()
        sh(self.bed, "algo-1", f"chmod 777 {ml}")
        for trap, said in (("mkdir code", "code belongs to user 7700, who could change the program"),
                           (f"ln -s {self.TARGET}/other code", "code is a link of another user, where others can write")):
            with self.subTest(trap=trap):
                sh(self.bed, "algo-1", f"mkdir -p {self.TARGET}/other; rm -rf {ml}/code")
                sh(self.bed, "algo-1", f"cd {ml}; {trap}", user="tester")
                done = self.fetch()
                self.assert_status(done, 2)
                self.assertIn(said, done.stderr)
                self.assertEqual(done.stdout, "")
        sh(self.bed, "algo-1", f"rm -rf {ml}/code; mkdir -m 777 {ml}/code")
        done = self.fetch()
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "ran\n")
        self.assertEqual(sh(self.bed, "algo-1", f"stat -c %a {ml}/code"), "775\n")
        sh(self.bed, "algo-1", f"rm -rf {ml}/code; mkdir -m 775 {ml}/code; chgrp tester {ml}/code")
        self.assert_status(self.fetch(), 0)
        self.assertEqual(sh(self.bed, "algo-1", f"stat -c %a {ml}/code"), "755\n")


class EnvironmentFiles(TestCase):
    @gate
    def test_one_that_others_can_write_is_refused_and_one_that_they_can_read_warned_of(self):
        file = pathlib.Path(self.temporary_directory()) / "job.env"
        file.write_text("LEVEL=3\nHF_TOKEN=t\n")
        os.chown(file, 0, 100)
        for mode, status, said in ((0o666, 2, "is not obeyed, as /.*/job.env can be written by every user of this machine"),
                                   (0o664, 2, "is not obeyed, as /.*/job.env can be written by others of its group 100"),
                                   (0o644, 0, "every user of this machine can read HF_TOKEN in it"), (0o600, 0, "")):
            with self.subTest(mode=oct(mode)):
                file.chmod(mode)
                done = sml_run("--env-file", str(file), "-q", "true")
                self.assert_status(done, status)
                self.assertRegex(done.stderr, said or r"\A\Z")

    def assert_refused(self, file, why):
        done = sml_run("--env-file", file, "sh", "-c", "echo $EVIL")
        self.assert_status(done, 2)
        self.assertEqual(done.stdout, "")
        self.assertIn(f"--env-file {file}: is not obeyed, as {why}", done.stderr)
        self.assertIn("take it from a place of your own", done.stderr)

    @gate
    def test_what_others_own_or_can_write_is_refused(self):
        folder = self.temporary_directory()
        for make, mode, owner, why in ((os.mkfifo, 0o666, 0, "can be written by every user of this machine"),
                                       (os.mkfifo, 0o600, 65534, "belongs to user 65534"),
                                       (os.mknod, 0o600, 65534, "belongs to user 65534")):
            with self.subTest(make=make, owner=owner):
                file = folder / f"env-{mode:o}-{owner}-{make.__name__}"
                make(file)
                os.chown(file, owner, owner)
                file.chmod(mode)
                self.assert_refused(file, f"{file} {why}")

    def test_a_folder_in_which_others_can_write_is_refused(self):
        folder = self.temporary_directory() / "open"
        folder.mkdir()
        (folder / "job.env").write_text("EVIL=3\n")
        os.chown(folder, 0, 100)
        for mode, who in ((0o777, "every user of this machine"), (0o775, "others of its group 100")):
            with self.subTest(mode=oct(mode)):
                folder.chmod(mode)
                self.assert_refused(folder / "job.env", f"{folder} can be written by {who}")

    def test_pipes_of_a_shell_are_taken_whoever_has_made_them(self):
        done = run(["bash", "-c", 'printf "LEVEL=3\\n" | "$0" --env-file /dev/stdin --env-file <(echo A=1) sh -c \'echo $LEVEL $A\'', SML_RUN])
        self.assertEqual((done.returncode, done.stdout), (0, "3 1\n"), done)


SECRET = "s3cr3t-of-mine"


class Secrets(OnHosts):
    def seen_by_others(self, host, text):
        """Commands of processes of any user that hold the text, as an unprivileged user sees them."""
        script = ("for p in /proc/[0-9]*; do if grep -aqs -f /run/pattern $p/cmdline; then "
                  "tr '\\0' ' ' < $p/cmdline | head -c 300; echo; fi; done")
        self.put(host, "/run/pattern", text + "\n")
        return sh(self.bed, host, script, user="tester").splitlines()

    @gate
    def test_a_value_on_the_command_line_is_seen_nowhere_else_and_warned_of(self):
        with self.running("-H", "algo-1,algo-2", "-x", f"API_TOKEN={SECRET}"):
            seen = self.seen_by_others("algo-1", SECRET)
            self.assertTrue(seen)  # our own arguments, and whatever started us with them
            self.assertEqual([row for row in seen if "sml-run" not in row.split("API_TOKEN")[0]], [])
            self.assertEqual(self.seen_by_others("algo-2", SECRET), [])
        assert_says(self, self.done, r"^warning: -x API_TOKEN.*list of processes.*-x API_TOKEN$")
        self.assertNotIn(SECRET, self.done.stderr)

    def test_a_name_alone_shows_nothing_anywhere(self):
        with self.running("-H", "algo-1,algo-2", "-x", "API_TOKEN", env={"API_TOKEN": SECRET}):
            for host in ("algo-1", "algo-2"):
                self.assertEqual([r for r in self.seen_by_others(host, SECRET) if "API_TOKEN=" not in r], [])
        self.assertEqual([ln for ln in own_lines(self.done) if "API_TOKEN" in ln], [])

    @gate
    def test_nothing_that_we_say_or_write_holds_a_value(self):
        names = ["API_TOKEN", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "PLAIN"]
        env = {name: SECRET for name in names}
        self.put("algo-1", "/run/job.env", f"FILE_KEY={SECRET}\n", mode=0o600)
        options = [w for n in names for w in ("-x", n)] + ["--env-file", "/run/job.env", "-x", f"SET_PASS={SECRET}"]
        said = []
        for format_words in (["--dry-run"], ["--dry-run", "--format", "json"]):
            done = self.job(*options, *format_words, "true", env=env)
            self.assert_status(done, 0)
            self.assertIn("API_TOKEN", done.stdout)
            said += [done.stdout, done.stderr]
        self.addCleanup(sh, self.bed, "algo-1", "rm -f /run/report.json")
        done = self.job("-v", "--report", "/run/report.json", *options, "sh", "-c", "echo no >&2; exit 3", env=env)
        self.assert_status(done, 3)
        said += [done.stdout, done.stderr, sh(self.bed, "algo-1", "cat /run/report.json")]
        done = self.bed.sml_run("algo-1", "-v", "-H", "algo-1,nowhere", *options, "true", env=env)
        self.assert_status(done, 125)
        said.append(done.stderr)
        for text in said:
            self.assertNotIn(SECRET, text)

    @gate
    def test_no_file_on_any_host_holds_a_value(self):
        find = "grep -rlasF --exclude=job.env -f /run/pattern /tmp /var/tmp /dev/shm /home/root /home/tester /run 2>/dev/null; true"
        with self.running("-H", "algo-1,algo-2", "-x", "API_TOKEN", env={"API_TOKEN": SECRET}):
            for host in ("algo-1", "algo-2"):
                self.put(host, "/run/pattern", SECRET + "\n")
                self.assertEqual([f for f in sh(self.bed, host, find).splitlines() if f != "/run/pattern"], [])

    @gate
    def test_an_environment_file_that_is_wrong_is_not_quoted(self):
        self.put("algo-1", "/run/job.env", f"API_TOKEN {SECRET}\nOTHER='{SECRET}\n")
        done = self.job("--env-file", "/run/job.env", "true")
        self.assert_status(done, 2)
        self.assertNotIn(SECRET, done.stderr)


class Files(OnHosts):
    @gate
    def test_a_cache_that_others_can_write_is_closed(self):
        forget_agents(self.bed)
        sh(self.bed, "algo-2", f"mkdir -p {CACHE}; chmod 777 {CACHE}")
        self.assert_status(self.job("true"), 0)
        self.assertEqual(sh(self.bed, "algo-2", f"stat -c %a {CACHE}"), "700\n")

    @gate
    def test_links_in_the_way_are_not_followed(self):
        """Of anybody, at every place that we use on a host whose home takes no agent."""
        forget_agents(self.bed)
        for host in ("algo-1", "algo-2"):
            script = ("echo precious > /run/precious; chmod 666 /run/precious; for d in /tmp /var/tmp /dev/shm; do for n in "
                      "sml-run sml-run-agent sml-run-XXXXXX .sml-run; do ln -s /run/precious $d/$n; done; done")
            sh(self.bed, host, script)
            self.addCleanup(sh, self.bed, host, "rm /run/precious; find /tmp /var/tmp /dev/shm -type l -delete")
        edit_file(self, self.bed, "algo-2", "/home/root/.bashrc", lambda _: "export XDG_CACHE_HOME=/proc/nowhere\n")
        self.assert_status(self.job("true"), 0)
        for host in ("algo-1", "algo-2"):
            self.assertEqual(sh(self.bed, host, "cat /run/precious"), "precious\n")
            self.assertEqual(sh(self.bed, host, "find /tmp /var/tmp /dev/shm -name '*sml-run*' ! -type l"), "")

    def check_modes(self, mask):
        forget_agents(self.bed)
        known, report = "/home/root/.ssh/known_hosts", "/run/report.json"
        keep_file(self, self.bed, "algo-1", known).unlink()
        edit_file(self, self.bed, "algo-2", "/home/root/.bashrc", lambda _: f"umask {mask}\n")
        self.addCleanup(sh, self.bed, "algo-1", f"rm -f {report}")
        job = f"umask {mask}; exec {shlex.quote(str(SML_RUN))} --accept-new-host-keys --report {report} -H algo-1,algo-2 true"
        self.assert_status(self.bed.exec("algo-1", ["sh", "-c", job]), 0)
        self.assertEqual(sh(self.bed, "algo-1", f"stat -c %a {known} {report}").split(), ["600", "600"])
        self.assertEqual(sh(self.bed, "algo-2", f"stat -c %a {CACHE} {CACHE}/*").split(), ["700", "700"])

    @gate
    def test_what_we_make_is_ours_alone_under_an_open_umask(self):
        self.check_modes("000")

    def test_what_we_make_is_ours_alone_under_a_closed_umask(self):
        self.check_modes("077")
