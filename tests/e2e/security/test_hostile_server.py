"""What a host that turns can not do before its agent runs: as a server of SSH, or by what a log-in prints there."""
import contextlib
import re

from harness import PYTHON, SML_RUN, gate, run, scaled
from jobs import assert_says, edit_file, forget_agents, heartbeat, sh, ssh_config
from on_hosts import OnHosts, SecondServer, on_terminal, peak_of


class Network(OnHosts):
    def test_the_ssh_agent_is_not_forwarded(self):
        self.addCleanup(sh, self.bed, "algo-1", "rm -rf /run/agent*")
        ssh_config(self, self.bed, "algo-1", "ForwardAgent yes\nForwardX11 yes\nForwardX11Trusted yes\n"
                                             "RemoteForward 7001 127.0.0.1:22\nLocalForward 7002 127.0.0.1:22")
        self.addCleanup(sh, self.bed, "algo-3", "rm -f /root/.Xauthority")
        script = ("eval $(ssh-agent -a /run/agent.sock) >/dev/null; ssh-add -q ~/.ssh/id_ed25519; DISPLAY=:7 \"$@\"; s=$?; "
                  "kill $SSH_AGENT_PID; exit $s")
        look = "echo agent $SSH_AUTH_SOCK.; echo display $DISPLAY.; ls -d /tmp/ssh-*; ss -Htln 'sport = 7001'; true"
        done = self.bed.exec("algo-1", ["sh", "-c", script, "sh", SML_RUN, "-H", "algo-3", "sh", "-c", look])
        self.assert_status(done, 0)
        self.assertEqual(done.stdout.splitlines(), ["agent .", "display ."])
        self.assertNotIn("forward", self.bed.sshd_log("algo-3").lower())

    @gate
    def test_a_banner_is_no_obstacle_and_is_not_obeyed(self):
        banner = self.bed.path("algo-2", "/run/banner")
        banner.write_bytes(b"\x1b[2J\x1b]0;pwned\x07 authorized users only\n" * 50)
        self.addCleanup(banner.unlink)
        with SecondServer(self, "Banner /run/banner") as options:
            done = self.bed.sml_run("algo-1", *options, "hostname")
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "algo-2\n")
        self.assertNotIn("\x1b", done.stderr)

    @gate
    def test_words_of_a_login_that_fails_are_not_obeyed(self):
        edit_file(self, self.bed, "algo-2", "/home/root/.bashrc", lambda _: "printf '\\033]0;pwned\\007closed\\n'; exit 3\n")
        status, got, _, _ = on_terminal(self.bed._exec_argv("algo-1", [SML_RUN, "-H", "algo-2", "true"], "root", None, "/"))
        self.assertEqual(status, 125)
        self.assertIn(b"\\x1b]0;pwned\\x07closed", got)
        self.assertNotIn(b"\x1b", got)

    def test_noise_without_end_is_not_listened_to(self):
        for noise in ("exec yes $(printf '%01000d' 1)", "while :; do printf %01000d 1; done", "exec yes >&2"):
            with self.subTest(noise=noise):
                edit_file(self, self.bed, "algo-2", "/home/root/.bashrc", lambda _: noise + "\n")
                done, peak = peak_of(self.bed, "-H", "algo-2", "--start-timeout", f"{scaled(4)}s", "true")
                self.assert_status(done, 125)
                assert_says(self, done, r"^algo-2: (the login prints without end|the agent did not start|"
                                        r"not ready after \S+ s \(starting the agent)")
                self.assertLess(len(done.stderr), 4000)
                self.assertLess(peak, 48)


# Offers one set of algorithms, tells what the client offers, and goes no further.
OFFER = r"""
import os, socket, struct, sys
def packet(payload):
    pad = 8 - (len(payload) + 5) % 8 + 8
    return struct.pack('>IB', len(payload) + pad + 1, pad) + payload + bytes(pad)
ciphers = sys.argv[1]
lists = ['curve25519-sha256', 'ssh-ed25519', ciphers, ciphers, 'hmac-sha2-256', 'hmac-sha2-256', 'none', 'none', '', '']
offer = b'\x14' + bytes(16) + b''.join(struct.pack('>I', len(l)) + l.encode() for l in lists) + bytes(5)
l = socket.create_server(('', 2299)); print('ready', flush=True)
c = l.accept()[0]; c.sendall(b'SSH-2.0-OpenSSH_8.0\r\n')
f = c.makefile('rb'); f.readline()
n, pad = struct.unpack('>IB', f.read(5)); body = f.read(n - 1)[17:]
for _ in range(6):
    k, = struct.unpack('>I', body[:4]); print(body[4:4 + k].decode()); body = body[4 + k:]
sys.stdout.flush(); c.sendall(packet(offer)); f.read()
"""


class WeakServers(OnHosts):
    def assert_nothing_in_common(self, done):
        self.assert_status(done, 125)
        assert_says(self, done, "^second: no algorithm in common with the host")

    def test_algorithms_that_are_broken_are_refused(self):
        supported = {w: run(["ssh", "-Q", w]).stdout.split() for w in ("cipher", "kex", "mac")}
        tried = 0
        for word, kind, names in (("Ciphers", "cipher", ["3des-cbc", "aes128-cbc", "aes256-cbc"]),
                                  ("KexAlgorithms", "kex", ["diffie-hellman-group1-sha1", "diffie-hellman-group14-sha1",
                                                            "diffie-hellman-group-exchange-sha1"]),
                                  ("MACs", "mac", ["hmac-md5", "hmac-md5-96", "umac-64@openssh.com"])):
            for name in set(names) & set(supported[kind]):
                # Ciphers that authenticate by themselves make no use of MACs.
                lines = [f"{word} {name}"] + (["Ciphers aes128-ctr"] if word == "MACs" else [])
                with self.subTest(name=name), SecondServer(self, *lines) as options:
                    self.assert_nothing_in_common(self.bed.sml_run("algo-1", *options, "true"))
                    tried += 1
        self.assertGreater(tried, 3)

    @gate
    def test_a_host_key_signed_with_sha1_is_refused(self):
        sh(self.bed, "algo-2", "ssh-keygen -q -t rsa -b 2048 -N '' -f /run/rsa_key")
        self.addCleanup(sh, self.bed, "algo-2", "rm -f /run/rsa_key*")
        public = " ".join(sh(self.bed, "algo-2", "cat /run/rsa_key.pub").split()[:2])
        edit_file(self, self.bed, "algo-1", "/home/root/.ssh/known_hosts", lambda old: old + f"rsa-host {public}\n")
        with SecondServer(self, key="/run/rsa_key", name="rsa-host") as options:  # with SHA-2 it is good
            self.assert_status(self.bed.sml_run("algo-1", *options, "true"), 0)
        with SecondServer(self, "HostKeyAlgorithms ssh-rsa", key="/run/rsa_key", name="rsa-host") as options:
            self.assert_nothing_in_common(self.bed.sml_run("algo-1", *options, "true"))

    def offer(self, ciphers):
        ssh_config(self, self.bed, "algo-1", "Host second\n HostName algo-2\n Port 2299\n HostKeyAlias algo-2\n")
        with self.bed.popen("algo-2", [PYTHON, "-c", OFFER, ciphers]) as server:
            server.read_until("ready")
            done = self.bed.sml_run("algo-1", "-H", "second", "--connect-timeout", "1h", "true")
            return done, server.finish().stdout.splitlines()

    @gate
    def test_chacha20_is_refused_of_servers_that_may_lack_strict_key_exchange(self):
        done, _ = self.offer("chacha20-poly1305@openssh.com")
        self.assert_nothing_in_common(done)

    @gate
    def test_what_is_offered(self):
        _, (kex, keys, to_server, to_client, macs, _) = self.offer("3des-cbc")
        self.assertIn("kex-strict-c-v00@openssh.com", kex.split(","))
        self.assertNotRegex(kex, "sha1(,|$)")
        self.assertNotIn("ssh-rsa", keys.split(","))
        self.assertNotIn("ssh-dss", keys)
        self.assertEqual(to_server, to_client)
        self.assertNotRegex(to_server, "cbc|arcfour|none")
        self.assertRegex(to_server.split(",")[0], "gcm@openssh.com$")
        self.assertNotRegex(macs, "md5|none|96|umac-64")


EVIL = r"""
import os, socket, struct, sys, time
what = sys.argv[1]
def packet(payload):
    pad = 8 - (len(payload) + 5) % 8 + 8
    return struct.pack('>IB', len(payload) + pad + 1, pad) + payload + bytes(pad)
lists = ['curve25519-sha256', 'ssh-ed25519', 'aes128-ctr', 'aes128-ctr', 'hmac-sha2-256', 'hmac-sha2-256', 'none', 'none', '', '']
offer = packet(b'\x14' + bytes(16) + b''.join(struct.pack('>I', len(l)) + l.encode() for l in lists) + bytes(5))
version = b'SSH-2.0-OpenSSH_9.2\r\n'
def slowly(data):
    for b in data: c.sendall(bytes([b])); time.sleep(1)
def for_ever(data):
    while True: c.sendall(data)
def serve():
    if what == 'silence': time.sleep(3600)
    if what == 'endless lines': for_ever(b'hello there\r\n' * 1000)
    if what == 'endless line': for_ever(b'x' * 65536)
    if what == 'long version': c.sendall(b'SSH-2.0-' + b'x' * 100000 + b'\r\n'); time.sleep(3600)
    if what == 'slow version': slowly(version * 10)
    if what == 'slow offer': c.sendall(version); slowly(offer)
    if what == 'old version': c.sendall(b'SSH-1.5-old\n'); time.sleep(3600)
    if what == 'close at once': return
    if what == 'close after version': return c.sendall(version)
    if what == 'reset after version':
        c.sendall(version); c.recv(10); c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0)); return
    if what == 'close after offer': return c.sendall(version + offer)
    if what == 'close within offer': return c.sendall(version + offer[:50])
    if what == '4 GB packet': c.sendall(version + b'\xff\xff\xff\xff\x04'); for_ever(bytes(65536))
    if what == '1 GB packet': c.sendall(version + b'\x40\x00\x00\x00\x04'); for_ever(bytes(65536))
    if what == 'empty packets': c.sendall(version); for_ever(bytes(65536))
    if what == 'long list': c.sendall(version + packet(b'\x14' + bytes(16) + b'\xff\xff\xff\xf0' + bytes(100))); time.sleep(3600)
    if what == 'silence after offer': c.sendall(version + offer); time.sleep(3600)
    if what == 'endless ignore': c.sendall(version + offer); for_ever(packet(b'\x02' + struct.pack('>I', 30000) + bytes(30000)))
    if what == 'endless debug': c.sendall(version + offer); for_ever(packet(b'\x04\x01' + struct.pack('>I', 30000) + bytes(30004)))
    if what == 'endless offers': c.sendall(version); for_ever(offer * 100)
    if what == 'noise': c.sendall(version); for_ever(os.urandom(65536))
    if what == 'words': c.sendall(version + packet(b'\x01\x00\x00\x00\x02\x00\x00\x00\x0a\x1b[2J\x1b]0;x\x07' + bytes(4))); time.sleep(3600)
l = socket.create_server(('', 2299)); print('ready', flush=True)
while True:
    c = l.accept()[0]
    try: serve()
    except OSError: pass
    c.close()
"""

# Between a client and the true server: lets through so many bytes of the server, then does something else.
BETWEEN = r"""
import os, select, socket, sys, threading, time
what, limit = sys.argv[1], int(sys.argv[2])
l = socket.create_server(('', 2299)); print('ready', flush=True)
def serve(c):
    s = socket.create_connection(('127.0.0.1', 22)); left = limit
    try:
        while True:
            for f in select.select([c, s], [], [])[0]:
                data = f.recv(65536)
                if not data: return
                if f is c: s.sendall(data); continue
                c.sendall(data[:left])
                if len(data) < left: left -= len(data); continue
                if what == 'close': return
                if what == 'silence': return time.sleep(3600)
                if what == 'noise':
                    for _ in range(1000): c.sendall(os.urandom(65536))
                    return
                if what == 'slowly':
                    for b in data[left:] + s.recv(65536): c.sendall(bytes([b])); time.sleep(1)
                    return
    except OSError: pass
    finally: c.close(); s.close()
while True: threading.Thread(target=serve, args=(l.accept()[0],), daemon=True).start()
"""


class MaliciousServers(OnHosts):
    watchdog_times = 3

    @contextlib.contextmanager
    def server(self, *argv):
        with self.bed.popen("algo-2", [PYTHON, "-c", *argv]) as server:
            server.read_until("ready")
            try:
                yield
            finally:
                server.terminate()
                server.finish()

    def setUp(self):
        ssh_config(self, self.bed, "algo-1", "Host evil\n HostName algo-2\n Port 2299\n HostKeyAlias algo-2\n")

    def assert_survived(self, done, peak):
        self.assert_status(done, 125)
        assert_says(self, done, r"^evil: \S")
        self.assertNotIn("\x1b", done.stderr)
        self.assertLess(len(done.stderr), 3000)
        self.assertLess(peak, 48)
        self.assertNotIn("ran", done.stdout)

    def test_before_the_key_exchange(self):
        """One deadline, and little memory, for whatever answers instead of an ssh server."""
        for what in re.findall(r"if what == '([^']+)'", EVIL):
            with self.subTest(what=what), self.server(EVIL, what):
                done, peak = peak_of(self.bed, "-H", "evil", "--connect-timeout", f"{scaled(1)}s", "--start-timeout", "1h",
                                     "echo", "ran")
                self.assert_survived(done, peak)

    def test_in_each_later_state(self):
        """The first of these cuts fall into the key exchange, the last ones into a running job."""
        forget_agents(self.bed)
        self.assert_status(self.bed.sml_run("algo-1", "-H", "algo-2", "true"), 0)  # so that the agent need not travel
        flood = "head -c 100000 /dev/zero; exec sleep 3600"
        for what in ("close", "silence", "noise", "slowly"):
            for limit in (60, 1200, 1700, 2200, 2700, 3200, 20000):
                with self.subTest(what=what, limit=limit), self.server(BETWEEN, what, str(limit)):
                    done, peak = peak_of(self.bed, "-H", "evil", "--connect-timeout", f"{scaled(1)}s", "--start-timeout",
                                         f"{scaled(3)}s", *heartbeat(2)[0], "--grace", "1s", "sh", "-c", flood)
                    self.assert_survived(done, peak)
