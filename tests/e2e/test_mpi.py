"""Programs of MPICH, unmodified: their ranks find each other by PMI, on one host and on several."""
import os
import pathlib
import re
import subprocess
import tempfile

import schemas
from harness import BUILD, PYTHON, REPO, SML_RUN, HostsCase, TestCase, gate, run, scaled, sml_run, wait_until, watchdog
from jobs import sh

SOURCE = REPO / "tests" / "e2e" / "mpi_program.c"

# Rank 0 asks for the end of the job, as its peer's connection has closed; the peer itself ends a moment later.
TORN_DOWN = """
import os, signal, sys, time
up, told = (os.path.join(sys.argv[1], name) for name in ("up", "told"))
def wait_for(file):
    while not os.path.exists(file):
        time.sleep(0.01)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.environ["RANK"] == "0":
    print("*** An error occurred in Socket closed", file=sys.stderr, flush=True)
    pmi = os.fdopen(os.dup(int(os.environ["PMI_FD"])), "r+b", buffering=0)
    pmi.write(b"cmd=init pmi_version=1 pmi_subversion=1\\n")
    pmi.readline()
    wait_for(up)
    pmi.write(b"cmd=abort exitcode=14\\n")
    open(told, "w").close()
    signal.pause()
open(up, "w").close()
wait_for(told)
time.sleep(0.1)  # its memory is freed
os.kill(os.getpid(), signal.SIGKILL)
"""


def compiled(case, family="mpich"):
    """The program, for a class of tests, where hosts of the testbed see it."""
    folder = pathlib.Path(case.enterClassContext(tempfile.TemporaryDirectory(prefix="sml-e2e-", dir=BUILD / "tests")))
    os.chmod(folder, 0o755)
    subprocess.run([f"mpicc.{family}", "-Wall", "-Wextra", "-Werror", SOURCE, "-o", folder / "program"], check=True, timeout=watchdog())
    return folder / "program"


def words(done):
    return sorted(re.sub(r"^\[\d+\] ", "", line) for line in done.stdout.splitlines())


class OnThisMachine(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = compiled(cls)

    @gate
    def test_ranks_are_one_world(self):
        done = sml_run("-np", "4", self.program, "ring")
        self.assert_status(done, 0)
        self.assertEqual(words(done), [f"ring {r} of 4 got {got}" for r, got in enumerate((6, 1, 3, 6))])
        self.assertNotIn("warning", done.stderr)

    @gate
    def test_check_tells_by_what_they_would_meet(self):
        for line, wanted in (((self.program,), r"PMI-1 or PMI-2 \(linked with libmpich\.so\.12\)"),
                             (("--mpi", "pmi1", self.program), r"PMI-1 \(--mpi pmi1\)"),
                             (("printenv",), r"none \(it can neither load a library nor start a program\)"),
                             (("-x", "PMI_FD=7", self.program), r"none \(its variables name another launcher\)"),
                             (("sh", "-c", "true"), r"PMI-1, PMI-2 or PMIx \(which library it uses is seen only when it runs\)")):
            done = sml_run("--check", "-np", "2", *line)
            self.assert_status(done, 0)
            self.assertRegex(done.stdout, rf"\nMPI: {wanted} on localhost\n")

    @gate
    def test_either_dialect_that_it_speaks_may_be_asked_for(self):
        done = sml_run("--mpi", "pmi1", "-np", "2", self.program, "onesided")
        self.assert_status(done, 0)
        self.assertEqual(words(done), ["onesided 0 of 2 was put 1 and got 1", "onesided 1 of 2 was put 0 and got 0"])

    def test_one_that_it_does_not_speak_is_named(self):
        done = sml_run("--mpi", "pmi2", "-np", "2", self.program, "ring")
        self.assert_status(done, 1)
        self.assertRegex(done.stderr, r"rank [01] on localhost uses PMI-1, and PMI-2 is asked for \(--mpi\)")

    @gate
    def test_abort_ends_the_job_with_its_code(self):
        done = sml_run("-np", "3", self.program, "abort", "7")
        self.assert_status(done, 7)
        self.assertIn("rank 2 on localhost aborted the job (MPI_Abort or an error in MPI, code 7)", done.stderr)

    def test_a_rank_that_is_being_torn_down_is_named_though_its_peer_has_aborted(self):
        done = sml_run("--grace", "1s", "--mpi", "pmi1", "-np", "2", PYTHON, "-c", TORN_DOWN, self.temporary_directory())
        self.assert_status(done, 137)
        self.assertIn("rank 1 on localhost was killed by SIGKILL", done.stderr)

    def test_who_leaves_without_finalize_has_failed(self):
        done = sml_run("-np", "3", self.program, "leave", "0")
        self.assert_status(done, 1)
        self.assertIn("rank 2 on localhost exited with status 0 without MPI_Finalize", done.stderr)
        self.assert_status(sml_run("-np", "3", self.program, "leave", "5"), 5)

    def test_programs_are_told_their_number_and_the_room(self):
        done = sml_run("-H", "localhost:5", "-np", "1", self.program, "places", ":", "-np", "2", self.program, "places")
        self.assert_status(done, 0)
        self.assertEqual(words(done), ["place 0 of 3 node 3 universe 5 program 0", "place 1 of 3 node 3 universe 5 program 1",
                                       "place 2 of 3 node 3 universe 5 program 1"])

    @gate
    def test_a_script_may_start_it(self):
        done = sml_run("-np", "2", "sh", "-c", f"{self.program} ring; echo status $?")
        self.assert_status(done, 0)
        self.assertEqual(words(done), ["ring 0 of 2 got 1", "ring 1 of 2 got 1", "status 0", "status 0"])

    def test_the_launcher_of_its_library_may_be_used_within(self):
        done = sml_run("-np", "1", "sh", "-c", f"mpiexec.hydra -n 2 {self.program} ring")
        self.assert_status(done, 0)
        self.assertEqual(words(done), ["ring 0 of 2 got 1", "ring 1 of 2 got 1"])

    def test_who_cannot_speak_it_gets_no_socket(self):
        """By its file: printenv can neither load a library nor start a program, env can."""
        done = sml_run("-np", "2", "printenv", "PMI_RANK")
        self.assertEqual(words(done), ["0", "1"])
        self.assert_status(sml_run("-np", "2", "printenv", "PMI_FD"), 1)
        self.assertEqual(words(sml_run("--mpi", "pmi1", "-np", "2", "printenv", "PMI_FD")), ["3", "3"])
        self.assertIn("PMI_FD=3", words(sml_run("-np", "2", "env")))

    def test_none_leaves_each_rank_alone_and_says_so(self):
        done = sml_run("--mpi", "none", "-np", "2", self.program, "ring")
        self.assert_status(done, 0)
        self.assertEqual(words(done), ["ring 0 of 1 alone"] * 2)
        self.assertRegex(done.stderr, r"warning: rank 0 on localhost runs alone, as rank 0 of 1: .*--mpi none")

    @gate
    def test_bytes_that_are_no_pmi_fail_that_rank_by_a_sentence(self):
        script = "if [ $PMI_RANK = 1 ]; then echo GET / HTTP/1.1 >&3; fi; sleep 600"
        done = sml_run("-np", "2", "sh", "-c", script)
        self.assert_status(done, 1)
        self.assertRegex(done.stderr, r"rank 1 on localhost sent what is no message of PMI: \"GET / HTTP/1\.1")

    @gate
    def test_a_flood_of_requests_fills_no_memory(self):
        """Nobody takes the answers: what floods is not heard on."""
        script = (f"yes 'cmd=get_maxes' | (echo cmd=init pmi_version=1 pmi_subversion=1; timeout {scaled(2)} cat) >&3; "
                  "grep VmRSS /proc/$PPID/status")
        done = sml_run("-np", "1", "sh", "-c", script)
        self.assertNotIn("descriptor", done.stderr)  # there was somebody to flood
        self.assertLess(int(re.search(r"VmRSS:\s+(\d+) kB", done.stdout)[1]), 20_000)


# How clients of PMI-1 begin that ask as MPICH does where it can spawn, which Debian's cannot.
PMI_CLIENT = r"""
import os, pathlib, socket, sys, time
file = socket.socket(fileno=int(os.environ["PMI_FD"])).makefile("rw")
def ask(line):
    file.write(line + "\n")
    file.flush()
    return file.readline().strip()
ask("cmd=init pmi_version=1 pmi_subversion=1")
"""

# Tells its world, and what it is answered.
SPAWNER = PMI_CLIENT + r"""
me = "%s %s of %s" % ("child" if "PMI_SPAWNED" in os.environ else "parent", os.environ["PMI_RANK"], os.environ["PMI_SIZE"])
def tell(what):
    print(me, what, flush=True)
space = ask("cmd=get_my_kvsname").split("kvsname=")[1]
if "PMI_SPAWNED" not in os.environ and os.environ["PMI_RANK"] == "0":
    count, *words = sys.argv[1:]
    infos = "".join(f"info_num=1\ninfo_key_0={i.split()[0]}\ninfo_val_0={i.split()[1]}\n" for i in [os.environ.get("INFO")] if i)
    args = "".join(f"arg{i + 1}={w}\n" for i, w in enumerate(words[1:]))
    tell(ask(f"mcmd=spawn\nnprocs={count}\nexecname={words[0]}\ntotspawns=1\nspawnssofar=1\n{args}argcnt={len(words) - 1}\n{infos}"
             "preput_num=1\npreput_key_0=PARENT_ROOT_PORT_NAME\npreput_val_0=port#1\nendcmd"))
    if words[0] == "python3" and len(words) == 3:  # a child that is to fail
        pathlib.Path(f"{words[1]}.told{os.environ['SML_ATTEMPT']}").touch()
ask(f"cmd=put kvsname={space} key=from{os.environ['PMI_RANK']} value=here")
ask("cmd=barrier_in")
got = [ask(f"cmd=get kvsname={space} key=from{r}").split("value=")[1] for r in range(int(os.environ["PMI_SIZE"]))]
tell(f"port {ask(f'cmd=get kvsname={space} key=PARENT_ROOT_PORT_NAME').split('value=')[1]} got {' '.join(got)}")
if len(sys.argv) == 2:  # once the parent has told the answer
    while not os.path.exists(f"{sys.argv[0]}.told{os.environ['SML_ATTEMPT']}"):
        time.sleep(0.01)
    os._exit(int(sys.argv[1]))
ask("cmd=finalize")
"""

# One rank that asks for others, each in turn once those before have ended. Words: events file, and per wish its number.
SPAWNER_IN_TURN = PMI_CLIENT + r"""
if "PMI_SPAWNED" not in os.environ:
    ended = 0
    for count in map(int, sys.argv[2:]):
        answer = ask(f"mcmd=spawn\nnprocs={count}\nexecname=python3\ntotspawns=1\nspawnssofar=1\narg1={sys.argv[0]}\nargcnt=1\nendcmd")
        print(answer, flush=True)
        ended += count if answer.endswith("rc=0") else 0
        while pathlib.Path(sys.argv[1]).read_text().count('"rank_exit"') < ended:
            time.sleep(0.01)
else:
    print("child", os.environ["PMI_RANK"], "of", os.environ["PMI_SIZE"], "job", os.environ["SML_JOB_ID"] != "", flush=True)
ask("cmd=finalize")
"""

# Rank 0 publishes a name and ends; rank 1 looks it up when the launcher has told of that.
LATE_LOOKUP = PMI_CLIENT + r"""
if os.environ["PMI_RANK"] == "0":
    ask("cmd=publish_name service=s port=p")
else:
    while '"rank_exit"' not in pathlib.Path(sys.argv[1]).read_text():
        time.sleep(0.01)
    print(ask("cmd=lookup_name service=s"), flush=True)
ask("cmd=finalize")
"""


class Spawning(TestCase):
    """MPI_Comm_spawn as it comes by PMI."""

    def spawner(self):
        file = pathlib.Path(self.temporary_directory()) / "spawner.py"
        file.write_text(SPAWNER)
        return file

    def job(self, *words_of_line, options=()):
        return sml_run("--mpi", "pmi1", "-H", "localhost:5", "-np", "2", *options, "python3", self.spawner(), *words_of_line)

    @gate
    def test_new_ranks_are_a_world_of_their_own_in_the_same_job(self):
        file = self.spawner()
        report = pathlib.Path(self.temporary_directory()) / "report"
        events = pathlib.Path(self.temporary_directory()) / "events"
        logs = pathlib.Path(self.temporary_directory()) / "logs"
        done = sml_run("--mpi", "pmi1", "-H", "localhost:5", "-np", "2", "--report", report, "--events", events, "--log-dir", logs,
                       "python3", file, "3", "python3", file)
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.splitlines()), sorted([
            "[0] parent 0 of 2 cmd=spawn_result rc=0", *(f"[{r}] parent {r} of 2 port unknown got here here" for r in range(2)),
            *(f"[{r + 2}] child {r} of 3 port port#1 got here here here" for r in range(3))]))
        ranks = schemas.checked("report", report.read_text())["ranks"]
        self.assertEqual([one["status"]["exit_code"] for one in ranks], [0] * 5)
        self.assertEqual((logs / "rank.4" / "stdout").read_text(), "child 2 of 3 port port#1 got here here here\n")
        kinds = [e["event"] for e in schemas.checked_lines("event", events.read_text())]
        self.assertEqual(kinds.count("rank_exit"), 5)
        self.assertEqual(kinds.count("ranks_spawned"), 1)

    def test_no_room_is_said_and_none_is_missing_where_nobody_has_counted_slots(self):
        file = self.spawner()
        done = sml_run("--mpi", "pmi1", "-np", "1", "python3", file, "3", "python3", file)
        self.assert_status(done, 0)
        self.assertEqual(len(re.findall(r"child \d of 3 port port#1 got here here here", done.stdout)), 3)

    def test_a_program_is_looked_for_first_where_the_info_says(self):
        file = self.spawner()
        folder = file.parent / "bin"
        folder.mkdir()
        (folder / "printenv").write_text("#!/usr/bin/env python3\n" + SPAWNER)  # there is one in PATH, too
        (folder / "printenv").chmod(0o755)
        for path in (folder, f"/nowhere:{folder}"):
            done = self.job("2", "printenv", options=("-x", f"INFO=path {path}"))
            self.assert_status(done, 0)
            self.assertEqual(len(re.findall(r"child \d of 2 port port#1", done.stdout)), 2)

    def test_one_whose_slots_are_missing_gets_an_error_and_goes_on(self):
        done = self.job("4", "python3", "x.py")
        self.assert_status(done, 0)
        self.assertIn("parent 0 of 2 cmd=spawn_result rc=-1", done.stdout)
        self.assertIn("rank 0 on localhost: MPI_Comm_spawn starts nothing: it wants 4 slots for \"python3\", and on the hosts "
                      "of the job 3 are free\n", done.stderr)

    def test_of_the_numbers_that_will_do_the_largest_for_which_there_are_slots_starts(self):
        spawner = self.spawner()
        for soft, ranks in (("1:8", 3), ("2,4", 2), ("8:1:-7", 1)):
            done = self.job("8", "python3", spawner, options=("-x", f"INFO=soft {soft}"))
            self.assert_status(done, 0)
            self.assertEqual(len(re.findall(rf"child \d of {ranks} port port#1", done.stdout)), ranks, soft)
        done = self.job("8", "python3", spawner, options=("-x", "INFO=soft few"))
        self.assert_status(done, 0)
        self.assertIn("parent 0 of 2 cmd=spawn_result rc=-1", done.stdout)
        self.assertIn('MPI_Comm_spawn starts nothing: it wants "few" ranks (soft), where numbers like 2,4:8:2 are due', done.stderr)

    def test_more_than_slots_start_where_that_is_allowed(self):
        done = self.job("4", "python3", self.spawner(), options=("--oversubscribe",))
        self.assert_status(done, 0)
        self.assertEqual(len(re.findall(r"child \d of 4 ", done.stdout)), 4)

    def test_who_runs_alone_among_new_ranks_is_told(self):
        """It has a place in their world, and its library does not ask for it."""
        done = self.job("1", "sh", "-c", f"exec env -u PMI_FD {compiled(self)} stay")
        self.assert_status(done, 125)
        self.assertRegex(done.stderr, r"stopped: rank 2 on localhost runs alone, as rank 0 of 1: ")

    def test_a_program_that_there_is_not_is_an_error_and_no_end(self):
        done = self.job("1", "no-such-program")
        self.assert_status(done, 0)
        self.assertIn("parent 0 of 2 cmd=spawn_result rc=-1", done.stdout)
        self.assertRegex(done.stderr, r"MPI_Comm_spawn starts nothing: it wants what localhost cannot start: .*no-such-program")

    def test_a_new_rank_that_fails_ends_the_job_and_is_named(self):
        file = self.spawner()
        done = self.job("2", "python3", file, "7")
        self.assert_status(done, 7)
        self.assertRegex(done.stderr, r"rank [23] on localhost exited with status 7")
        done = self.job("2", "python3", file, "0")
        self.assert_status(done, 1)
        self.assertRegex(done.stderr, r"rank [23] on localhost exited with status 0 without MPI_Finalize")

    def test_a_wish_that_is_none_fails_the_rank_by_a_sentence(self):
        script = ("if [ $PMI_RANK = 1 ]; then printf 'cmd=init pmi_version=1 pmi_subversion=1\\nmcmd=spawn\\nnprocs=x\\n"
                  "execname=a\\nendcmd\\n' >&3; fi; sleep 600")
        done = sml_run("-np", "2", "sh", "-c", script)
        self.assert_status(done, 1)
        self.assertIn('rank 1 on localhost sent "spawn" with "x" as nprocs', done.stderr)

    def test_the_next_attempt_begins_with_the_ranks_that_were_planned(self):
        file = self.spawner()
        done = self.job("2", "python3", file, "7", options=("--max-restarts", "1", "--max-fruitless", "0"))
        self.assert_status(done, 7)
        self.assertEqual(len(re.findall("parent 0 of 2 cmd=spawn_result rc=0", done.stdout)), 2)

    def test_a_library_that_cannot_gets_no_further_and_the_job_goes_on(self):
        done = sml_run("-H", "localhost:4", "-np", "2", compiled(self), "spawn", "2")
        self.assert_status(done, 0)
        self.assertEqual(words(done), ["spawn 0 of 2 failed", "spawn 1 of 2 failed"])


class ItsOwnLauncher(TestCase):
    """Links with the names of its launchers."""

    @classmethod
    def setUpClass(cls):
        cls.program = compiled(cls)

    @gate
    def test_lines_of_hydra(self):
        folder = pathlib.Path(self.temporary_directory())
        for name in ("mpiexec", "mpiexec.hydra", "mpirun"):
            (folder / name).symlink_to(SML_RUN)
            done = run([folder / name, "-np", "2", self.program, "ring"])
            self.assert_status(done, 0)
            self.assertEqual(words(done), ["ring 0 of 2 got 1", "ring 1 of 2 got 1"])


class OnHosts(HostsCase):
    hosts = 4

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = compiled(cls)

    def job(self, *words_of_line, wanted):
        """What the ranks of a good job print. Debian's MPICH 4.0 with UCX over TCP often hangs in MPI_Finalize, under its own
        launcher, too: one rank spins for the end of a connection, the others are at the last barrier. All has been
        said then, and the job is stopped."""
        with self.bed.sml_run_popen("algo-1", "--grace", "0.5s", "-x", "UCX_TLS=tcp,self,sm", *map(str, words_of_line)) as job:
            said = ""
            while said.count("\n") < len(wanted):
                said += job.read_until("\n").decode()
            job.terminate()
            done = job.finish()
        done.stdout = said + done.stdout
        self.assertIn(done.returncode, (0, 143), done)
        self.assertEqual(words(done), wanted)

    @gate
    def test_ranks_of_four_hosts_are_one_world(self):
        self.job("-np", "8", "-H", self.bed.hosts(2), self.program, "ring",
                 wanted=[f"ring {r} of 8 got {28 if r == 0 else sum(range(r + 1))}" for r in range(8)])

    def test_much_between_all_of_them(self):
        self.job("-np", "4", "-H", self.bed.hosts(1), self.program, "alltoall",
                 wanted=[f"alltoall {r} of 4 wrong 0" for r in range(4)])

    def test_who_shares_a_host_is_told_for_every_placement(self):
        names = self.bed.names()
        lines = {("-H", f"{names[0]}:3,{names[1]}:1,{names[2]}:2"): [3, 3, 3, 1, 2, 2],
                 ("-H", self.bed.hosts(2), "--map-by", "node", "-np", "6"): [2, 2, 1, 1, 2, 2],
                 ("-H", f"{names[0]}:2,{names[1]}:2", "-np", "3"): [2, 2, 1]}
        for line, sizes in lines.items():
            room = 6 if line[-1].startswith(names[0]) else 8 if "node" in line else 4
            self.job(*line, self.program, "places",
                     wanted=[f"place {r} of {len(sizes)} node {on_node} universe {room} program 0"
                             for r, on_node in enumerate(sizes)])

    def test_spawned_ranks_go_to_all_hosts_that_run_some(self):
        file = pathlib.Path(self.enterContext(tempfile.NamedTemporaryFile(mode="w", suffix=".py", dir=BUILD / "tests")).name)
        file.write_text(SPAWNER)
        file.chmod(0o644)
        names = self.bed.names()
        done = self.bed.sml_run("algo-1", "--mpi", "pmi1", "-np", "3", "-H", f"{names[0]}:2,{names[1]}:3", "--tag", "{rank} {host}: ",
                                "python3", str(file), "2", "python3", str(file))
        self.assert_status(done, 0)
        self.assertEqual(sorted(line for line in done.stdout.splitlines() if "child" in line),
                         [f"{r + 3} {names[1]}: child {r} of 2 port port#1 got here here" for r in range(2)])

    def shared(self, text, name="program.py"):
        """A file that all hosts see, beside which they may write."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="sml-e2e-", dir=BUILD / "tests")))
        (folder / name).write_text(text)
        return folder / name

    def logins(self, host):
        return self.bed.sshd_log(host).count("Accepted")

    @gate
    def test_spawned_ranks_go_to_hosts_that_run_none_when_they_are_asked_for(self):
        file, names = self.shared(SPAWNER), self.bed.names()
        folder = file.parent
        before = [self.logins(name) for name in names]
        done = self.bed.sml_run("algo-1", "--mpi", "pmi1", "-np", "1", "-H", f"{names[0]}:2,{names[1]}:2,{names[2]}:2,{names[3]}:2",
                                "--tag", "{rank} {host}: ", "--report", str(folder / "report"), "--events", str(folder / "events"),
                                "--log-dir", str(folder / "logs"), "python3", str(file), "4", "python3", str(file))
        self.assert_status(done, 0)
        self.assertEqual(sorted(line for line in done.stdout.splitlines() if "child" in line),
                         [f"{r + 1} {names[host]}: child {r} of 4 port port#1 got here here here here"
                          for r, host in enumerate((0, 1, 1, 2))])
        self.assertEqual([self.logins(name) > b for name, b in zip(names, before)], [False, True, True, False])
        report = schemas.checked("report", (folder / "report").read_text())
        self.assertEqual([one["status"]["exit_code"] for one in report["ranks"]], [0] * 5)
        self.assertEqual((folder / "logs" / "rank.4" / "stdout").read_text(),
                         "child 3 of 4 port port#1 got here here here here\n")
        events = schemas.checked_lines("event", (folder / "events").read_text())
        kinds = [one["event"] for one in events]
        self.assertEqual(kinds.count("rank_exit"), 5)
        self.assertEqual([one["host"] for one in events if one["event"] == "host_connected"], names[:3])
        self.assertEqual([one["host"] for one in events if one["event"] == "host_ended"].count(names[2]), 1)

    def test_a_host_whose_spawned_ranks_have_ended_has_others(self):
        file, names = self.shared(SPAWNER_IN_TURN), self.bed.names()
        for options in ((), ("--max-restarts", "1")):  # agents that leave, and agents that wait
            with self.subTest(options=options):
                events = str(file.parent / f"events{len(options)}")
                done = self.bed.sml_run("algo-1", "--mpi", "pmi1", "-np", "1", "-H", f"{names[0]}:1,{names[1]}:2,{names[2]}:1",
                                        *options, "--tag", "{rank} {host}: ", "--events", events, "python3", str(file),
                                        events, "2", "1", "3", "4", "2")
                self.assert_status(done, 0)
                lines = done.stdout.splitlines()
                self.assertEqual([line.split(" msg=")[0] for line in lines if "spawn_result" in line],
                                 [f"0 {names[0]}: cmd=spawn_result rc={rc}" for rc in (0, 0, 0, -1, 0)])
                self.assertEqual(sorted(line for line in lines if "child" in line),
                                 [f"{rank} {names[host]}: child {r} of {n} job True" for rank, host, r, n in
                                  ((1, 1, 0, 2), (2, 1, 1, 2), (3, 1, 0, 1), (4, 1, 0, 3), (5, 1, 1, 3), (6, 2, 2, 3), (7, 1, 0, 2),
                                   (8, 1, 1, 2))])
                self.assertIn("it wants 4 slots for \"python3\", and on the hosts of the job 3 are free", done.stderr)

    def test_a_host_that_cannot_be_reached_is_an_error_and_no_end(self):
        file, names = self.shared(SPAWNER_IN_TURN), self.bed.names()
        events = str(file.parent / "events")
        done = self.bed.sml_run("algo-1", "--mpi", "pmi1", "-np", "1", "-H", f"{names[0]}:1,10.255.0.1:1,{names[2]}:1",
                                "--start-timeout", f"{scaled(3)}s", "--events", events, "python3", str(file), events, "1", "1")
        self.assert_status(done, 0)
        self.assertEqual([line.split(" msg=")[0] for line in words(done) if "spawn_result" in line],
                         ["cmd=spawn_result rc=-1", "cmd=spawn_result rc=0"])  # then the next is asked
        self.assertRegex(done.stderr, f"rank 0 on {names[0]}: MPI_Comm_spawn starts nothing: it wants ranks on 10.255.0.1, "
                                      "which cannot have them: .")
        self.assertIn("child 0 of 1 job True", done.stdout)

    def test_a_host_that_has_no_such_program_is_an_error_and_no_end(self):
        file, names = self.shared(SPAWNER), self.bed.names()
        done = self.bed.sml_run("algo-1", "--mpi", "pmi1", "-np", "1", "-H", f"{names[0]}:1,{names[1]}:1", "python3", str(file), "1",
                                "no-such-program")
        self.assert_status(done, 0)
        self.assertIn("cmd=spawn_result rc=-1", done.stdout)
        self.assertRegex(done.stderr, f"it wants what {names[1]} cannot start: .*no-such-program")

    def test_a_rank_that_fails_on_a_host_that_has_come_ends_the_job(self):
        file, names = self.shared(SPAWNER), self.bed.names()
        done = self.bed.sml_run("algo-1", "--mpi", "pmi1", "-np", "1", "-H", f"{names[0]}:1,{names[1]}:2", "python3", str(file), "2",
                                "python3", str(file), "7")
        self.assert_status(done, 7)
        self.assertRegex(done.stderr, rf"rank [12] on {names[1]} exited with status 7")

    def test_ranks_are_told_of_the_room_that_there_is_for_spawned_ones(self):
        names = self.bed.names()
        self.job("-np", "1", "-H", f"{names[0]}:2,{names[1]}:3", self.program, "places",
                 wanted=["place 0 of 1 node 1 universe 5 program 0"])

    def test_names_outlive_the_ranks_of_the_host_that_keeps_them(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="sml-e2e-", dir=BUILD / "tests")))
        file = folder / "names.py"
        file.write_text(LATE_LOOKUP)
        events = str(folder / "events")
        done = self.bed.sml_run("algo-1", "--mpi", "pmi1", "-np", "2", "-H", self.bed.hosts(1), "--events", events, "python3",
                                str(file), events)
        self.assert_status(done, 0)
        self.assertEqual(words(done), ["cmd=lookup_result info=ok rc=0 msg=success port=p"])

    @gate
    def test_a_rank_that_is_killed_in_a_barrier_ends_the_job(self):
        hosts = ",".join(f"{name}:1" for name in self.bed.names()[:3])
        with self.bed.sml_run_popen("algo-1", "--grace", "1h", "-x", "UCX_TLS=tcp,self,sm", "-np", "3", "-H", hosts,
                                    str(self.program), "wait") as job:
            job.read_until("all wait")
            pid = wait_until(lambda: self.bed.exec(self.bed.names()[1], ["pgrep", "-x", "program"]).stdout.split())
            sh(self.bed, self.bed.names()[1], f"kill -9 {pid[-1]}")
            done = job.finish()
        self.assert_status(done, 137)
        self.assertRegex(done.stderr, r"rank 1 on algo-2 was killed by SIGKILL")
