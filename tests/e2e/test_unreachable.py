"""Hosts that cannot do their part: one sentence per kind of fault, the others released, nothing started anywhere."""
import math
import re
import subprocess

from harness import PYTHON, HostsCase, gate, scaled, wait_until
from jobs import assert_says, edit_file, fingerprint, keep_file, own_lines, sh, ssh_config, stop_sshd


class Faults(HostsCase):
    hosts = 4

    def job(self, *options, hosts=None, command=("sh", "-c", "echo started"), **kw):
        return self.bed.sml_run("algo-1", "-H", hosts or self.bed.hosts(), *options, *command, **kw)

    def assert_refused(self, done, *patterns, status=125):
        self.assert_status(done, status)
        self.assertNotIn("started", done.stdout)
        said = "\n".join(own_lines(done))
        for pattern in patterns:
            self.assertRegex(said, "(?m)" + pattern)
        self.bed.assert_clean()  # what is on its way to being ready there sees the end once it gets a processor
        return said

    def edit(self, host, path, change, **kw):
        return edit_file(self, self.bed, host, path, change, **kw)

    def host_key(self, host):
        return " ".join(sh(self.bed, host, "cat /run/sshd/ssh_host_ed25519_key.pub 2>/dev/null || "
                                           "ssh-keygen -yf /run/sshd/ssh_host_ed25519_key").split()[:2])


class Logins(Faults):
    @gate
    def test_refused_logins_fold_into_one_line(self):
        for host in ("algo-3", "algo-4"):
            self.edit(host, "/home/root/.ssh/authorized_keys", lambda _: "")
        said = self.assert_refused(self.job(), r"^2 hosts: .*refused the login of user root .*id_ed25519: refused.*: algo-\[3-4\]$",
                                   r"^hint: .*authorized_keys")
        self.assertEqual(len(said.splitlines()), 2, said)

    def test_a_key_that_no_host_takes(self):
        sh(self.bed, "algo-1", "ssh-keygen -q -t ed25519 -N '' -f /run/other_key")
        self.addCleanup(sh, self.bed, "algo-1", "rm -f /run/other_key*")
        ssh_config(self, self.bed, "algo-1", "IdentityFile /run/other_key\nIdentitiesOnly yes\n")
        self.edit("algo-1", "/home/root/.ssh/config", lambda old: old.replace("IdentityFile ~/.ssh/id_ed25519", ""))
        self.assert_refused(self.job(), r"^3 hosts: .*/run/other_key: refused.*: algo-\[2-4\]$")

    @gate
    def test_a_key_that_is_not_there(self):
        done = self.job("-i", "/nowhere/key", hosts="algo-2")
        self.assert_status(done, 2)
        self.assertEqual(done.stderr, "sml-run: --ssh-identity-file /nowhere/key: there is no such file\n")
        self.edit("algo-1", "/home/root/.ssh/config", lambda old: "IdentityFile /nowhere/key\n" + old)
        self.assert_status(self.job(hosts="algo-2"), 0)  # the other key is tried too
        self.edit("algo-2", "/home/root/.ssh/authorized_keys", lambda _: "")
        self.assert_refused(self.job(hosts="algo-2"), r"/nowhere/key: no such file")

    @gate
    def test_a_key_that_others_can_read_is_not_used(self):
        self.edit("algo-1", "/home/root/.ssh/id_ed25519", lambda same: same, mode=0o644)
        self.assert_refused(self.job(hosts="algo-2"), r"^algo-2: .*id_ed25519: ignored, as others can read it",
                            r"^hint: .*chmod 600 .*id_ed25519$")

    @gate
    def test_an_encrypted_key_asks_nothing(self):
        sh(self.bed, "algo-1", "ssh-keygen -q -t ed25519 -N secret -f /run/locked_key")
        self.addCleanup(sh, self.bed, "algo-1", "rm -f /run/locked_key*")
        self.edit("algo-1", "/home/root/.ssh/config", lambda _: "IdentityFile /run/locked_key\n")
        self.assert_refused(self.job(hosts="algo-2"), r"^algo-2: .*locked_key: encrypted",
                            r"^hint: .*passphrase; run: eval \$\(ssh-agent\); ssh-add /run/locked_key$")

    def test_a_user_who_is_not_there(self):
        self.assert_refused(self.job("--ssh-user", "nobodyatall", hosts="algo-2,algo-3"),
                            r"^2 hosts: .*user nobodyatall.*: algo-\[2-3\]$")


class HostKeys(Faults):
    KNOWN = "/home/root/.ssh/known_hosts"

    def known(self):
        return self.bed.path("algo-1", self.KNOWN)

    def forget(self, *hosts):
        self.edit("algo-1", self.KNOWN, lambda old: "".join(
            ln + "\n" for ln in old.splitlines() if ln.split(",")[0] not in hosts))

    @gate
    def test_a_changed_key_is_refused_with_both_fingerprints(self):
        shown, other = self.host_key("algo-3"), self.host_key("algo-2")
        self.edit("algo-1", self.KNOWN, lambda old: old.replace(shown, other))
        logins = self.bed.sshd_log("algo-3").count("Accepted publickey")
        for option in ([], ["--accept-new-host-keys"]):
            said = self.assert_refused(self.job(*option), r"^algo-3: the host key has changed", r"^hint: .*ssh-keygen .*-R")
            self.assertIn(fingerprint(shown), said)
            self.assertIn(fingerprint(other), said)
            self.assertIn(self.KNOWN, said)
        self.assertEqual(self.bed.sshd_log("algo-3").count("Accepted publickey"), logins)

    @gate
    def test_a_revoked_key_is_refused(self):
        key = self.host_key("algo-3")
        self.edit("algo-1", self.KNOWN, lambda old: old + f"@revoked * {key}\n")
        self.assert_refused(self.job("--accept-new-host-keys"), r"^algo-3: the host key is revoked")

    @gate
    def test_unknown_keys_are_refused(self):
        self.forget("algo-2")
        said = self.assert_refused(self.job(), r"^algo-2: the host key is not known", r"^hint: .*--accept-new-host-keys")
        self.assertIn(fingerprint(self.host_key("algo-2")), said)
        self.assertNotIn("algo-2", self.known().read_text())

    @gate
    def test_unknown_keys_of_several_hosts_come_with_the_command_that_adds_them(self):
        self.forget("algo-2", "algo-3", "algo-4")
        said = self.assert_refused(self.job(), r"^3 hosts: the host key is not known: algo-\[2-4\]$", r"^hint: .*ssh-keygen -lf")
        for host in ("algo-2", "algo-3", "algo-4"):
            self.assertIn(f"  {host}: ssh-ed25519 {fingerprint(self.host_key(host))}", said)
        sh(self.bed, "algo-1", re.search(r"ssh-keyscan .*? >> [^ ,]*", said)[0])
        self.assert_status(self.job(), 0)

    def check_accepted(self, *options):
        keep_file(self, self.bed, "algo-1", self.KNOWN).unlink()
        for options_now in (options, options, ()):
            done = self.job(*options_now)
            self.assert_status(done, 0)
            self.assertEqual(done.stdout.count("started"), 4)
            lines = sorted(self.known().read_text().splitlines())
            self.assertEqual([ln.split()[0] for ln in lines], ["algo-2", "algo-3", "algo-4"])
            self.assertEqual(lines[0].split(" ", 1)[1], self.host_key("algo-2"))
            self.assertEqual(self.known().stat().st_mode & 0o777, 0o600)

    @gate
    def test_unknown_keys_are_accepted_once_when_asked(self):
        self.check_accepted("--accept-new-host-keys")

    def test_the_users_ssh_config_may_ask_for_it(self):
        ssh_config(self, self.bed, "algo-1", "StrictHostKeyChecking accept-new")
        self.check_accepted()

    def test_known_hosts_of_the_ssh_config(self):
        self.edit("algo-1", self.KNOWN, lambda _: "")
        text = "".join(f"{h} {self.host_key(h)}\n" for h in ("algo-2", "algo-3", "algo-4"))
        self.addCleanup(self.bed.put("algo-1", "/run/known", text).unlink)
        ssh_config(self, self.bed, "algo-1", "UserKnownHostsFile /run/known")
        self.assert_status(self.job(), 0)


class Networks(Faults):
    @gate
    def test_dead_hosts_fold_and_end_in_time(self):
        self.bed.cut("algo-3", "algo-4")
        self.addCleanup(self.bed.heal, "algo-3", "algo-4")
        # Not of the other, and below the 3 s after which the kernel itself may find no route to a host that does not answer.
        ssh_config(self, self.bed, "algo-1", "Host algo-3 algo-4\n ConnectTimeout 2\n")
        self.assert_refused(self.job(), r"^2 hosts: .*: algo-\[3-4\]$")

    @gate
    def test_a_frozen_host_is_named_with_the_step(self):
        self.bed.freeze("algo-3")
        self.addCleanup(self.bed.thaw, "algo-3")
        limit = f"{scaled(4):g}"  # the others are ready long before
        done = self.job("--start-timeout", f"{limit}s")
        said = "\n".join(own_lines(done))
        self.assert_status(done, 125)
        self.assertRegex(said, rf"algo-3: not ready after {limit} s \((connecting|authenticating)\)")
        self.assertIn("--start-timeout", said)
        self.assertNotIn("started", done.stdout)

    def test_a_frozen_host_ends_at_the_connect_timeout(self):
        self.bed.freeze("algo-3")
        self.addCleanup(self.bed.thaw, "algo-3")
        limit = math.ceil(scaled(1))
        ssh_config(self, self.bed, "algo-1", f"Host algo-3\n ConnectTimeout {limit}\n")  # not of the others
        done = self.job()
        self.assert_status(done, 125)
        assert_says(self, done, rf"^algo-3: connected, but its ssh server sent no keys within {limit} s")

    @gate
    def test_a_name_that_does_not_resolve(self):
        self.assert_refused(self.job(hosts="algo-1,algo-2,nowhere-[1-2]"), r"^2 hosts: .*: nowhere-\[1-2\]$")

    @gate
    def test_a_port_where_nobody_listens(self):
        ssh_config(self, self.bed, "algo-1", "Host algo-2 algo-4\n Port 2299\n")
        self.assert_refused(self.job(), r"^2 hosts: .*[Cc]onnection refused.*: algo-\[2,4\]$")

    def test_a_host_without_sshd(self):
        stop_sshd(self.bed, "algo-4")
        try:
            self.assert_refused(self.job(), r"^algo-4: .*[Cc]onnection refused")
        finally:
            self.bed.kill("algo-4")
            self.bed.start("algo-4")

    def said_of(self, server, seconds):
        """What is said of algo-2 where `server`, which prints ready, has port 2298 there in place of sshd."""
        with self.bed.popen("algo-2", [PYTHON, "-c", server]) as p:
            p.read_until("ready")
            done = self.job("-p", "2298", "--connect-timeout", f"{scaled(seconds)}s", hosts="algo-2")
            p.kill_group()
        self.assert_status(done, 125)
        return "\n".join(own_lines(done))

    @gate
    def test_something_else_answers_on_the_port(self):
        said = self.said_of("import socket; l = socket.create_server(('', 2298)); print('ready', flush=True)\n"
                            "while True: c = l.accept()[0]; c.recv(100); "
                            "c.send(b'HTTP/1.1 400 Bad Request\\r\\n\\r\\n'); c.close()", 3)
        self.assertRegex(said, r"(?m)^algo-2: .*(no ssh server|closed by the host before|broke before)")

    def test_time_runs_out_after_connections_were_dropped(self):
        said = self.said_of("import socket; l = socket.create_server(('', 2298)); print('ready', flush=True)\n"
                            "for _ in range(2): c = l.accept()[0]; c.recv(100); c.close()\n"
                            "c = l.accept()[0]; c.recv(1 << 20); c.recv(1 << 20)", 2)
        self.assertRegex(said, r"(?m)^algo-2: .*(closed by the host before|broke before)")
        self.assertIn("--ssh-port", said)

    @gate
    def test_one_kind_of_fault_does_not_hide_another(self):
        self.edit("algo-3", "/home/root/.ssh/authorized_keys", lambda _: "")
        said = self.assert_refused(self.job(hosts="algo-1,algo-2,algo-3,nowhere"), r"^algo-3: .*refused the login",
                                   r"^nowhere: ")
        self.assertNotIn("algo-2", said)

    def test_a_lagging_host_is_waited_for(self):
        self.bed.delay(150, "algo-3")
        self.addCleanup(self.bed.delay, 0, "algo-3")
        done = self.job()
        self.assert_status(done, 0)
        self.assertEqual(done.stdout.count("started"), 4)

    @gate
    def test_ctrl_c_while_connecting(self):
        self.bed.cut("algo-3")
        self.addCleanup(self.bed.heal, "algo-3")
        with self.bed.sml_run_popen("algo-1", "-v", "-H", self.bed.hosts(), "sh", "-c", "echo started") as p:
            wait_until(lambda: self.bed.ps("algo-2", "algo-4"))
            p.send_signal(2)
            done = p.finish()
        self.assert_status(done, 130)
        self.assertNotIn("started", done.stdout)


class Programs(Faults):
    def put(self, *hosts, mode=0o755):
        for host in hosts:
            self.addCleanup(self.bed.put(host, "/run/program", "#!/bin/sh\necho started\n", mode=mode).unlink)

    @gate
    def test_a_program_that_two_hosts_lack(self):
        self.put("algo-1", "algo-2")
        self.assert_refused(self.job(command=["/run/program"]), r"^2 hosts: there is no program /run/program: algo-\[3-4\]$",
                            status=127)

    @gate
    def test_a_program_that_only_the_first_host_lacks(self):
        self.put("algo-2", "algo-3", "algo-4")
        self.assert_refused(self.job(command=["/run/program"]), r"^algo-1: there is no program /run/program$", status=127)

    @gate
    def test_a_program_that_may_not_be_executed(self):
        self.put("algo-1", "algo-2", "algo-4")
        self.put("algo-3", mode=0o644)
        self.assert_refused(self.job(command=["/run/program"]), r"^algo-3: /run/program may not be executed$",
                            r"^hint: chmod", status=126)

    def test_a_program_that_is_a_folder(self):
        self.assert_refused(self.job(command=["/run"]), r"^4 hosts: /run is a directory: algo-\[1-4\]$", status=126)

    def test_a_program_without_an_interpreter(self):
        for host in self.bed.names():
            self.addCleanup(self.bed.put(host, "/run/program", "#!/nowhere/sh\n", mode=0o755).unlink)
        done = self.job(command=["/run/program"])
        self.assertIn(done.returncode, (126, 127), done)
        self.assertIn("/run/program", "\n".join(own_lines(done)))

    def test_a_program_that_is_nowhere(self):
        self.assert_refused(self.job(command=["no-such-program"]),
                            r"^4 hosts: there is no program no-such-program: algo-\[1-4\]$", status=127)

    @gate
    def test_a_working_directory_that_one_host_lacks(self):
        for host in ("algo-1", "algo-2", "algo-4"):
            sh(self.bed, host, "mkdir /run/work")
            self.addCleanup(sh, self.bed, host, "rmdir /run/work")
        self.assert_refused(self.job("--wdir", "/run/work"), r"^algo-3: the working directory /run/work ", r"^hint: .*--wdir")

    @gate
    def test_bad_hosts_are_refused_before_anything_is_reached(self):
        logins = [self.bed.sshd_log(h).count("Connection from") for h in self.bed.names()]
        for hosts in ("algo-2,-oProxyCommand=touch${IFS}/run/pwned", "algo-2," + "x" * 10000):  # unit tests have the others
            with self.subTest(hosts=hosts[:50]):
                done = self.job(hosts=hosts)
                self.assert_status(done, 2)
                self.assertLess(len(done.stderr), 1000)
        self.assertEqual([self.bed.sshd_log(h).count("Connection from") for h in self.bed.names()], logins)


class Crowds(HostsCase):
    """sshd that drops connections while others are logging in, as a busy host does."""

    sshd = ["MaxStartups 2:100:2"]

    @gate
    def test_a_dropped_connection_is_tried_again(self):
        hold = ("import socket, sys; s = [socket.create_connection(('algo-2', 22)) for _ in range(2)]\n"
                "[c.recv(8) for c in s]; print('held', flush=True); sys.stdin.read()")
        with self.bed.popen("algo-1", [PYTHON, "-c", hold], stdin=subprocess.PIPE) as holder:
            holder.read_until("held")
            with self.bed.sml_run_popen("algo-1", "-H", "algo-2", "hostname") as job:
                dropped = wait_until(lambda: "drop connection" in self.bed.sshd_log("algo-2"))
                holder.stdin.close()
                done = job.finish()
            holder.kill_group()
        self.assertTrue(dropped)
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "algo-2\n")

    def test_many_launchers_at_once(self):
        """One more than the server takes at a time: each tries again for some seconds only, and log-ins may take as long."""
        jobs = [self.bed.sml_run_popen("algo-1", "-H", "algo-2", "hostname") for _ in range(3)]
        for job in jobs:
            with job:
                self.assert_status(job.finish(), 0)

    def test_a_host_that_always_drops_is_an_error(self):
        hold = ("import socket, sys; s = [socket.create_connection(('algo-2', 22)) for _ in range(2)]\n"
                "[c.recv(8) for c in s]; print('held', flush=True); sys.stdin.read()")
        with self.bed.popen("algo-1", [PYTHON, "-c", hold], stdin=subprocess.PIPE) as holder:
            holder.read_until("held")
            done = self.bed.sml_run("algo-1", "-H", "algo-2", "hostname")
            holder.stdin.close()
        self.assert_status(done, 125)
        self.assertRegex("\n".join(own_lines(done)), r"(?m)^algo-2: the connection (was closed|broke)")
