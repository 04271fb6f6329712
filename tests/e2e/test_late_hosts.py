"""Hosts whose names do not resolve yet, or whose SSH servers do not answer yet."""
from harness import SML_RUN, HostsCase, gate, scaled
from jobs import stop_sshd

# What fails at once does so long before this.
HOUR = ("--start-timeout", "1h")


class HostsThatComeLate(HostsCase):
    hosts = 2

    def know(self, name):
        """From now on that name is algo-2's; all hosts share the file."""
        hosts = self.bed.path("algo-1", "/etc/hosts")
        before = hosts.read_text()
        self.addCleanup(hosts.write_text, before)
        hosts.write_text(before + f"{self.bed.address('algo-2')} {name}\n")

    def start(self, *args, **kw):
        """What it prints is all on standard output."""
        words = ["sh", "-c", 'exec "$@" 2>&1', "sh", str(SML_RUN), "--no-tag", "--accept-new-host-keys", *args, "hostname"]
        return self.enterContext(self.bed.popen("algo-1", words, **kw))

    def test_a_name_that_comes_late_is_waited_for_where_that_is_said(self):
        job = self.start(*HOUR, "--wait-for-hosts", "-H", "late-name")
        job.read_until("waiting for late-name (its name does not resolve yet)")
        self.know("late-name")
        done = job.finish()
        self.assert_status(done, 0)
        self.assertIn("algo-2", done.stdout.splitlines())

    def test_a_server_that_comes_late_is_waited_for(self):
        stop_sshd(self.bed, "algo-2")
        job = self.start(*HOUR, "--wait-for-hosts", "-H", "algo-1,algo-2")
        job.read_until("waiting for algo-2 (its SSH server does not answer yet)")
        self.bed.exec("algo-2", ["sh", "-c", "/usr/sbin/sshd -f /run/sshd/sshd_config"])
        done = job.finish()
        self.assert_status(done, 0)
        self.assertIn("algo-2", done.stdout.splitlines())

    def test_where_the_mpi_operator_names_the_hosts_they_are_waited_for(self):
        self.bed.put("algo-1", "/run/hostfile", "late-worker slots=1\n")
        env = {"OMPI_MCA_orte_default_hostfile": "/run/hostfile"}
        job = self.start(*HOUR, "--host-source", "mpi", env=env)
        job.read_until("waiting for late-worker (its name does not resolve yet)")
        self.know("late-worker")
        self.assert_status(job.finish(), 0)

    def test_where_they_are_waited_for_an_option_fails_at_once(self):
        self.bed.put("algo-1", "/run/hostfile", "never-worker slots=1\n")
        done = self.start(*HOUR, "--host-source", "mpi", "--no-wait-for-hosts",
                          env={"OMPI_MCA_orte_default_hostfile": "/run/hostfile"}).finish()
        self.assert_status(done, 125)

    @gate
    def test_a_mistyped_name_fails_at_once(self):
        done = self.start(*HOUR, "-H", "algo-1,algo-9").finish()
        self.assert_status(done, 125)
        self.assertIn("algo-9", done.stdout)

    def test_who_never_comes_is_named(self):
        limit = f"{scaled(3):g}"
        done = self.start("--start-timeout", limit, "--wait-for-hosts", "-H", "never-name").finish()
        self.assert_status(done, 125)
        self.assertIn(f"never-name: not ready after {limit} s (its name does not resolve yet)", done.stdout)
