"""What whoever writes names, arguments and variables of a job can not do with them."""
import json
import re

from harness import gate
from jobs import PROBE, assert_says, by_rank, edit_file, forget_agents, shown
from on_hosts import OnHosts

BAD_NAMES = ["-oProxyCommand=touch${IFS}/run/pwned", "a;id", "$(touch /run/pwned)", "`touch /run/pwned`", "a b", "a%h", "a'b",
             "x" * 10000, "a\nb", "hôst", "\x1b[2Ja", "|id", "&id", "../a", "a>b"]


class Names(OnHosts):
    def assert_refused(self, done):
        self.assert_status(done, 2)
        self.assertLess(len(done.stderr), 1000)
        self.assertNotRegex(done.stderr, "[\x1b\x00]")

    def setUp(self):
        self.before = [self.bed.sshd_log(h).count("Connection from") for h in self.bed.names()]
        self.addCleanup(self.check_untouched)

    def check_untouched(self):
        self.assertEqual([self.bed.sshd_log(h).count("Connection from") for h in self.bed.names()], self.before)
        for host in self.bed.names():
            self.assertFalse(self.bed.path(host, "/run/pwned").exists())

    @gate
    def test_hosts(self):
        for name in BAD_NAMES:
            with self.subTest(name=name[:40]):
                self.assert_refused(self.bed.sml_run("algo-1", "-H", f"algo-2,{name}", "true"))

    def test_hosts_of_a_resource_config(self):
        for name in [*BAD_NAMES, "a\0b"]:
            with self.subTest(name=name[:40]):
                text = json.dumps({"current_host": "algo-1", "hosts": ["algo-1", name]})
                self.put("algo-1", "/run/rc.json", text)
                self.assert_refused(self.bed.sml_run("algo-1", "--resource-config", "/run/rc.json", "true"))

    def test_users(self):
        for name in [*BAD_NAMES, "-l", "x" * 65]:
            with self.subTest(name=name[:40]):
                if "@" not in name:
                    self.assert_refused(self.bed.sml_run("algo-1", "-H", f"{name}@algo-2", "true"))
                self.assert_refused(self.bed.sml_run("algo-1", "-H", "algo-2", f"--ssh-user={name}", "true"))

    @gate
    def test_variables(self):
        for word in ("A;B", "A;B=1", "1A=2", "A B=1", "=x", "A\nB=1", "$(id)=1"):
            with self.subTest(word=word):
                self.assert_refused(self.bed.sml_run("algo-1", "-H", "algo-2", "-x", word, "true"))


class Environment(OnHosts):
    @gate
    def test_too_much_for_the_system_is_a_clear_error(self):
        """What the launcher was given may be too much for a host where less is allowed: a quarter of the stack's limit."""
        edit_file(self, self.bed, "algo-2", "/home/root/.bashrc", lambda _: "ulimit -s 1024\n")
        words = ["x" * 1000] * 200
        self.assert_status(self.job("true", *words), 0)
        self.assert_too_much(self.job("true", *words, *words), "rank 1 on algo-2")

    def test_a_value_that_no_process_can_be_given(self):
        """The kernel takes 128 KiB in one piece, but a file can hold more."""
        self.put("algo-1", "/run/large.env", "LARGE=" + "x" * (128 << 10) + "\n")
        self.assert_too_much(self.job("--env-file", "/run/large.env", "true"), r"rank \d on algo-\d")

    def assert_too_much(self, done, who):
        self.assert_status(done, 126)
        assert_says(self, done, f"^{who} did not start: cannot execute the program: argument list too long ")
        self.assertLess(len(done.stderr), 1000)

    @gate
    def test_variables_of_the_loader_and_shell_reach_workers_only(self):
        """They are part of the workers' environment: neither the start script nor the agent has them."""
        trap = "touch /run/trapped"
        for host in self.bed.names():
            self.put(host, "/run/trap.sh", trap + "\n")
        values = {"LD_PRELOAD": "libm.so.6", "LD_LIBRARY_PATH": "/run", "BASH_ENV": "/run/trap.sh", "ENV": "/run/trap.sh",
                  "PATH": "/run/traps:/usr/bin:/bin", "GLIBC_TUNABLES": "glibc.malloc.check=0", "IFS": "x"}
        options = [w for k, v in values.items() for w in ("-x", f"{k}={v}")]
        forget_agents(self.bed)
        with self.running("-H", "algo-1,algo-2", *options):
            for host in ("algo-1", "algo-2"):
                rows = [p for p in self.bed.ps(host) if re.search(r"agent.* --mark", p["cmd"])]
                self.assertTrue(rows, self.bed.ps(host))
                for row in rows:
                    place = self.bed.path(host, f"/proc/{row['pid']}/environ")
                    environ = place.read_bytes().split(b"\0")
                    for name, value in values.items():
                        self.assertNotIn(f"{name}={value}".encode(), environ, f"{name} in {row}")
        done = self.job(*options, PROBE, "show", "env")
        self.assert_status(done, 0)
        for answer in shown(done.stdout, 2).values():
            env = answer.env()
            self.assertEqual({k: env[k.encode()].decode() for k in values}, values)
        for host in self.bed.names():
            self.assertFalse(self.bed.path(host, "/run/trapped").exists())

    def test_a_login_that_preloads_is_the_workers_own(self):
        edit_file(self, self.bed, "algo-2", "/home/root/.bashrc", lambda _: "export LD_PRELOAD=/run/nothing.so\n")
        forget_agents(self.bed)
        done = self.job("--export", "none", "sh", "-c", "echo $LD_PRELOAD.")
        self.assert_status(done, 0)
        self.assertEqual(by_rank(done.stdout), {0: ["."], 1: ["/run/nothing.so."]})
