"""What users come for: torch.distributed trains over hosts that have nothing installed, and the job's end is true."""
import json
import re

from harness import PYTHON, SML_RUN, TRAIN_DDP, TestCase, Testbed, gate, sml_run
from jobs import by_rank, cached_agents, forget_agents, sh

ONE_BINARY = "/run/elsewhere/sml-run"


class FourHosts(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bed = Testbed.shared(4)

    def assert_trained(self, done, ranks, hosts):
        self.assert_status(done, 0)
        self.assertRegex(done.stdout, rf"\[0\] trained: loss .* equal parameters on {ranks} ranks")
        said = re.findall(rf"rank (\d+) of {ranks} on (\S+) \(local rank (\d+)\)", done.stdout)
        per_host = ranks // len(hosts)
        self.assertEqual(sorted((int(r), h, int(local)) for r, h, local in said),
                         [(r, hosts[r // per_host], r % per_host) for r in range(ranks)])

    @gate
    def test_eight_ranks_on_four_hosts_with_nothing_but_one_binary_on_the_first(self):
        forget_agents(self.bed)
        self.bed.put("algo-1", ONE_BINARY, SML_RUN, mode=0o755)
        self.addCleanup(sh, self.bed, "algo-1", "rm -r /run/elsewhere")
        done = self.bed.sml_run("algo-1", "-np", "8", "-H", self.bed.hosts(2), PYTHON, TRAIN_DDP, "--epochs", "2",
                                "--points", "2048", "--out", "/run/model.pt", binary_path=ONE_BINARY)
        self.assert_trained(done, 8, self.bed.names())
        saved = [h for h in self.bed.names() if self.bed.path(h, "/run/model.pt").exists()]
        self.assertEqual(saved, ["algo-1"])
        self.assertEqual([len(cached_agents(self.bed, h)) for h in self.bed.names()[1:]], [1, 1, 1])

    def test_hosts_come_from_resourceconfig(self):
        done = self.bed.sml_run("algo-1", "--nproc-per-node", "2", PYTHON, TRAIN_DDP, "--epochs", "2",
                                "--points", "2048")
        self.assert_trained(done, 8, self.bed.names())
        self.assertIn("/opt/ml/input/config/resourceconfig.json", done.stderr)

    def test_two_jobs_at_once_on_the_same_hosts(self):
        argv = ["-np", "2", "-H", self.bed.hosts(1, ["algo-2", "algo-3"]), PYTHON, TRAIN_DDP, "--epochs", "1",
                "--points", "512"]
        with self.bed.sml_run_popen("algo-2", *argv) as one, self.bed.sml_run_popen("algo-2", *argv) as two:
            for job in (one, two):
                self.assert_trained(job.finish(), 2, ["algo-2", "algo-3"])

    @gate
    def test_the_master_port_is_free_and_the_address_reachable(self):
        listen = ("import os, socket as s; r = int(os.environ['RANK']); "
                  "a = (os.environ['MASTER_ADDR'], int(os.environ['MASTER_PORT']))\n"
                  "if r == 0:\n"
                  " l = s.create_server(('', a[1])); print('bound', flush=True)\n"
                  " for _ in range(3): l.accept()[0].send(b'hello')\n"
                  "else:\n"
                  " import time\n"
                  " while True:\n"
                  "  try: c = s.create_connection(a); break\n"
                  "  except ConnectionRefusedError: time.sleep(.01)\n"
                  " print(c.recv(5).decode())\n")
        for start in ("algo-1", "head"):  # rank 0 on this host, and on another
            done = self.bed.sml_run(start, "--no-torch-store", "-H", self.bed.hosts(1), PYTHON, "-c", listen)
            self.assert_status(done, 0)
            self.assertEqual(by_rank(done.stdout), {0: ["bound"], 1: ["hello"], 2: ["hello"], 3: ["hello"]})

    @gate
    def test_first_failure_ends_the_job_at_once_with_its_status(self):
        script = "test $RANK != 5 || exit 7; sleep 600"
        done = self.bed.sml_run("algo-1", "-np", "8", "-H", self.bed.hosts(2), "sh", "-c", script)
        self.assert_status(done, 7)
        self.assertEqual(self.bed.ps(), [])  # now, not soon
        self.assertRegex(done.stderr, r"sml-run: rank 5 on algo-3 exited with status 7")


class OneHost(TestCase):
    def test_training_on_this_machine(self):
        done = sml_run("-np", "2", PYTHON, TRAIN_DDP, "--epochs", "2", "--points", "1024")
        self.assert_status(done, 0)
        self.assertIn("equal parameters on 2 ranks", done.stdout)

    @gate
    def test_dry_run_names_every_rank(self):
        done = sml_run("--dry-run", "--format", "json", "-np", "3", "-H", "a:1,b:2", "true")
        self.assert_status(done, 0)
        plan = json.loads(done.stdout)
        common = {"world_size": 3, "host_source": "-H", "command": ["true"]}
        self.assertEqual({k: plan[k] for k in common}, common)
        keys = ("index", "name", "slots", "ranks")
        self.assertEqual([[h[k] for k in keys] for h in plan["hosts"]], [[0, "a", 1, [0]], [1, "b", 2, [1, 2]]])
        keys = ("rank", "host", "local_rank", "local_size", "group_rank", "cross_rank", "cross_size")
        self.assertEqual([[r[k] for k in keys] for r in plan["ranks"]],
                         [[0, "a", 0, 1, 0, 0, 2], [1, "b", 0, 2, 1, 1, 2], [2, "b", 1, 2, 1, 0, 1]])

    @gate
    def test_dry_run_of_the_design_page(self):
        done = sml_run("--dry-run", "--format", "json", "-H", "a:2,b:1", "python", "train.py")
        plan = json.loads(done.stdout)
        self.assertEqual(plan["command"], ["python", "train.py"])
        self.assertEqual(plan["hosts"][0] | {"index": 0, "name": "a", "slots": 2, "ranks": [0, 1]}, plan["hosts"][0])
        first = {"rank": 0, "host": "a", "local_rank": 0, "local_size": 2, "group_rank": 0, "cross_rank": 0, "cross_size": 2}
        self.assertEqual(plan["ranks"][0] | first, plan["ranks"][0])
