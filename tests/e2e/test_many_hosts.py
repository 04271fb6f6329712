"""Sixty-four hosts at once."""
from harness import TestCase, Testbed, gate
from jobs import assert_says, by_rank, cached_agents, causes, forget_agents, ssh_config

HOSTS = 64


class ManyHosts(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bed = cls.enterClassContext(Testbed())
        cls.bed.up(HOSTS)

    def setUp(self):
        self.names = [f"algo-{i}" for i in range(1, HOSTS + 1)]

    @gate
    def test_every_rank_runs_and_reaches_the_master(self):
        forget_agents(self.bed)
        script = "exec 3<>/dev/tcp/$MASTER_ADDR/22 && read -u 3 banner && echo $(hostname) $SML_HOST ${banner%%-*} $WORLD_SIZE"
        for start in ("head", "algo-1"):
            done = self.bed.sml_run(start, "-H", f"algo-[1-{HOSTS}]", "bash", "-c", script)
            self.assert_status(done, 0)
            self.assertEqual(by_rank(done.stdout), {r: [f"{h} {h} SSH 64"] for r, h in enumerate(self.names)})
        self.assertEqual([len(cached_agents(self.bed, h)) for h in (self.names[1], self.names[-1])], [1, 1])

    def test_unknown_keys_are_accepted_side_by_side(self):
        known = self.bed.path("head", "/home/root/.ssh/known_hosts")
        was = known.read_text()
        known.unlink()
        self.addCleanup(known.write_text, was)
        done = self.bed.sml_run("head", "--accept-new-host-keys", "-H", f"algo-[1-{HOSTS}]", "true")
        self.assert_status(done, 0)
        self.assertEqual(sorted(ln.split()[0] for ln in known.read_text().splitlines()), sorted(self.names))
        self.assertEqual(known.stat().st_mode & 0o777, 0o600)
        wanted = {ln.split(",")[0]: ln.split()[1:] for ln in was.splitlines()}
        self.assertEqual({ln.split()[0]: ln.split()[1:] for ln in known.read_text().splitlines()},
                         {h: wanted[h] for h in self.names})

    @gate
    def test_one_failure_ends_all(self):
        done = self.bed.sml_run("head", "-H", f"algo-[1-{HOSTS}]:2", "sh", "-c", "test $RANK != 99 || exit 7; sleep 600")
        self.assert_status(done, 7)
        self.bed.assert_clean()  # 128 processes may need longer than the 2 s that sml-run waits for them
        self.assertRegex(causes(done)[0], r"^rank 99 on algo-50 exited with status 7\b")

    def test_few_logins_at_a_time(self):
        done = self.bed.sml_run("head", "--fanout", "4", "-H", f"algo-[1-{HOSTS}]", "hostname")
        self.assert_status(done, 0)
        self.assertEqual(by_rank(done.stdout), {r: [h] for r, h in enumerate(self.names)})

    def test_one_dead_host_of_many(self):
        self.bed.cut("algo-33")
        self.addCleanup(self.bed.heal, "algo-33")
        ssh_config(self, self.bed, "head", "Host algo-33\n ConnectTimeout 1\n")  # the others have longer
        done = self.bed.sml_run("head", "-H", f"algo-[1-{HOSTS}]", "echo", "started")
        self.assert_status(done, 125)
        self.assertNotIn("started", done.stdout)
        assert_says(self, done, "^algo-33: ", never="^algo-(?!33: )")
        self.bed.assert_clean()
