"""Which rank is where, on which processors, and which devices it sees."""
import json
import os
import re
import subprocess

import schemas
from harness import SML_RUN, HostsCase, TestCase, Testbed, gate, run, sml_run
from jobs import by_rank, own_lines, ssh_config

AFFINITY = "import os; print(*sorted(os.sched_getaffinity(0)), os.environ.get('OMP_NUM_THREADS'))"
PYTHON = ["/usr/bin/python3", "-c", AFFINITY]


def cpus_of_core(core):
    """What hwloc takes for a core's processors, of those that we may use."""
    done = subprocess.run(["hwloc-calc", "-q", "--physical-output", "--intersect", "PU", f"core:{core}"], check=True,
                          stdout=subprocess.PIPE, text=True)
    return [int(n) for n in done.stdout.strip().split(",")]


class Placement(TestCase):
    def hosts_of(self, *options):
        done = sml_run("--dry-run", "--format", "json", *options, "true")
        self.assert_status(done, 0)
        return [rank["host"] for rank in json.loads(done.stdout)["ranks"]]

    @gate
    def test_ranks_are_placed_as_open_mpi_places_them(self):
        hosts = ["-H", "a:2,b:4"]
        self.assertEqual(self.hosts_of(*hosts), list("aabbbb"))
        self.assertEqual(self.hosts_of(*hosts, "-map-by", "node"), list("abab" "bb"))
        self.assertEqual(self.hosts_of(*hosts, "--ranks-per-host", "2", "--rank-by", "host"), list("abab"))
        self.assertEqual(self.hosts_of(*hosts, "--map-by", "ppr:2:node", "-np", "3"), list("aab"))

    def test_what_counts_devices_is_started_only_where_it_is(self):
        tools = self.temporary_directory()

        def last_pid():
            """The last process of a namespace in which sml-run was the second."""
            script = '"$0" --dry-run -x PATH=/bin true >&2; read -r a </proc/loadavg; echo "$a"'
            done = run(["/usr/bin/unshare", "--fork", "--pid", "--mount-proc", "/bin/sh", "-c", script, SML_RUN],
                       env={"PATH": str(tools)})
            return int(done.stdout.split()[-1])

        self.assertEqual(last_pid(), 2)
        (tools / "nvidia-smi").write_text("#!/bin/sh\necho 'GPU 0: of a test'\n")
        (tools / "nvidia-smi").chmod(0o755)
        self.assertEqual(last_pid(), 3)

    def test_a_rankfile_that_is_wrong_starts_nothing_and_names_its_line(self):
        path = os.path.join(self.temporary_directory(), "ranks")
        with open(path, "w") as f:
            f.write("rank 0=localhost slot=0\nrank 0=localhost slot=0\n")
        done = sml_run("--rankfile", path, "true")
        self.assert_status(done, 2)
        self.assertIn(f"{path}:2: rank 0 is in line 1 already", done.stderr)


class Binding(TestCase):
    def setUp(self):
        self.cpus = sorted(os.sched_getaffinity(0))
        if len(self.cpus) < 2:
            self.skipTest("binding needs two processors")

    @gate
    def test_workers_have_cores_of_their_own_as_hwloc_counts_them(self):
        done = sml_run("-np", "2", "--bind-to", "core", "--report-bindings", *PYTHON)
        self.assert_status(done, 0)
        for rank, lines in by_rank(done.stdout).items():
            wanted = cpus_of_core(rank)
            self.assertEqual(lines, [" ".join(map(str, [*wanted, len(wanted)]))])
            self.assertRegex(done.stderr, rf"rank {rank} on localhost is bound to socket \d+, NUMA node \d+, core {rank}, CPU")

    def test_nice_workers_yield_to_the_launcher(self):
        own = os.getpriority(os.PRIO_PROCESS, 0)
        show = ["python3", "-c", "import os; print(*(os.getpriority(os.PRIO_PROCESS, p) for p in (0, os.getppid())))"]
        for words in (["--nice", "7"], ["--nice", "7", "--bind-to", "core"], ["--nice", "7", "--preload", "json"]):
            done = sml_run("-np", "2", *words, *show)
            self.assert_status(done, 0)
            self.assertEqual(by_rank(done.stdout), {rank: [f"{own + 7} {own}"] for rank in (0, 1)}, words)

    def test_workers_have_the_io_priority_that_is_asked_for(self):
        own = run(["ionice"]).stdout.strip()
        script = self.temporary_directory() / "show.py"
        script.write_text('import os\nfor pid in os.getpid(), os.getppid():\n    os.system(f"ionice -p {pid}")\n')
        for words, shown in ((["idle"], "idle"), (["best-effort:6"], "best-effort: prio 6"), (["idle", "--preload", "json"], "idle")):
            done = sml_run("-np", "2", "--ionice", *words, PYTHON[0], script)
            self.assert_status(done, 0)
            self.assertNotIn("without it", done.stderr)
            self.assertEqual(by_rank(done.stdout), {rank: [shown, own] for rank in (0, 1)}, words)

    def test_threads_are_shared_out_where_nothing_is_bound(self):
        show = ["sh", "-c", "echo ${OMP_NUM_THREADS-none}"]
        share = str(len(self.cpus) // 2)
        for words, wanted in ((["-np", "2"], share), (["-np", "1"], "none"), (["-np", "2", "-x", "OMP_NUM_THREADS=7"], "7")):
            done = sml_run(*words, "--no-tag", *show, env={k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"})
            self.assert_status(done, 0)
            self.assertEqual(set(done.stdout.split()), {wanted}, words)

    def test_a_narrower_affinity_is_kept_to(self):
        last = self.cpus[-1]
        done = sml_run("-np", "2", "--bind-to", "socket", *PYTHON, preexec_fn=lambda: os.sched_setaffinity(0, {last}))
        self.assert_status(done, 0)
        self.assertEqual(by_rank(done.stdout), {0: [f"{last} 1"], 1: [f"{last} 1"]})

    def test_the_impossible_is_a_warning_or_an_error(self):
        too_many = ["-np", "2", "--bind-to", "core", "--cpus-per-rank", "4096"]
        done = sml_run(*too_many, *PYTHON)
        self.assert_status(done, 0)
        self.assertIn("localhost: the workers cannot be bound: 2 workers with 4096 cores each are more", done.stderr)
        self.assertEqual(by_rank(done.stdout)[1], [" ".join(map(str, [*self.cpus, 4096]))])
        done = sml_run(*too_many, "--bind-strict", *PYTHON)
        self.assert_status(done, 125)
        self.assertEqual(done.stdout, "")

    def test_a_rankfile_binds_and_threads_that_are_set_stay(self):
        path = os.path.join(self.temporary_directory(), "ranks")
        with open(path, "w") as f:
            f.write("rank 0=localhost slot=0:1\nrank 1=localhost\n")
        done = sml_run("--rankfile", path, "-x", "OMP_NUM_THREADS=7", *PYTHON)
        self.assert_status(done, 0)
        self.assertEqual(by_rank(done.stdout), {0: [" ".join(map(str, [*cpus_of_core(1), 7]))],
                                                1: [" ".join(map(str, [*self.cpus, 7]))]})


class Devices(TestCase):
    def seen(self, *options):
        return sml_run(*options, "sh", "-c", 'echo "$CUDA_VISIBLE_DEVICES"')

    @gate
    def test_each_worker_sees_its_share_of_the_list(self):
        listed = ["-np", "2", "-x", "CUDA_VISIBLE_DEVICES=4,5,6,7"]
        for options, wanted in ((["--visible-devices", "per-rank"], ["4", "5"]), (["--gpus-per-rank", "2"], ["4,5", "6,7"]),
                                ([], ["4,5,6,7"] * 2), (["--visible-devices", "none"], ["-1", "-1"])):
            done = self.seen(*listed, *options)
            self.assert_status(done, 0)
            self.assertEqual(by_rank(done.stdout), {rank: [text] for rank, text in enumerate(wanted)})

    def test_too_few_devices_start_nothing(self):
        done = self.seen("-np", "2", "-x", "CUDA_VISIBLE_DEVICES=4", "--visible-devices", "per-rank")
        self.assert_status(done, 125)
        self.assertTrue(re.search("local rank 1 cannot have 1 device of its own: there is only 1 NVIDIA GPU", done.stderr))


class TwoHosts(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bed = Testbed.shared(2)

    @gate
    def test_rank_0_of_a_rankfile_holds_the_meeting_wherever_it_is(self):
        self.addCleanup(self.bed.exec, "head", ["rm", "/tmp/ranks"])
        self.bed.put("head", "/tmp/ranks", b"rank 0=algo-2 slot=0:0\nrank 1=algo-1\nrank 2=+n1\n")
        show = "echo $SML_HOST $MASTER_ADDR $LOCAL_RANK $GROUP_RANK $(grep -o 'list:.*' /proc/self/status | head -1)"
        done = self.bed.sml_run("head", "-H", "algo-1:1,algo-2:2", "--rankfile", "/tmp/ranks", "sh", "-c", show)
        self.assert_status(done, 0)
        lines = {rank: lines[0].split() for rank, lines in by_rank(done.stdout).items()}
        meeting = self.bed.address("algo-2")
        self.assertEqual({rank: words[:4] for rank, words in lines.items()},
                         {0: ["algo-2", meeting, "0", "0"], 1: ["algo-1", meeting, "0", "1"],
                          2: ["algo-2", meeting, "1", "0"]})
        self.assertEqual(lines[0][-1], ",".join(map(str, cpus_of_core(0))), done)
        self.assertNotEqual(lines[0][-1], lines[2][-1])

    def test_ranks_that_go_round_the_hosts_are_one_job(self):
        show = "echo $SML_HOST $LOCAL_RANK/$LOCAL_WORLD_SIZE $CROSS_RANK/$CROSS_SIZE"
        done = self.bed.sml_run("head", "-H", "algo-1:1,algo-2:2", "--map-by", "host", "sh", "-c", show)
        self.assert_status(done, 0)
        self.assertEqual(by_rank(done.stdout), {0: ["algo-1 0/1 0/2"], 1: ["algo-2 0/2 1/2"], 2: ["algo-2 1/2 0/1"]})


class OneMachine(HostsCase):
    """A machine under several names is one host, however the names are known to be its."""
    SHOW = ["sh", "-c", "echo $SML_HOST $LOCAL_RANK/$LOCAL_WORLD_SIZE $GROUP_RANK $(hostname)"]

    def setUp(self):
        ssh_config(self, self.bed, "algo-1", "Host twin other\n HostName algo-2\n")

    def run_on(self, hosts, *words, **kw):
        done = self.bed.sml_run("algo-1", "-H", hosts, *words, **kw)
        self.assert_status(done, 0)
        return done

    @gate
    def test_its_ranks_have_consecutive_local_ranks_and_one_agent(self):
        done = self.run_on("algo-2:2,algo-1:1,twin:1", *self.SHOW)
        self.assertEqual(by_rank(done.stdout),
                         {0: ["algo-2 0/3 0 algo-2"], 1: ["algo-2 1/3 0 algo-2"], 2: ["algo-2 2/3 0 algo-2"],
                          3: ["algo-1 0/1 1 algo-1"]})
        self.assertIn("warning: twin is the same machine as algo-2: one host with the slots of both", own_lines(done))
        parents = self.run_on("algo-2:1,twin:1,other:1", "-np", "3", "sh", "-c", "echo $PPID").stdout
        self.assertEqual(len({line for lines in by_rank(parents).values() for line in lines}), 1, parents)

    def test_where_another_host_is_out_the_job_goes_on_without_the_other_name(self):
        done = self.run_on("algo-2:1,twin:1,nowhere:1", "--max-restarts", "1", "--min-hosts", "1", "--restart-delay", "0:0", "hostname")
        self.assertEqual(done.stdout.splitlines()[-1].split()[-1], "algo-2")
        self.assertIn("twin: is the same machine as algo-2", done.stderr)

    @gate
    def test_this_machine_by_any_name(self):
        address = self.bed.address("algo-1")
        done = self.run_on(f"localhost:1,{address}:2", *self.SHOW)
        self.assertEqual(by_rank(done.stdout), {r: [f"localhost {r}/3 0 algo-1"] for r in range(3)})

    def test_a_rankfile_may_use_all_names(self):
        self.bed.put("algo-1", "/run/ranks", "rank 0=+n1\nrank 1=algo-1\nrank 2=algo-2\n")
        self.addCleanup(self.bed.path("algo-1", "/run/ranks").unlink)
        done = self.run_on("algo-2:1,twin:1,algo-1:1", "--rankfile", "/run/ranks", *self.SHOW)
        # by the name of the host with the first rank
        self.assertEqual(by_rank(done.stdout), {0: ["twin 0/2 0 algo-2"], 1: ["algo-1 0/1 1 algo-1"],
                                                2: ["twin 1/2 0 algo-2"]})

    def test_programs_that_use_different_names(self):
        done = self.run_on("algo-2:1", *self.SHOW, ":", "-H", "twin:2", *self.SHOW)
        self.assertEqual([lines[0].split()[1] for _, lines in sorted(by_rank(done.stdout).items())], ["0/3", "1/3", "2/3"])

    def test_events_tell_of_the_job_that_runs(self):
        self.addCleanup(lambda: self.bed.path("algo-1", "/run/events").unlink(missing_ok=True))
        self.run_on("algo-2:1,twin:1", "--events", "/run/events", "true")
        events = schemas.checked_lines("event", self.bed.path("algo-1", "/run/events").read_text())
        begins = [e for e in events if e["event"] == "job_start"]
        self.assertEqual(len(begins), 1, events[0])

    def test_hosts_stay_connected_and_nothing_is_said_twice(self):
        def logins():
            return self.bed.sshd_log("algo-2").count("Accepted publickey")

        self.addCleanup(lambda: self.bed.path("algo-1", "/run/report").unlink(missing_ok=True))
        before = logins()
        done = self.run_on("algo-2:1,algo-1:1,twin:1", "--verbose", "-x", "RANK=7", "--report", "/run/report", "sh", "-c",
                           "test $RANK = 0 && cat; echo done", input="asked\n")
        self.assertEqual(by_rank(done.stdout), {0: ["asked", "done"], 1: ["done"], 2: ["done"]})
        self.assertEqual(logins(), before + 2, "once for each name")
        said = done.stderr.splitlines()
        warnings = [line for line in said if "warning:" in line]
        self.assertEqual(len(warnings), len(set(warnings)), said)
        self.assertEqual([line for line in said if "ignored" in line], [])
        report = schemas.checked("report", self.bed.path("algo-1", "/run/report").read_text())
        self.assertEqual([attempt["hosts"] for attempt in report["attempts"]], [["algo-2", "algo-1"]])
        self.assertEqual([host["host"] for host in report["hosts"]], ["algo-2", "algo-1"])

    def test_one_that_the_others_names_had_kept_out_comes_in(self):
        done = self.run_on("algo-2:1,twin:1,algo-1:1", "--host-count", "2", *self.SHOW)
        self.assertEqual(by_rank(done.stdout), {0: ["algo-2 0/2 0 algo-2"], 1: ["algo-2 1/2 0 algo-2"],
                                                2: ["algo-1 0/1 1 algo-1"]})

    def test_what_cannot_be_planned_so_is_said(self):
        done = self.bed.sml_run("algo-1", "-H", "algo-2:60000,twin:60000", "--map-by", "node", "-np", "2", "true")
        self.assert_status(done, 2)
        self.assertIn("algo-2 and twin are one machine, with 120000 slots; a host has at most 65536", done.stderr)

    def test_a_restart_does_not_need_the_other_name(self):
        script = "test $SML_ATTEMPT = 1 && exit 3; echo $SML_HOST $SML_ATTEMPT"
        done = self.run_on("algo-2:1,twin:1", "--max-restarts", "1", "--restart-delay", "0", "sh", "-c", script)
        self.assertEqual(by_rank(done.stdout), {0: ["algo-2 2"], 1: ["algo-2 2"]})

    def test_the_check_tells(self):
        done = self.run_on("algo-2:1,twin:1", "--check")
        self.assertIn("warning: algo-2,twin are one machine: the job has it as one host with the slots of all",
                      own_lines(done))

    @gate
    def test_another_user_is_another_host(self):
        done = self.run_on("root@algo-2:1,tester@twin:1", "id", "-un")
        self.assertEqual(by_rank(done.stdout), {0: ["root"], 1: ["tester"]})
