"""The ways to hosts that ~/.ssh/config and the command line describe."""
import shlex

from harness import SML_RUN, TestCase, Testbed, gate, sml_run
from jobs import cached_agents, edit_file, forget_agents, own_lines, sh, ssh_config

WHERE = ("sh", "-c", "hostname; id -un; echo $SML_HOST")


class Ways(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bed = cls.enterClassContext(Testbed())
        cls.bed.up(3, sshd=["Port 2222"])
        for host in [*cls.bed.names(), "head"]:  # the second port is one more name for known_hosts
            sh(cls.bed, host, "sed 's/^\\([^,]*\\),[^ ]*/[\\1]:2222/' /home/root/.ssh/known_hosts > /run/more && "
                              "cat /run/more >> /home/root/.ssh/known_hosts && rm /run/more")

    def setUp(self):
        forget_agents(self.bed)  # so that a whole agent goes each way

    def assert_at(self, done, *lines):
        self.assert_status(done, 0)
        self.assertEqual(done.stdout.split(), list(lines))

    def run_at(self, host, *options, command=WHERE, **kw):
        return self.bed.sml_run("algo-1", "-H", host, *options, *command, **kw)

    def config(self, text):
        ssh_config(self, self.bed, "algo-1", text)

    def logins(self, host):
        return self.bed.sshd_log(host).count("Accepted publickey")

    def other_key(self):
        """A key that only `tester` of algo-3 takes."""
        sh(self.bed, "algo-1", "ssh-keygen -q -t ed25519 -N '' -f /run/other_key")
        self.addCleanup(sh, self.bed, "algo-1", "rm -f /run/other_key*")
        public = sh(self.bed, "algo-1", "cat /run/other_key.pub")
        edit_file(self, self.bed, "algo-3", "/home/tester/.ssh/authorized_keys", lambda _: public)

    @gate
    def test_an_alias_with_all_that_belongs_to_it(self):
        self.other_key()
        self.config("Host far\n HostName algo-3\n User tester\n Port 2222\n IdentityFile /run/other_key\n IdentitiesOnly yes")
        self.assert_at(self.run_at("far"), "algo-3", "tester", "far")
        self.assertEqual(len(cached_agents(self.bed, "algo-3", "/home/tester/.cache/sml-run")), 1)

    def test_an_alias_of_this_machine_is_this_machine(self):
        self.config("Host near\n HostName algo-1")
        before = self.logins("algo-1")
        self.assert_at(self.run_at("near"), "algo-1", "root", "near")
        self.assertEqual(self.logins("algo-1"), before)

    @gate
    def test_addresses_of_this_machine_are_this_machine(self):
        before = self.logins("algo-1")
        for name in ("localhost", "127.0.0.1", self.bed.address("algo-1")):
            with self.subTest(name=name):
                self.assert_at(self.run_at(name), "algo-1", "root", name)
        self.assertEqual(self.logins("algo-1"), before)

    @gate
    def test_options_win_over_the_config(self):
        self.other_key()
        self.config("User nobody\nPort 1")
        done = self.run_at("algo-3", "--ssh-user", "tester", "--ssh-port", "2222", "--ssh-identity-file", "/run/other_key")
        self.assert_at(done, "algo-3", "tester", "algo-3")
        self.assert_at(self.run_at("algo-3", "--ssh-user", "root", "-p", "22"), "algo-3", "root", "algo-3")

    @gate
    def test_a_user_in_the_host_list(self):
        self.assert_at(self.run_at("tester@algo-2"), "algo-2", "tester", "algo-2")
        self.assert_at(self.run_at("tester@algo-2", "--ssh-user", "nobody"), "algo-2", "tester", "algo-2")

    def test_another_user_of_this_machine(self):
        self.assert_at(self.run_at("tester@algo-1"), "algo-1", "tester", "algo-1")

    def test_another_config_file(self):
        text = "Host x-*\n HostName algo-3\n Port 2222\nHost *\n IdentityFile ~/.ssh/id_ed25519\n"
        self.addCleanup(self.bed.put("algo-1", "/run/ssh_config", text).unlink)
        self.assert_at(self.run_at("x-1", "--ssh-config", "/run/ssh_config"), "algo-3", "root", "x-1")

    def test_included_files(self):
        self.addCleanup(self.bed.put("algo-1", "/home/root/.ssh/more", "Host far\n HostName algo-3\n").unlink)
        self.config("Include more")
        self.assert_at(self.run_at("far"), "algo-3", "root", "far")

    @gate
    def test_a_jump(self):
        self.config("Host algo-3\n ProxyJump algo-2")
        before = self.logins("algo-2"), self.logins("algo-3")
        self.assert_at(self.run_at("algo-3"), "algo-3", "root", "algo-3")
        self.assertEqual((self.logins("algo-2"), self.logins("algo-3")), (before[0] + 1, before[1] + 1))

    def server(self, host, port, *options):
        """One more sshd there, until the test ends."""
        words = shlex.join(["/usr/sbin/sshd", "-p", str(port), *(w for o in options for w in ("-o", o)),
                            "-o", "PidFile=/run/more_sshd.pid"])
        sh(self.bed, host, words)
        self.addCleanup(sh, self.bed, host, "kill $(cat /run/more_sshd.pid)")

    def far(self, *lines, port=22):
        """Of a configuration that has nothing else: what sml-run comes to, and the ssh program."""
        text = "\n ".join([f"Host far\n HostName algo-3\n Port {port}", "StrictHostKeyChecking no", "BatchMode yes",
                           "UserKnownHostsFile /dev/null", *lines]) + "\n"
        self.addCleanup(self.bed.put("algo-1", "/run/far", text).unlink, missing_ok=True)
        ssh = self.bed.exec("algo-1", ["ssh", "-F", "/run/far", "far", "hostname"])
        return self.run_at("far", "--ssh-config", "/run/far"), ssh

    def assert_far(self, done, ssh):
        self.assertEqual((ssh.returncode, ssh.stdout), (0, "algo-3\n"), ssh)
        self.assert_at(done, "algo-3", "root", "far")

    @gate
    def test_lists_that_add_to_the_algorithms(self):
        """A server that only knows what nobody offers by default."""
        sh(self.bed, "algo-3", "ssh-keygen -q -t rsa -N '' -f /run/rsa")
        self.addCleanup(sh, self.bed, "algo-3", "rm /run/rsa /run/rsa.pub")
        self.server("algo-3", 2400, "HostKey=/run/rsa", "HostKeyAlgorithms=ssh-rsa", "Ciphers=aes256-cbc",
                    "KexAlgorithms=diffie-hellman-group14-sha1", "MACs=hmac-sha1")
        for sign, also in (("+", "HostKeyAlgorithms +ssh-dss,ssh-rsa"), ("^", "HostKeyAlgorithms ^ssh-r*")):
            self.assert_far(*self.far(f"Ciphers {sign}aes256-cbc", f"KexAlgorithms {sign}diffie-hellman-group14-sha1",
                                      f"MACs {sign}hmac-sha1", "PubkeyAcceptedAlgorithms -ssh-dss*,rsa-*", also, port=2400))
        done, ssh = self.far(port=2400)
        self.assertEqual((done.returncode, ssh.returncode), (125, 255))
        self.assertIn("hint: --ssh-command ssh", self.far("MACs umac-64@openssh.com")[0].stderr)

    @gate
    def test_a_certificate_beside_the_key(self):
        sh(self.bed, "algo-1", "mkdir /run/keys; cd /run/keys; for k in ca one two; do ssh-keygen -q -t ed25519 -N '' -f $k; "
                               "done; ssh-keygen -q -s ca -I me -n root one.pub two.pub; mv two-cert.pub other-cert")
        self.addCleanup(sh, self.bed, "algo-1", "rm -r /run/keys")
        self.bed.put("algo-3", "/run/ca.pub", sh(self.bed, "algo-1", "cat /run/keys/ca.pub"))
        self.addCleanup(sh, self.bed, "algo-3", "rm /run/ca.pub")
        self.server("algo-3", 2301, "TrustedUserCAKeys=/run/ca.pub", "AuthorizedKeysFile=none")
        self.assert_far(*self.far("IdentityFile /run/keys/one", port=2301))
        self.assert_far(*self.far("IdentityFile /run/keys/two", "CertificateFile /run/keys/other-cert", port=2301))
        done, ssh = self.far("IdentityFile /run/keys/ca", "CertificateFile /run/keys/other-cert", port=2301)
        self.assertEqual((done.returncode, ssh.returncode), (125, 255), done)
        self.assertIn("/run/keys/other-cert: a certificate of no key that can be used", done.stderr)

    @gate
    def test_a_certificate_of_a_key_that_only_the_agent_has(self):
        """Whose file has a passphrase, and which the agent got without its certificate."""
        sh(self.bed, "algo-1", "mkdir /run/keys; cd /run/keys; ssh-keygen -q -t ed25519 -N '' -f ca; for k in one two; do "
                               "ssh-keygen -q -t ed25519 -N secret -f $k; done; ssh-keygen -q -s ca -I me -n root one.pub two.pub; "
                               "mv two-cert.pub other-cert; mv one-cert.pub later; printf '#!/bin/sh\\necho secret\\n' > ask; "
                               "chmod 700 ask; ssh-agent -a agent | sed -n 's/.*pid \\([0-9]*\\).*/\\1/p' > pid; "
                               "SSH_AUTH_SOCK=$PWD/agent SSH_ASKPASS=$PWD/ask SSH_ASKPASS_REQUIRE=force ssh-add -q one two "
                               "< /dev/null; mv later one-cert.pub")
        self.addCleanup(sh, self.bed, "algo-1", "kill $(cat /run/keys/pid); rm -r /run/keys")
        self.bed.put("algo-3", "/run/ca.pub", sh(self.bed, "algo-1", "cat /run/keys/ca.pub"))
        self.addCleanup(sh, self.bed, "algo-3", "rm /run/ca.pub")
        self.server("algo-3", 2301, "TrustedUserCAKeys=/run/ca.pub", "AuthorizedKeysFile=none")
        agent = "IdentityAgent /run/keys/agent"
        self.assert_far(*self.far("IdentityFile /run/keys/one", agent, port=2301))
        self.assert_far(*self.far("IdentityFile /run/keys/two", "CertificateFile /run/keys/other-cert", agent, port=2301))
        done, ssh = self.far("IdentityFile /run/keys/two", "CertificateFile /run/keys/other-cert", "IdentityAgent none", port=2301)
        self.assertEqual((done.returncode, ssh.returncode), (125, 255), done)
        self.assertIn("/run/keys/two: encrypted; /run/keys/other-cert: a certificate of no key that can be used", done.stderr)

    @gate
    def test_a_block_that_a_command_chooses(self):
        self.config("Match exec \"test %n = far\" host far\n HostName algo-3\nMatch !exec \"test %n = far\" host near\n"
                    " HostName algo-2")
        self.assert_at(self.run_at("far"), "algo-3", "root", "far")
        self.assert_at(self.run_at("near"), "algo-2", "root", "near")
        self.bed.put("algo-1", "/run/far", 'Match exec "sleep 600"\n HostName algo-2\n')
        self.addCleanup(sh, self.bed, "algo-1", "rm /run/far")
        done = self.run_at("far", "--ssh-config", "/run/far", "--connect-timeout", "1s")
        self.assert_status(done, 2)
        self.assertIn('Match exec "sleep 600" has not ended in time', done.stderr)

    def test_a_jump_that_fails(self):
        self.config("Host algo-3\n ProxyJump algo-2:9")
        done = self.run_at("algo-3")
        self.assert_status(done, 125)
        self.assertRegex("\n".join(own_lines(done)), r"(?m)^algo-3: .*[Cc]onnection refused")

    @gate
    def test_a_proxy_command(self):
        self.config("Host far\n HostName algo-3\n ProxyCommand ssh -W %h:%p algo-2")
        before = self.logins("algo-2")
        done = self.bed.sml_run("algo-1", "-H", "algo-1,far,algo-2", *WHERE)
        self.assert_status(done, 0)
        self.assertIn("[1] algo-3\n", done.stdout)
        self.assertEqual(self.logins("algo-2"), before + 2)

    def test_a_proxy_command_that_fails(self):
        self.config("Host algo-3\n ProxyCommand sh -c 'echo no way there >&2; exit 4'")
        done = self.run_at("algo-3")
        self.assert_status(done, 125)
        self.assertRegex("\n".join(own_lines(done)), r"(?m)^algo-3: .*no way there")

    @gate
    def test_a_config_that_others_can_write_is_not_believed(self):
        edit_file(self, self.bed, "algo-1", "/home/root/.ssh/config", lambda same: same, mode=0o666)
        done = self.run_at("algo-3")
        self.assertIn(done.returncode, (2, 125), done)
        self.assertIn("/home/root/.ssh/config", done.stderr)

    @gate
    def test_an_ssh_agent(self):
        self.addCleanup(sh, self.bed, "algo-1", "rm -rf /run/agent*")
        script = ("eval $(ssh-agent -a /run/agent.sock) >/dev/null; mv ~/.ssh/id_ed25519 /run/agent_key; "
                  "ssh-add -q /run/agent_key; \"$@\"; s=$?; mv /run/agent_key ~/.ssh/id_ed25519; "
                  "kill $SSH_AGENT_PID; exit $s")
        done = self.bed.exec("algo-1", ["sh", "-c", script, "sh", SML_RUN, "-H", "algo-3", *WHERE])
        self.assert_at(done, "algo-3", "root", "algo-3")
        self.assertEqual(sh(self.bed, "algo-3", "ls -d /tmp/ssh-* 2>/dev/null || true"), "")  # it is not forwarded

    def test_the_ssh_program_instead(self):
        for command in ("ssh -o BatchMode=yes", "ssh -o BatchMode=yes -o ControlMaster=no"):
            for _ in ("sent", "cached"):
                done = self.bed.sml_run("algo-1", "-H", "algo-1,algo-2,algo-3", "--ssh-command", command, *WHERE)
                self.assert_status(done, 0)
                self.assertIn("[0] algo-1\n", done.stdout)
                self.assertIn("[2] algo-3\n", done.stdout)
        self.assert_at(self.run_at("tester@algo-2", "--ssh-command", "ssh"), "algo-2", "tester", "algo-2")

    @gate
    def test_a_program_that_starts_programs_in_hosts(self):
        """As kubectl exec does: the program that makes the testbed, from outside, where there is no ssh to the hosts."""
        inside = shlex.join(map(str, self.bed._exec_argv("{host}", ["{command}"], "root", None, "/")))
        for _ in ("sent", "cached"):
            done = sml_run("--ssh-command", inside, "-H", "algo-2,algo-3", *WHERE)
            self.assert_status(done, 0)
            self.assertEqual(sorted(done.stdout.split("\n")[:-1]),
                             sorted(f"[{rank}] {line}" for rank, host in enumerate(("algo-2", "algo-3"))
                                    for line in (host, "root", host)))
        done = sml_run("--ssh-command", inside, "-H", "algo-2,algo-3", "sh", "-c", "test $RANK != 1 || exit 7; sleep 600")
        self.assert_status(done, 7)
        done = sml_run("--ssh-command", inside, "--ssh-port", "22", "-H", "algo-2", "true")
        self.assert_status(done, 2)
        self.assertIn("--ssh-command: {host} has no place for port", done.stderr)

    def test_a_place_for_the_host_in_the_ssh_programs_words(self):
        done = self.run_at("algo-2", "--ssh-command", "ssh -o HostName={host} -l tester other")
        self.assert_at(done, "algo-2", "tester", "algo-2")

    def test_the_ssh_programs_words_are_told(self):
        done = self.run_at("nowhere", "--ssh-command", "ssh -o BatchMode=yes")
        self.assert_status(done, 125)
        self.assertRegex("\n".join(own_lines(done)), r"(?m)^nowhere: .*Could not resolve")
        done = self.run_at("algo-2", "--ssh-command", "/nowhere/ssh -x")
        self.assert_status(done, 125)
        self.assertIn("/nowhere/ssh", done.stderr)

    def test_failures_and_signals_over_the_ssh_program(self):
        done = self.bed.sml_run("algo-1", "-H", self.bed.hosts(2), "--ssh-command", "ssh -o BatchMode=yes", "sh", "-c",
                                "test $RANK != 5 || exit 7; sleep 600")
        self.assert_status(done, 7)
