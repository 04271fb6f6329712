"""What a stranger on the network can not do: whoever reaches the ports of a job, and has neither an account nor the key."""
import hmac
import re
import socket
import subprocess

from harness import PYTHON, SML_RUN, TestCase, gate, popen, wait_until
from jobs import sh
from on_hosts import OnHosts
from test_dial_in import SECRET, NoSsh

def key_of(secret):
    """HKDF as in RFC 5869, without salt."""
    extracted = hmac.digest(bytes(32), secret.encode(), "sha256")
    return hmac.digest(extracted, b"sml-run dial-in: secret\x01", "sha256").hex()


class FalseHead(NoSsh):
    """The key is known: guessed, or stolen. The host that calls still starts only what it has been asked to."""

    hosts = 2
    MARK = "/tmp/was-here"

    def tearDown(self):
        for host in ("head", *self.bed.names()):
            self.bed.exec(host, ["rm", "-rf", self.MARK, "/tmp/read"])
        super().tearDown()

    def assert_nothing_ran(self, done, said):
        self.assert_status(done, 125)
        self.assertIn("the head asks for what this host does not expect", done.stderr)
        self.assertIn(said, done.stderr)
        self.assertFalse(self.bed.path("algo-2", self.MARK).exists())

    @gate
    def test_another_program_is_not_started(self):
        """The host runs its own, in its own folder."""
        head, other = self.start(0, "--wdir", "/tmp", "touch", self.MARK), self.start(1, "--wdir", "/", "pwd")
        for job in (head, other):
            done = job.finish()
            self.assert_status(done, 0)
        self.assertFalse(self.bed.path("algo-2", self.MARK).exists())
        self.assertTrue(self.bed.path("algo-1", self.MARK).exists())

    def test_nothing_else_is_changed_either(self):
        """By a head that has the key and the same command."""
        trap = ("sh", "-c", f"[ -z \"$TRAP\" ] || touch {self.MARK}; cat > /tmp/read; [ ! -s /tmp/read ] || touch {self.MARK}")
        for words, said in ((("-x", "TRAP=1"), "another value of the variable TRAP"),
                            (("-x", "LD_PRELOAD=/tmp/trap.so"), "another value of the variable LD_PRELOAD"),
                            (("--stdin", "all"), "another standard input of rank 1"),
                            (("--log-dir", self.MARK, "--log-on-host"), "another file for the output of rank 1"),
                            (("--health-check", f"touch {self.MARK}"), f'another --health-check, "touch {self.MARK}"'),
                            (("--bind-to", "core"), "the head asks for what this host does not expect: another --bind-to")):
            with self.subTest(words):
                head = self.start(0, *words, *trap)
                self.assert_nothing_ran(self.start(1, *trap).finish(), said)
                done = head.finish()  # an honest one is told
                self.assert_status(done, 125)
                self.assertIn("host-1: its agent has gone before its work was done: the head asks for what this host does not expect", done.stderr)


class CrowdedStores(TestCase):
    """Who may connect to the stores and says nothing, or halves, keeps nobody out."""

    CLIENTS = 100  # a third of the descriptors for each store
    ASK = {"torch": (b"\0\xce\xf7\x85\x3c\x0d\1\2\3\4", b"\1\2\3\4"), "horovod": (b"GET /a/k HTTP/1.1\r\n\r\n", b"HTTP")}
    HALF = {"torch": b"\3\5", "horovod": b"GET /a"}

    @gate
    def test_the_oldest_that_has_said_nothing_gives_way(self):
        show = "echo $MASTER_PORT $HOROVOD_GLOO_RENDEZVOUS_PORT; read line"
        job = self.enterContext(popen(["sh", "-c", f'ulimit -n {3 * self.CLIENTS}; exec "$@"', "sh", SML_RUN, "--torch-store", "-np", "2",
                                       "--stdin", "all", "sh", "-c", show], stdin=-1))
        ports = re.search(r"(\d+) (\d+)$", job.read_until("\n").decode().strip()).groups()
        for kind, port in zip(self.ASK, ports):
            with self.subTest(kind=kind):
                question, answer = self.ASK[kind]
                others = []
                known = self.enterContext(socket.create_connection(("127.0.0.1", port)))
                for i in range(self.CLIENTS + 10):
                    others.append(self.enterContext(socket.create_connection(("127.0.0.1", port))))
                    if i % 2:
                        others[-1].sendall(self.HALF[kind])
                    if i == 0 and kind == "torch":
                        known.sendall(question)
                        self.assertEqual(known.recv(4), answer)
                late = self.enterContext(socket.create_connection(("127.0.0.1", port)))
                late.sendall(question)
                self.assertEqual(late.recv(4), answer)
                self.assertIn(others[0].recv(1), (b"",))
                if kind == "torch":  # and not those that have asked something
                    known.sendall(question[5:])
                    self.assertEqual(known.recv(4), answer)
        done = job.finish(input="\n")
        self.assert_status(done, 0)
        self.assertRegex(done.stderr, "torch's store closed a connection from 127.0.0.1 that had sent nothing yet: there are "
                                      "too many")


class Secrets(NoSsh):
    """Nobody learns the secret from us, and none that others know is taken."""

    hosts = 2
    CONFIG = "/tmp/config"
    FILE = f"{CONFIG}/sml-run/secret"

    def tearDown(self):
        for host in self.bed.names():
            self.bed.exec(host, ["rm", "-rf", self.CONFIG])
        super().tearDown()

    def call(self, *words, env=None, status=2):
        done = self.bed.sml_run("algo-2", *words, "--nnodes", "2", "--node-rank", "1", "--head", "algo-1",
                                "--start-timeout", "100ms", "true", env={"XDG_CONFIG_HOME": self.CONFIG, **(env or {})})
        self.assert_status(done, status)
        return done.stderr

    @gate
    def test_a_file_that_is_made_once_is_found_on_every_host(self):
        """A line of torchrun then works as it stands."""
        env = {"XDG_CONFIG_HOME": self.CONFIG}
        made = self.bed.sml_run("algo-1", "--make-secret", env=env)
        self.assertEqual((made.returncode, made.stdout), (0, f"{self.FILE}\n"))
        secret = self.bed.path("algo-1", self.FILE)
        self.assertEqual((secret.stat().st_mode & 0o777, secret.parent.stat().st_mode & 0o777), (0o600, 0o700))
        again = self.bed.sml_run("algo-1", "--make-secret", env=env)
        self.assert_status(again, 2)
        self.assertIn(f"{self.FILE} is there already", again.stderr)
        self.bed.put("algo-2", self.FILE, secret.read_bytes(), mode=0o600)
        running = []
        for place, host in enumerate(self.bed.names()):
            self.bed.exec(host, ["ln", "-sf", SML_RUN, "/run/torchrun"])
            running.append(self.enterContext(self.bed.sml_run_popen(
                host, "--nproc_per_node=1", "--nnodes=2", f"--node_rank={place}", "--master_addr=algo-1", "--no-python",
                "printenv", "RANK", binary_path="/run/torchrun", env=env)))
        done = self.ends(running, 0)
        self.assertEqual(sorted(done[0].stdout.splitlines()), ["0", "1"])

    @gate
    def test_a_file_that_others_can_read_or_change_is_not_believed(self):
        for mode, said in ((0o666, "others can write to it (mode 0666)"), (0o640, "others can read it (mode 0640)")):
            self.bed.put("algo-2", self.FILE, SECRET, mode=mode)
            self.assertIn(f"{self.FILE}: {said}", self.call())
            self.assertIn(f"--secret-file {self.FILE}: {said}", self.call("--secret-file", self.FILE))
        self.bed.exec("algo-2", ["chown", "nobody", self.FILE])
        self.assertIn("belongs to user 65534", self.call())
        self.bed.exec("algo-2", ["sh", "-c", f"cd {self.CONFIG}/sml-run; mv secret other; chown root other; chmod 600 other; ln -s other secret"])
        self.assertIn(f"{self.FILE}: is a link", self.call())
        self.assertIn("was not there after", self.call("--secret-file", self.FILE, status=125))  # as Kubernetes makes them

    def test_without_a_secret_all_ways_are_told_at_once(self):
        said = self.call(env={"TRAINING_JOB_NAME": "guess-me", "SAGEMAKER_BASE_DIR": "/none"})
        for way in ("--make-secret", "--secret-file", "SML_JOB_SECRET", "--insecure-job-key"):
            self.assertIn(way, said)
        said = self.call("--insecure-job-key", status=125)
        self.assertIn("warning: --insecure-job-key: whoever reaches port 29399 of the head and guesses", said)

    @gate
    def test_the_secret_is_in_no_environment_that_can_be_read(self):
        head = self.start(0, "true", env={"OTHER": "kept"})
        wait_until(self.listens)
        pids = [p["pid"] for p in self.bed.ps("algo-1") if p["cmd"].startswith(str(SML_RUN))]
        self.assertEqual(len(pids), 1)
        environment = self.bed.exec("algo-1", ["cat", f"/proc/{pids[0]}/environ"]).stdout
        self.assertNotIn(SECRET, environment)
        self.assertIn("OTHER=kept", environment)
        self.ends([head, self.start(1, "true")], 0)


class Doors(NoSsh):
    """The port of the head, and who stands in front of it."""

    hosts = 2
    # Keeps 400 connections open, and opens each that is closed anew at once.
    FLOOD = """
import selectors, socket, sys
selector = selectors.DefaultSelector()
def call():
    s = socket.socket(); s.setblocking(False); s.connect_ex((sys.argv[1], 29399)); selector.register(s, selectors.EVENT_READ)
for _ in range(400): call()
print("up", flush=True)
while True:
    for key, _ in selector.select():
        try: open_still = key.fileobj.recv(1)
        except OSError: open_still = b""
        if not open_still:
            selector.unregister(key.fileobj); key.fileobj.close(); call()
"""

    @gate
    def test_a_flood_keeps_no_host_out(self):
        head = self.start(0, "--start-timeout", "1h", "true")
        wait_until(self.listens)
        flood = self.enterContext(self.bed.popen("head", [PYTHON, "-c", self.FLOOD, self.bed.address("algo-1")]))
        flood.read_until("up")
        done = self.ends([head, self.start(1, "--start-timeout", "1h", "true")], 0)
        self.assertIn(f"callers from {self.bed.address('head')} have to wait", done[0].stderr)
        self.assert_status(self.bed.exec("head", ["pkill", "-KILL", "-f", "EVENT_READ"]), 0)

    # Proves the key, and then waits for what comes.
    MUTE = """
import subprocess, sys
words = ["openssl", "s_client", "-connect", sys.argv[1] + ":29399", "-psk", sys.argv[2], "-psk_identity",
         "sml-run dial-in 1", "-tls1_3", "-ciphersuites", "TLS_AES_128_GCM_SHA256", "-quiet"]
subprocess.run(words, stdin=sys.stdin)
"""

    def test_who_proves_the_key_and_says_nothing_is_let_go(self):
        head = self.start(0, "--start-timeout", "1h", "true")
        wait_until(self.listens)
        mute = self.enterContext(self.bed.popen(
            "head", [PYTHON, "-c", self.MUTE, self.bed.address("algo-1"), key_of(SECRET)], stdin=subprocess.PIPE))
        mute.finish()  # it has been hung up on: the head waits for long yet
        self.ends([head, self.start(1, "true")], 0)

    @gate
    def test_a_port_that_another_user_has_taken(self):
        taken = "import socket, time; s = socket.create_server(('', 29399)); print('up', flush=True); time.sleep(3600)"
        other = self.enterContext(self.bed.popen("algo-1", [PYTHON, "-c", taken], user="tester"))
        other.read_until("up")
        done = self.start(0, "true").finish()
        self.assert_status(done, 125)
        self.assertRegex(done.stderr, r"cannot listen on port 29399, where the other hosts call: address already in use; "
                                      r"it is held by process \d+ \(python3.*\) of user tester \(uid \d+\)")
        self.assertIn("--head ADDR:PORT", done.stderr)
        sh(self.bed, "algo-1", "pkill -KILL -u tester")


class Network(OnHosts):
    def listeners(self, host):
        rows = sh(self.bed, host, "ss -Htlnp").splitlines()
        return [row for row in rows if '"sshd"' not in row]

    @gate
    def test_no_port_is_open_while_workers_run_but_those_of_the_stores(self):
        before = {h: self.listeners(h) for h in self.bed.names()}
        for options in ([], ["--ssh-command", "ssh -o BatchMode=yes"]):
            with self.subTest(options=options), self.running("-H", "algo-1,algo-2,algo-3", *options):
                opened = {h: [row for row in self.listeners(h) if row not in before[h]] for h in self.bed.names()}
                for host, rows in opened.items():  # a shell may start programs of MPI: libpmix is ready, here alone
                    self.assertEqual([row for row in rows if "sml-run-pmix" in row and "127.0.0.1:" not in row.split()[3]], [])
                    opened[host] = [row for row in rows if "sml-run-pmix" not in row]
                stores = opened.pop("algo-1")
                self.assertEqual([row.count('"sml-run-agent"') for row in stores], [1, 1], stores)
                self.assertEqual(opened, {h: [] for h in opened})
