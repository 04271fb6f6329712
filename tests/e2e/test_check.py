"""--check: what the hosts are like, and whether a job would start; nothing is started and nothing stays."""
import json

import schemas
from harness import HostsCase, TestCase, gate, scaled, sml_run
from jobs import assert_says, edit_file, rows_of, sh, ssh_config

KNOWN = "/home/root/.ssh/known_hosts"


class HereAlone(TestCase):
    def test_this_machine_is_told_of_without_a_program(self):
        done = sml_run("--check")
        self.assert_status(done, 0)
        self.assertIn("the job would start", done.stderr)
        row = rows_of(done)["localhost"]
        self.assertEqual(row["STATE"], "ready")
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 120)

    def test_facts_as_json(self):
        done = sml_run("--check", "--format", "json", "-np", "2", "--wdir", "/usr", "sh", "-c", "echo started")
        self.assert_status(done, 0)
        found = schemas.checked("check", done.stdout)
        self.assertTrue(found["would_start"])
        self.assertEqual(found["world_size"], 2)
        (host,) = found["hosts"]
        facts = host["facts"]
        nofile = json.loads(sml_run("/usr/bin/python3", "-c",
                                    "import resource; print(list(resource.getrlimit(resource.RLIMIT_NOFILE)))").stdout)
        self.assertEqual([facts["limits"]["nofile"]["soft"], facts["limits"]["nofile"]["hard"]], nofile)
        self.assertGreater(facts["memory"]["total"], facts["memory"]["available"])
        self.assertEqual(facts["working_directory"]["path"], "/usr")
        self.assertRegex(facts["programs"][0], "/sh$")
        self.assertGreater(host["round_trip_s"], 0)
        self.assertLessEqual(abs(host["clock_offset_s"]), host["round_trip_s"] + 0.001)  # it is the same clock
        self.assertRegex(facts["system"], "Linux")

    @gate
    def test_what_a_job_would_not_find_decides_the_status(self):
        for words, status, said in ((["/nowhere/prog"], 127, "/nowhere/prog"), (["/etc/passwd"], 126, "may not be executed"),
                                    (["--wdir", "/nowhere", "true"], 125, "/nowhere"), (["--wdir", "/nowhere"], 125, "/nowhere")):
            done = sml_run("--check", *words)
            self.assert_status(done, status)
            self.assertIn(said, done.stderr)
            self.assertIn("localhost", done.stdout)

    def test_a_script_that_is_not_there_is_as_bad_as_a_missing_program(self):
        folder = self.temporary_directory()
        (folder / "here.py").write_text("print('ran')\n")
        for words, status, said in ((["/usr/bin/python3", "-u", "nothere.py"], 2, "there is no file nothere.py for /usr/bin/python3 to run"),
                                    (["sh", "nothere.sh"], 127, "there is no file nothere.sh for sh to run")):
            for check in (["--check"], []):
                done = sml_run(*check, "-np", "2", "--wdir", folder, *words)
                self.assert_status(done, status)
                self.assertIn(f"localhost: {said}\n", done.stderr)
                self.assertIn(f"hint: it is looked for in the working directory, {folder}", done.stderr)
        self.assertEqual(sml_run("--wdir", folder, "/usr/bin/python3", "-u", "here.py").stdout, "ran\n")
        self.assert_status(sml_run("--check", "--wdir", "/", "sh", "ls"), 0)  # a shell looks in PATH, too

    def test_a_mistyped_program_and_a_folder(self):
        for word, status, said in (("pyton3", 127, "hint: did you mean python3?"), ("/usr", 126, "hint: name a program in it")):
            done = sml_run(word)
            self.assert_status(done, status)
            self.assertIn(said, done.stderr)

    def test_usage(self):
        done = sml_run("--check", ":", "true")
        self.assert_status(done, 2)
        self.assertEqual(done.stdout, "")


class Hosts(HostsCase):
    hosts = 4

    def check(self, *words, hosts=None, **kw):
        return self.bed.sml_run("algo-1", "--check", "-H", hosts or self.bed.hosts(2), *words, **kw)

    def cut_off(self, host):
        """And it alone is not waited for long."""
        ssh_config(self, self.bed, "algo-1", f"Host {host}\n ConnectTimeout 1\n")
        self.bed.cut(host)
        self.addCleanup(self.bed.heal, host)

    @gate
    def test_every_host_has_a_line_and_nothing_stays(self):
        done = self.check("sh", "-c", "echo started")
        self.assert_status(done, 0)
        self.assertNotIn("started", done.stdout)
        rows = rows_of(done)
        self.assertEqual(list(rows), self.bed.names())
        for name, row in rows.items():
            self.assertEqual(row["STATE"], "ready")
            self.assertEqual(row["ADDRESS"], self.bed.address(name))
        self.assertRegex(done.stdout, r"(?m)^program: \S+/sh on algo-\[1-4\]$")
        self.assertEqual(self.bed.ps(), [])

    def test_a_host_that_is_cut_off_and_one_with_a_changed_key(self):
        """Both are named, and the others still tell what they are like."""
        shown, other = (sh(self.bed, h, "ssh-keygen -yf /run/sshd/ssh_host_ed25519_key").split()[1] for h in ("algo-3", "algo-4"))
        edit_file(self, self.bed, "algo-1", KNOWN, lambda old: old.replace(shown, other))
        self.cut_off("algo-2")
        done = self.check("hostname")
        self.assert_status(done, 125)
        rows = rows_of(done)
        self.assertEqual({name: row["STATE"] for name, row in rows.items()},
                         {"algo-1": "ready", "algo-2": "no_answer", "algo-3": "host_key", "algo-4": "ready"})
        self.assertEqual(rows["algo-4"]["ADDRESS"], self.bed.address("algo-4"))
        self.assertNotEqual(rows["algo-4"]["CORES"], "-")
        assert_says(self, done, "^algo-2: ")
        assert_says(self, done, "^algo-3: .*key.*changed")
        self.assertEqual(self.bed.ps("algo-1", "algo-3", "algo-4"), [])

    def test_the_same_as_json(self):
        self.cut_off("algo-2")
        done = self.check("--format", "json", "hostname")
        self.assert_status(done, 125)
        found = schemas.checked("check", done.stdout)
        self.assertFalse(found["would_start"])
        self.assertEqual([h["ready"] for h in found["hosts"]], [True, False, True, True])
        self.assertEqual(found["hosts"][1]["faults"][0]["kind"], "timeout")
        self.assertIsNone(found["hosts"][1]["facts"])
        self.assertEqual(found["master_address"], self.bed.address("algo-1"))
        self.assertEqual([h["reaches_rank0"] for h in found["hosts"]], [None, None, True, True])

    @gate
    def test_a_program_that_one_host_lacks(self):
        for host in ("algo-1", "algo-2", "algo-4"):
            self.bed.put(host, "/var/tmp/tool", "#!/bin/sh\nexit 0\n", mode=0o755)
            self.addCleanup(sh, self.bed, host, "rm -f /var/tmp/tool")
        done = self.check("/var/tmp/tool")
        self.assert_status(done, 127)
        states = {name: row["STATE"] for name, row in rows_of(done).items()}
        self.assertEqual(states, {"algo-1": "ready", "algo-2": "ready", "algo-3": "no_program", "algo-4": "ready"})
        assert_says(self, done, "^algo-3: .*/var/tmp/tool")
        self.assertIn("program: /var/tmp/tool on algo-[1-2,4]", done.stdout)

    def test_hosts_that_do_not_reach_each_other(self):
        """The launcher reaches all of them, but they do not reach an address that only it has."""
        done = self.bed.sml_run("head", "--check", "-H", "algo-1,algo-2", "--master-addr", "127.0.0.9", "hostname")
        self.assert_status(done, 125)
        self.assertEqual([row["STATE"] for row in rows_of(done).values()], ["ready", "cut_off"])
        assert_says(self, done, r"^algo-2: cannot reach rank 0 on algo-1 \(127.0.0.9 port \d+: connection refused\)")

    def test_what_would_hurt_is_a_warning(self):
        sh(self.bed, "algo-3", "mount -o remount,size=1m /dev/shm 2>/dev/null || mount -t tmpfs -o size=1m tmpfs /dev/shm")
        self.addCleanup(sh, self.bed, "algo-3", "mount -o remount,size=64m /dev/shm")
        done = self.check("hostname")
        self.assert_status(done, 0)
        self.assertRegex(done.stderr, r"(?m)^sml-run: warning: algo-3: /dev/shm has .* free of 1MiB")
        quiet = self.check("--quiet", "hostname")
        self.assert_status(quiet, 0)
        self.assertNotIn("warning", quiet.stderr)

    def test_a_host_that_hangs_is_given_up(self):
        self.bed.freeze("algo-4")
        try:
            done = self.check("--start-timeout", f"{scaled(3)}s", "hostname")
        finally:
            self.bed.thaw("algo-4")
        self.assert_status(done, 125)
        rows = rows_of(done)
        self.assertEqual(list(rows), self.bed.names())
        self.assertNotEqual(rows["algo-4"]["STATE"], "ready")
        assert_says(self, done, r"\balgo-(\[\d-)?4\]?: ")
