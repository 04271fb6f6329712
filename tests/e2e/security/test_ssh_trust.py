"""What they can not do who can write some of what ssh reads, or show keys that are not to be believed."""
from harness import SML_RUN, HostsCase, gate
from jobs import assert_says, edit_file, fingerprint, keep_file, sh, ssh_config
from on_hosts import OnHosts as OnThreeHosts, SecondServer, on_terminal

HOST = "algo-2"
KNOWN = "/home/root/.ssh/known_hosts"
MEGABYTE = 1024 * 1024
MARK = "/run/hijacked"


class OnHosts(HostsCase):
    hosts = 2

    def job(self, *options, host=HOST):
        return self.bed.sml_run("algo-1", "-H", host, *options, "echo", "ran")

    def assert_runs(self, *options, **kw):
        done = self.job(*options, **kw)
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "ran\n")

    def assert_refused(self, *patterns, options=("--accept-new-host-keys",), status=125, **kw):
        done = self.job(*options, **kw)
        self.assert_status(done, status)
        self.assertEqual(done.stdout, "")
        for pattern in patterns:
            assert_says(self, done, pattern)

    def put(self, host, path, text, **kw):
        self.addCleanup(self.bed.put(host, path, text, **kw).unlink, missing_ok=True)

    def host_key(self, host=HOST):
        """type and base64."""
        return " ".join(self.bed.path(host, "/run/sshd/ssh_host_ed25519_key.pub").read_text().split()[:2])

    def other_key(self):
        return self.host_key("algo-1")

    def known(self, text):
        edit_file(self, self.bed, "algo-1", KNOWN, lambda _: text)


class LargeKnownHosts(OnHosts):
    def others(self, size):
        line = f"other.example {self.other_key()}\n"
        return line * (size // len(line) + 1)

    @gate
    def test_a_key_that_is_revoked_behind_megabytes(self):
        for files in ("mine", "everybody's"):
            with self.subTest(files=files):
                many = self.others(5 * MEGABYTE)
                text = f"{HOST} {self.host_key()}\n{many}@revoked * {self.host_key()}\n"
                if files == "mine":
                    self.known(text)
                else:
                    self.put("algo-1", "/run/known", text)
                    ssh_config(self, self.bed, "algo-1", "GlobalKnownHostsFile /run/known")
                line = many.count("\n") + 2
                self.assert_refused(rf"^{HOST}: the host key is revoked in \S+ line {line}: ")
                self.known(f"{HOST} {self.host_key()}\n")

    @gate
    def test_a_key_that_has_changed_behind_megabytes(self):
        self.known(f"{self.others(5 * MEGABYTE)}{HOST} {self.other_key()}\n")
        self.assert_refused(rf"^{HOST}: the host key has changed: ")

    def test_a_key_that_has_changed_on_a_long_line(self):
        names = ",".join(f"other-{i}.example" for i in range(2000))  # 38 KB
        self.known(f"{names},{HOST} {self.other_key()}\n")
        self.assert_refused(rf"^{HOST}: the host key has changed: ")

    def test_a_known_key_behind_megabytes(self):
        self.known(f"{self.others(5 * MEGABYTE)}{HOST} {self.host_key()}\n")
        self.assert_runs()

    def test_a_line_that_is_too_long_to_be_read(self):
        self.known(f"{HOST} {self.host_key()}\nx ssh-ed25519 {'A' * 2 * MEGABYTE}\n")
        self.assert_refused(rf"^{HOST}: {KNOWN} line 2 has more than 1 MiB: .*which host keys it makes known or revokes")


class UnreadableKnownHosts(OnHosts):
    def assert_refused_for(self, path, why):
        self.assert_refused(rf"^{HOST}: cannot read {path}: {why}", r"^hint: a host key may be revoked there")

    def test_of_the_user(self):
        place = keep_file(self, self.bed, "algo-1", KNOWN)
        place.unlink()
        place.symlink_to(place.name)  # to itself; root can read all files
        self.assert_refused_for(KNOWN, "too many levels of symbolic links")

    @gate
    def test_of_everybody(self):
        for path, why in (("/run", "it is not a regular file"), ("/dev/zero", "it is not a regular file")):
            ssh_config(self, self.bed, "algo-1", f"GlobalKnownHostsFile {path}")
            self.assert_refused_for(path, why)

    @gate
    def test_none_and_a_missing_one_are_empty(self):
        ssh_config(self, self.bed, "algo-1", "UserKnownHostsFile /dev/null\nGlobalKnownHostsFile /nowhere/known")
        self.assert_refused(rf"^{HOST}: the host key is not known", options=())
        self.assert_runs("--accept-new-host-keys")


class RevokedHostKeys(OnHosts):
    def test_a_list_of_keys(self):
        self.put("algo-1", "/run/revoked", f"# of last year\n{self.other_key()}\n")
        ssh_config(self, self.bed, "algo-1", "RevokedHostKeys /run/revoked")
        self.assert_runs()
        self.put("algo-1", "/run/revoked", f"{self.other_key()}\n{self.host_key()} of algo-2\n")
        self.assert_refused(rf"^{HOST}: the host key is revoked in /run/revoked line 2: ")

    @gate
    def test_a_list_that_cannot_be_read_trusts_nobody(self):
        ssh_config(self, self.bed, "algo-1", "RevokedHostKeys /run/revoked")
        self.assert_refused(rf"^{HOST}: cannot read /run/revoked: no such file")
        self.put("algo-1", "/run/key.pub", self.other_key() + "\n")
        self.addCleanup(sh, self.bed, "algo-1", "rm -f /run/revoked")
        sh(self.bed, "algo-1", "ssh-keygen -q -k -f /run/revoked /run/key.pub")
        self.assert_refused(rf"^{HOST}: /run/revoked is a list of revoked keys in the binary form")


class Configurations(OnHosts):
    """Files that ssh_config includes, and who may write to them."""

    def setUp(self):
        self.addCleanup(sh, self.bed, "algo-1", f"rm -f {MARK}")
        self.put("algo-1", "/run/more", f"Host *\n ProxyCommand touch {MARK}\n")

    def assert_not_believed(self, *options, why, change):
        sh(self.bed, "algo-1", f"chown root:root /run/more; chmod 600 /run/more; {change}")
        self.assert_refused(why, options=options, status=2)
        self.assertEqual(sh(self.bed, "algo-1", f"ls {MARK} 2>/dev/null || true"), "")
        # As ssh does it.
        named = "-F /run/config" if options else ""
        done = self.bed.exec("algo-1", ["sh", "-c", f"ssh {named} -o BatchMode=yes {HOST} true"])
        self.assertEqual(done.returncode, 255, done)
        self.assertIn("Bad owner or permissions on /run/more", done.stderr)

    FOREIGN = r"/run/more belongs to another user \(uid \d+\)"

    def test_of_the_user(self):
        ssh_config(self, self.bed, "algo-1", "Include /run/more")
        self.assert_not_believed(why="others could have written /run/more", change="chmod 666 /run/more")
        self.assert_not_believed(why=self.FOREIGN, change="chown tester /run/more")
        sh(self.bed, "algo-1", "chown root:root /run/more; chmod 660 /run/more")  # Debian's ssh believes a group of one
        self.assert_refused("others could have written /run/more", options=(), status=2)

    @gate
    def test_of_a_file_that_is_named(self):
        self.put("algo-1", "/run/config", "Include /run/more\n")
        self.assert_not_believed("--ssh-config", "/run/config", why="others could have written /run/more",
                                 change="chmod 602 /run/more")
        self.assert_not_believed("--ssh-config", "/run/config", why=self.FOREIGN, change="chown tester /run/more")

    def test_through_a_link_of_ours(self):
        self.addCleanup(sh, self.bed, "algo-1", "rm -f /run/link")
        sh(self.bed, "algo-1", "ln -sf /run/more /run/link; chown tester /run/more")
        ssh_config(self, self.bed, "algo-1", "Include /run/link")
        self.assert_refused("/run/link belongs to another user", options=(), status=2)
        self.assertEqual(sh(self.bed, "algo-1", f"ls {MARK} 2>/dev/null || true"), "")

    def test_what_only_we_can_write_is_believed(self):
        self.put("algo-1", "/run/more", f"Host far\n HostName {HOST}\n HostKeyAlias {HOST}\n", mode=0o644)
        ssh_config(self, self.bed, "algo-1", "Include /run/more")
        self.assert_runs(host="far")

    def test_a_file_too_large_to_be_read(self):
        self.put("algo-1", "/run/more", "# nothing\n" * (MEGABYTE // 2) + "StrictHostKeyChecking accept-new\n", mode=0o600)
        ssh_config(self, self.bed, "algo-1", "Include /run/more")
        self.assert_refused("/run/more has more than 4 MiB", options=(), status=2)


class Certificates(OnHosts):
    """A host that shows a certificate, which only ssh itself can check."""

    @gate
    def test_a_host_with_a_certificate(self):
        sh(self.bed, "algo-1", "ssh-keygen -q -t ed25519 -N '' -f /run/authority")
        self.addCleanup(sh, self.bed, "algo-1", "rm -f /run/authority*")
        public = self.bed.path("algo-1", "/run/authority.pub").read_text()
        self.put("algo-1", "/run/key.pub", self.host_key() + "\n")
        self.addCleanup(sh, self.bed, HOST, "rm -f /run/key-cert.pub")
        sh(self.bed, "algo-1", "ssh-keygen -q -s /run/authority -I host -h -n second /run/key.pub && rm -f /run/key-cert.pub.old")
        certificate = self.bed.path("algo-1", "/run/key-cert.pub").read_text()
        self.addCleanup(sh, self.bed, "algo-1", "rm -f /run/key-cert.pub")
        self.bed.put(HOST, "/run/key-cert.pub", certificate)
        with SecondServer(self, "HostCertificate /run/key-cert.pub", name="second"):
            self.known(f"# authorities\n@cert-authority second,*.example {public}")
            shown = fingerprint(self.host_key())
            self.assert_refused(
                rf"^second: the host key is not known.*{shown.replace('+', '.')}; {KNOWN} line 2 trusts the certificates of "
                r"an authority \(@cert-authority\), and the built-in SSH client checks no host certificates",
                r"^hint: ssh checks them: --ssh-command 'ssh -o BatchMode=yes'", options=(), host="second")
            self.assert_runs("--ssh-command", "ssh -o BatchMode=yes", host="second")
            # The host's own key beside it: that is enough.
            self.known(f"@cert-authority second {public}second {self.host_key()}\n")
            self.assert_runs(host="second")
            # An authority that only others are trusted to.
            self.known(f"@cert-authority third {public}")
            done = self.job(host="second")
            self.assert_status(done, 125)
            self.assertNotIn("@cert-authority", done.stderr)


class Keys(OnThreeHosts):
    def test_more_keys_than_the_host_lets_try(self):
        self.addCleanup(sh, self.bed, "algo-1", "rm -rf /run/agent* /run/many")
        script = ("mkdir /run/many; eval $(ssh-agent -a /run/agent.sock) >/dev/null; for i in $(seq 20); do "
                  "ssh-keygen -q -t ed25519 -N '' -f /run/many/$i; done; ssh-add -q /run/many/*[0-9]; \"$@\"; s=$?; "
                  "kill $SSH_AGENT_PID; exit $s")
        done = self.bed.exec("algo-1", ["sh", "-c", script, "sh", SML_RUN, "-H", "algo-2", "true"])
        self.assert_status(done, 125)
        assert_says(self, done, "^algo-2: .*too many keys")
        self.assertIn("--ssh-identity-file", done.stderr)
        # Named, the right key goes first.
        rest = script.replace("mkdir /run/many; ", "").replace("for i in $(seq 20); do ssh-keygen -q -t ed25519 -N '' -f "
                                                              "/run/many/$i; done; ", "")
        sh(self.bed, "algo-1", "rm -f /run/agent.sock")
        argv = ["sh", "-c", rest, "sh", SML_RUN, "-i", "/home/root/.ssh/id_ed25519", "-H", "algo-2", "true"]
        self.assert_status(self.bed.exec("algo-1", argv), 0)

    def test_a_key_that_cannot_be_read(self):
        self.put("algo-1", "/run/key", "nobody can read this\n", mode=0)
        ssh_dir = "/home/tester/.ssh"
        edit_file(self, self.bed, "algo-1", f"{ssh_dir}/config", lambda _: "IdentityFile /run/key\n")
        done = self.bed.sml_run("algo-1", "-H", "algo-2", "true", user="tester")
        self.assert_status(done, 125)
        assert_says(self, done, "^algo-2: .*/run/key: unreadable")

    @gate
    def test_an_encrypted_key_asks_nothing_of_a_terminal(self):
        sh(self.bed, "algo-1", "ssh-keygen -q -t ed25519 -N secret -f /run/locked_key")
        self.addCleanup(sh, self.bed, "algo-1", "rm -f /run/locked_key*")
        edit_file(self, self.bed, "algo-1", "/home/root/.ssh/config", lambda _: "IdentityFile /run/locked_key\n")
        argv = self.bed._exec_argv("algo-1", [SML_RUN, "-H", "algo-2", "true"], "root", None, "/")
        status, got, _, _ = on_terminal(argv)
        self.assertEqual(status, 125)
        self.assertIn(b"locked_key: encrypted", got)
        self.assertNotIn(b"nter passphrase", got)

    @gate
    def test_keys_of_new_hosts_are_kept_once_however_many_ask(self):
        known = keep_file(self, self.bed, "algo-1", "/home/root/.ssh/known_hosts")
        known.unlink()
        jobs = [self.bed.sml_run_popen("algo-1", "--accept-new-host-keys", "-H", "algo-2,algo-3", "true") for _ in range(6)]
        for job in jobs:
            with job:
                self.assert_status(job.finish(), 0)
        self.assertEqual(sorted(ln.split()[0] for ln in known.read_text().splitlines()), ["algo-2", "algo-3"])

    @gate
    def test_the_home_is_the_users_whatever_the_environment_says(self):
        """As under sudo, which may leave HOME and the names of the one who called it."""
        for name in ("config", "known_hosts", "id_ed25519"):
            edit_file(self, self.bed, "algo-1", f"/home/tester/.ssh/{name}", lambda _: "Port 1\nProxyCommand touch /run/pwned\n")
        env = {"HOME": "/home/tester", "SUDO_USER": "tester", "SUDO_UID": "7700", "LOGNAME": "tester", "USER": "tester"}
        done = self.bed.sml_run("algo-1", "-H", "algo-2", "id", "-un", env=env)
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "root\n")
        self.assertFalse(self.bed.path("algo-1", "/run/pwned").exists())
        self.assertFalse(self.bed.path("algo-1", "/home/tester/.cache").exists())
