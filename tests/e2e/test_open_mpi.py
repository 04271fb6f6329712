"""Programs of Open MPI, unmodified: their ranks find each other by PMIx, which the host's own libpmix serves."""
import os
import pathlib
import re
import signal
import subprocess

from harness import REPO, SML_RUN, HostsCase, TestCase, gate, run, sml_run, sml_run_popen, wait_until, watchdog
from jobs import sh
from test_mpi import compiled, words

HELPER = "sml-run-pmix"
# For ranks that run alone: each makes and clears a folder that the user's others use too, and fails where one of these clears it
# just then. That is Open MPI's own, and so is the way to do without.
ALONE = ("-x", "OMPI_MCA_orte_create_session_dirs=0")


LOGGING_CLIENT = """
import ctypes, sys
class Proc(ctypes.Structure):
    _fields_ = [("nspace", ctypes.c_char * 256), ("rank", ctypes.c_uint32)]
class Value(ctypes.Structure):
    _fields_ = [("type", ctypes.c_uint16), ("string", ctypes.c_char_p), ("rest", ctypes.c_void_p * 2)]
class Info(ctypes.Structure):
    _fields_ = [("key", ctypes.c_char * 512), ("flags", ctypes.c_uint32), ("value", Value)]
pmix, proc = ctypes.CDLL("libpmix.so.2"), Proc()
assert pmix.PMIx_Init(ctypes.byref(proc), None, 0) == 0
text = f"rank {proc.rank} is wrong\\nin line two\\n".encode()
info = Info(sys.argv[1].encode(), 0, Value(3, text))
if pmix.PMIx_Log(ctypes.byref(info), ctypes.c_size_t(1), None, ctypes.c_size_t(0)) != 0:
    print("refused", flush=True)
assert pmix.PMIx_Finalize(None, 0) == 0
"""


class OnThisMachine(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = compiled(cls, "openmpi")

    @gate
    def test_ranks_are_one_world(self):
        done = sml_run("-np", "4", self.program, "ring")
        self.assert_status(done, 0)
        self.assertEqual(words(done), [f"ring {r} of 4 got {got}" for r, got in enumerate((6, 1, 3, 6))])
        self.assertNotIn("warning", done.stderr)

    @gate
    def test_under_the_names_of_launchers_too(self):
        folder = pathlib.Path(self.temporary_directory())
        for name in ("mpirun", "mpiexec"):
            (folder / name).symlink_to(SML_RUN)
            done = run([folder / name, "-np", "2", "--oversubscribe", self.program, "ring"])
            self.assert_status(done, 0)
            self.assertEqual([re.sub(r"^.*ring", "ring", line) for line in words(done)],
                             ["ring 0 of 2 got 1", "ring 1 of 2 got 1"])

    @gate
    def test_its_launchers_name_gives_ranks_a_terminal_so_that_no_line_is_late_or_lost(self):
        """As Open MPI's own does: as standard output alone, with bytes as they are."""
        folder = pathlib.Path(self.temporary_directory())
        (folder / "mpirun").symlink_to(SML_RUN)
        look = r"for fd in 0 1 2; do [ ! -t $fd ] || echo terminal $fd; done; printf 'a\tb\r\nc\004d\377\n'"
        shows = ["terminal 1", "a\tb\r", "c\x04d\udcff"]
        lines = [f"step 41 done on rank {r}" for r in range(2)]
        for command, terminal in (([folder / "mpirun"], True), ([folder / "mpirun", "--no-pty"], False),
                                  ([SML_RUN, "--no-tag"], False), ([SML_RUN, "--no-tag", "--pty"], True)):
            with self.subTest(command):
                done = run([*command, "-np", "1", "sh", "-c", look])
                self.assert_status(done, 0)
                self.assertEqual(done.stdout.split("\n")[:-1], shows if terminal else shows[1:])
                done = run([*command, "-np", "2", "--oversubscribe", self.program, "crash"])
                self.assert_status(done, 139)
                self.assertEqual(words(done), lines if terminal else [])
                self.assertEqual("--pty has each come at once" in done.stderr, not terminal)

    def test_what_jax_is_given_misleads_nobody(self):
        done = sml_run("--preset", "jax", "-np", "2", self.program, "ring")
        self.assert_status(done, 0)
        self.assertEqual(words(done), ["ring 0 of 2 got 1", "ring 1 of 2 got 1"])

    def test_abort_ends_the_job_with_its_code(self):
        done = sml_run("-np", "3", self.program, "abort", "7")
        self.assert_status(done, 7)
        self.assertIn("rank 2 on localhost aborted the job (MPI_Abort or an error in MPI, code 7)", done.stderr)

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

    def test_what_is_bound_is_what_the_library_sees(self):
        """Two ranks on cores of their own share the NUMA node; on one core both; unbound ones nothing that is known."""
        first, second = self.use_two_processors()
        for where, wanted in (("core", [f"to {first} core 1 numa 2", f"to {second} core 1 numa 2"]),
                              ("numa", [f"to {first} {second} core 2 numa 2"] * 2),
                              ("none", [f"to {first} {second} core 1 numa 1"] * 2)):
            done = sml_run("--bind-to", where, "-np", "2", self.program, "bound")
            self.assert_status(done, 0)
            self.assertEqual([line.split(" ", 4)[4] for line in words(done)], wanted, where)

    def use_two_processors(self):
        """Alone, of two cores of one NUMA node; the machine may have more."""
        def node_of(cpu):
            return next(pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}").glob("node*"), pathlib.Path("node0")).name

        def core_of(cpu):
            topology = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology")
            return [(topology / name).read_text() for name in ("physical_package_id", "core_id")]

        allowed = sorted(os.sched_getaffinity(0))
        pair = next((a, b) for a in allowed for b in allowed if a < b and node_of(a) == node_of(b) and core_of(a) != core_of(b))
        self.addCleanup(os.sched_setaffinity, 0, allowed)
        os.sched_setaffinity(0, pair)
        return pair

    def test_a_library_that_cannot_be_loaded_is_told_before_anything_starts(self):
        done = sml_run("--pmix", "/nowhere/libpmix.so.2", "-np", "2", self.program, "ring")
        self.assert_status(done, 125)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"localhost: PMIx, which Open MPI needs, cannot be served: no libpmix can be loaded "
                                      r"\(/nowhere/libpmix\.so\.2: ")
        self.assertNotIn("could not be ended", done.stderr)

    def test_another_library_than_libpmix_is_told_by_what_it_lacks(self):
        library = next(pathlib.Path("/usr/lib").glob(f"{os.uname().machine}-*/libz.so.1"))
        done = sml_run("--pmix", library, "-np", "2", self.program, "ring")
        self.assert_status(done, 125)
        self.assertIn(f"{library} lacks PMIx_Get_version", done.stderr)

    def test_none_leaves_each_rank_alone_and_says_so(self):
        done = sml_run("--mpi", "none", *ALONE, "-np", "2", self.program, "places")
        self.assert_status(done, 0)
        self.assertEqual([line[:14] for line in words(done)], ["place 0 of 1 n"] * 2)
        self.assertRegex(done.stderr, r"warning: rank 0 on localhost runs alone, as rank 0 of 1: .*--mpi none")

    @gate
    def test_the_death_of_the_helper_ends_the_job_by_name(self):
        script = f"[ $RANK = 1 ] || until kill -9 $(pgrep -P $PPID -x {HELPER}); do :; done 2> /dev/null; exec {self.program} wait"
        done = sml_run("--mpi", "pmix", "-np", "2", "sh", "-c", script)
        self.assert_status(done, 125)
        self.assertRegex(done.stderr, r"rank 0 on localhost was left without PMIx, as libpmix's helper \(.*libpmix.*\) "
                                      r"(has ended|was killed by SIGKILL)")

    @gate
    def test_the_helper_outlives_what_asks_its_ranks_to_end(self):
        for word in ("ALRM", "PWR"):
            number = int(getattr(signal, f"SIG{word}"))
            line = ("--no-tag", "-np", "2", "--grace", "1h", "--stop-signal", word, self.program, "asked", str(number))
            with self.subTest(word), sml_run_popen(*line) as job:
                job.read_until("all wait\n")
                job.send_signal(signal.SIGTERM)
                done = job.finish()
                self.assert_status(done, 143)
                self.assertEqual(words(done), ["asked 0 of 2", "asked 1 of 2"])
                self.assertNotIn("PMIx", done.stderr)

    @gate
    def test_what_the_library_has_the_launcher_print_is_the_ranks_own_output(self):
        """Open MPI 5 prints its errors so."""
        file = pathlib.Path(self.temporary_directory()) / "client.py"
        file.write_text(LOGGING_CLIENT)
        line = ("--mpi", "pmix", "-np", "2", "--tag", "{rank}: ", "python3", file)
        done = sml_run(*line, "pmix.log.stderr")
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "")
        for rank in range(2):
            self.assertIn(f"{rank}: rank {rank} is wrong\n{rank}: in line two\n", done.stderr)
        done = sml_run("--merge-stderr", *line, "pmix.log.stderr")
        self.assertEqual(sorted(words(done)), sorted(f"{r}: {text}" for r in range(2) for text in ("in line two", f"rank {r} is wrong")))
        done = sml_run(*line, "pmix.log.stdout")
        self.assertEqual(len(words(done)), 4)
        done = sml_run(*line, "pmix.log.syslog")
        self.assertEqual(words(done), ["0: refused", "1: refused"])

    @gate
    def test_a_program_that_a_script_starts_is_brought_together_when_asked_for(self):
        script = f"{self.program} ring; echo status $?"
        done = sml_run("--mpi", "pmix", "-np", "2", "sh", "-c", script)
        self.assert_status(done, 0)
        self.assertEqual(words(done), ["ring 0 of 2 got 1", "ring 1 of 2 got 1", "status 0", "status 0"])

    def test_a_script_may_start_programs_of_either_family_by_a_name_that_it_makes(self):
        folder = pathlib.Path(self.temporary_directory())
        (folder / "mpirun").symlink_to(SML_RUN)
        for name in (SML_RUN, folder / "mpirun"):
            for program in (self.program, compiled(self, "mpich")):
                for line in (("sh", "-c", f"p={str(program)[:-2]}; ${{p}}am ring; true"),
                             ("bash", "-c", f"source /dev/null && cd {program.parent} && PROG=program && ./$PROG ring"),
                             ("python3", "-c", f"import subprocess as s; s.call(['{program.parent}/' + 'PROGRAM'.lower(), 'ring'], close_fds=False)"),
                             ("unshare", "--mount", "chroot", "/", program, "ring")):
                    with self.subTest(name=name, line=line):
                        done = run([name, "-np", "2", "--oversubscribe", *line])
                        self.assert_status(done, 0)
                        self.assertEqual([re.sub(r"^.*ring", "ring", text) for text in words(done)],
                                         ["ring 0 of 2 got 1", "ring 1 of 2 got 1"])
                        self.assertNotIn("warning", done.stderr)
        self.assert_status(sml_run("-np", "2", "printenv", "PMIX_NAMESPACE"), 1)  # it can start none

    @gate
    def test_ranks_may_begin_mpi_late(self):
        """One looks at them at 2 s after the start, too, when they have not begun and still may."""
        folder = pathlib.Path(self.temporary_directory())
        (folder / "mpirun").symlink_to(SML_RUN)
        for program in (self.program, compiled(self, "mpich")):
            done = run([folder / "mpirun", "-np", "2", "--oversubscribe", program, "late", "3"])
            self.assert_status(done, 0)
            self.assertEqual([re.sub(r"^.*ring", "ring", text) for text in words(done)],
                             ["ring 0 of 2 got 1", "ring 1 of 2 got 1"])
            self.assertNotIn("alone", done.stderr)

    def test_one_after_the_other_in_a_script(self):
        script = f"p={str(self.program)[:-2]}; ${{p}}am ring && ${{p}}am ring"
        done = sml_run("-np", "2", "sh", "-c", script)
        self.assert_status(done, 0)
        self.assertEqual(words(done), ["ring 0 of 2 got 1"] * 2 + ["ring 1 of 2 got 1"] * 2)

    def test_its_own_launcher_may_be_used_within(self):
        script = f"m=mpirun; ${{m}}.openmpi --allow-run-as-root --oversubscribe -n 2 {self.program} ring"
        done = sml_run("-np", "2", "sh", "-c", script)
        self.assert_status(done, 0)
        self.assertEqual(words(done), ["ring 0 of 2 got 1"] * 2 + ["ring 1 of 2 got 1"] * 2)

    def test_no_batch_system_makes_its_ranks_be_alone(self):
        """By what its variables say, in none of whose steps we are."""
        for variables in ({"SLURM_JOBID": "5", "SLURM_NODELIST": "x"}, {"FLUX_JOB_ID": "f"}, {"LSB_JOBID": "1"},
                          {"PBS_JOBID": "5", "PBS_NODEFILE": "/dev/null", "PBS_ENVIRONMENT": "PBS_BATCH"}, {"ALPS_APP_ID": "1"}):
            with self.subTest(variables):
                done = sml_run(*(word for name, value in variables.items() for word in ("-x", f"{name}={value}")), "-np", "2",
                               self.program, "ring")
                self.assert_status(done, 0)
                self.assertEqual(words(done), ["ring 0 of 2 got 1", "ring 1 of 2 got 1"])

    def test_ranks_that_ended_alone_are_an_error(self):
        """What takes its variables away hides the others from it."""
        clean = ("env", "-i", f"PATH={os.environ['PATH']}", "OMPI_MCA_orte_create_session_dirs=0")
        for line in ((*clean, self.program, "places"), ("sh", "-c", f"p={str(self.program)[:-2]}; {' '.join(clean)} ${{p}}am places; true")):
            with self.subTest(line):
                done = sml_run("-np", "2", *line)
                self.assert_status(done, 125)
                self.assertRegex(done.stderr, r"rank [01] on localhost was alone, as rank 0 of 1, and ended with status 0 \(program "
                                              r"uses the MPI library libmpi\.so.*--mpi none is for ranks that are to be alone\)")
        done = sml_run("--mpi", "none", "-np", "2", *clean, self.program, "places")
        self.assert_status(done, 0)

    def test_a_rank_that_leaves_out_mpi_keeps_no_other_waiting(self):
        done = sml_run("-np", "2", "sh", "-c", f"[ $RANK = 1 ] || exec {self.program} ring")
        self.assert_status(done, 1)
        self.assertIn("rank 0 on localhost waits in MPI_Init for rank 1, which has ended without it", done.stderr)

    @gate
    def test_programs_without_mpi_get_no_helper(self):
        done = sml_run("-np", "1", "sh", "-c", f"pgrep -c -P $PPID -x {HELPER}; env | grep -c ^PMIX_; true")
        self.assertEqual(words(done), ["0", "0"])

    def test_check_tells_the_library(self):
        done = sml_run("--check", "-np", "2", self.program)
        self.assert_status(done, 0)
        self.assertIn("MPI: PMIx (linked with libmpi.so.40) on localhost\n", done.stdout)
        self.assertRegex(done.stdout + done.stderr, r"PMIx: libpmix\.so\.2 \(OpenPMIx \d.* on localhost")


class Upcalls(TestCase):
    def test_the_helper_calls_back_once_for_each(self):
        program = pathlib.Path(self.temporary_directory()) / "answers"
        subprocess.run(["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-pthread", "-I", REPO,
                        REPO / "tests/e2e/pmix_answers.c", "-o", program], check=True, timeout=watchdog())
        done = run([program])
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "1\n")


class Spawning(TestCase):
    """MPI_Comm_spawn as it comes by PMIx."""

    @classmethod
    def setUpClass(cls):
        cls.program = compiled(cls, "openmpi")

    @gate
    def test_new_ranks_meet_their_parents(self):
        for parents in (1, 2):
            done = sml_run("-H", "localhost:5", "-np", str(parents), self.program, "spawn", "3")
            total = sum(range(parents + 3))
            self.assert_status(done, 0)
            self.assertEqual(words(done), [
                *(f"child {r} of 3 place {r + parents} of parents {parents} sum {total}" for r in range(3)),
                *(f"spawn {r} of {parents} together {parents + 3} sum {total}" for r in range(parents))])

    def test_a_program_of_the_working_directory_needs_no_folder(self):
        line = ("bash", "-c", "exec -a program ./program spawn 1")  # it asks for more of its own name
        done = sml_run("--mpi", "pmix", "-H", "localhost:2", "-np", "1", *line, cwd=self.program.parent)
        self.assert_status(done, 0)
        self.assertEqual(words(done), ["child 0 of 1 place 1 of parents 1 sum 1", "spawn 0 of 1 together 2 sum 1"])

    def test_ranks_ask_at_the_same_time(self):
        done = sml_run("-H", "localhost:8", "-np", "3", self.program, "spawn-each", "1")
        self.assert_status(done, 0)
        self.assertEqual(words(done), [*["child 0 of 1 place 1 of parents 1 sum 1"] * 3,
                                       *(f"spawn {r} of 3 together 2 sum 1" for r in range(3))])

    def test_one_that_cannot_start_is_an_error_and_no_end(self):
        """Of one rank: Open MPI 4.1 tells the others nothing of such an error, under its own launcher neither."""
        for kind, count, why in (("spawn", "5", r"it wants 5 slots for .* 4 are free"),
                                 ("spawn-nothing", "1", r"it wants what localhost cannot start: .*no-such-program")):
            done = sml_run("-H", "localhost:5", "-np", "1", self.program, kind, count)
            self.assert_status(done, 0)
            self.assertEqual(words(done), ["spawn 0 of 1 failed"])
            self.assertRegex(done.stderr, "rank 0 on localhost: MPI_Comm_spawn starts nothing: " + why)

    def test_info_keys_that_are_not_heeded_are_refused_or_said(self):
        def spawned(info):
            done = sml_run("-H", "localhost:2", "-np", "1", "-x", f"INFO={info}", self.program, "spawn", "1")
            self.assert_status(done, 0)
            return words(done)[-1], done.stderr

        for info, why in (("hostfile /etc/hosts", "names a file of hosts (hostfile), and only hosts of the job can be used"),
                          ("add-hostfile /etc/hosts", "names a file of hosts (add-hostfile), and only hosts of the job can be used"),
                          ("add-host algo-9", "adds hosts (add-host), and only hosts of the job can be used; name these (host)")):
            said, errors = spawned(info)
            self.assertEqual(said, "spawn 0 of 1 failed", info)
            self.assertIn("rank 0: MPI_Comm_spawn starts nothing: it " + why, errors)
        said, errors = spawned("map_by node")
        self.assertEqual(said, "spawn 0 of 1 together 2 sum 1")
        self.assertEqual(errors.count("rank 0: MPI_Comm_spawn: the info key map_by has no effect: new ranks go where slots are free, "
                                      "host by host"), 1)
        said, errors = spawned(f"wdir {self.program.parent}")
        self.assertEqual(said, "spawn 0 of 1 together 2 sum 1")
        self.assertNotIn("MPI_Comm_spawn", errors)

    def test_a_new_rank_that_fails_ends_the_job_and_is_named(self):
        for what, status in (("child-abort", 9), ("child-exit", 6)):
            done = sml_run("-H", "localhost:5", "-np", "2", self.program, "spawn", "2", what)
            self.assert_status(done, status)
            self.assertIn("rank 3 on localhost", done.stderr)

    def test_new_ranks_are_bound_to_what_is_left_and_see_it(self):
        first, second = OnThisMachine.use_two_processors(self)
        done = sml_run("-H", "localhost:3", "-np", "1", "--bind-to", "core", self.program, "spawn", "1", "child-bound")
        self.assert_status(done, 0)
        self.assertIn(f"bound 0 of 1 to {second} core 1 numa 1", words(done))
        done = sml_run("-H", "localhost:3", "-np", "1", "--bind-to", "core", self.program, "spawn", "2", "child-bound")
        self.assert_status(done, 0)
        self.assertEqual([line[:14] for line in words(done)][:2], ["bound 0 of 2 t", "bound 1 of 2 t"])
        self.assertRegex(done.stderr, "of ranks that are spawned: the workers cannot be bound: 3 workers with 1 core each")

    def test_more_than_slots_start_where_that_is_allowed(self):
        done = sml_run("-H", "localhost:1", "-np", "1", "--oversubscribe", self.program, "spawn", "2")
        self.assert_status(done, 0)
        self.assertIn("spawn 0 of 1 together 3 sum 3", words(done))

    def test_names_are_published_and_found(self):
        done = sml_run("-np", "2", self.program, "names")
        self.assert_status(done, 0)
        self.assertEqual(words(done), ["name 0 of 2 found", "name 1 of 2 found"])


class OnHosts(HostsCase):
    hosts = 4

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = compiled(cls, "openmpi")

    def job(self, *words_of_line):
        return self.bed.sml_run("algo-1", *map(str, words_of_line))

    @gate
    def test_ranks_of_four_hosts_are_one_world(self):
        done = self.job("-np", "8", "-H", self.bed.hosts(2), self.program, "ring")
        self.assert_status(done, 0)
        self.assertEqual(words(done), [f"ring {r} of 8 got {28 if r == 0 else sum(range(r + 1))}" for r in range(8)])
        self.assertNotIn("warning", done.stderr)

    def test_spawned_ranks_of_several_hosts_meet_their_parents(self):
        names = self.bed.names()
        done = self.job("-np", "3", "-H", f"{names[0]}:3,{names[1]}:3", "--map-by", "node", self.program, "spawn", "3")
        self.assert_status(done, 0)
        self.assertEqual(words(done), [*(f"child {r} of 3 place {r + 3} of parents 3 sum 15" for r in range(3)),
                                       *(f"spawn {r} of 3 together 6 sum 15" for r in range(3))])

    def test_spawned_ranks_go_to_hosts_that_run_none(self):
        names = self.bed.names()
        line = ("-np", "1", "-H", f"{names[0]}:1,{names[1]}:2,{names[2]}:1", self.program)
        self.assertEqual(words(self.job(*line, "places")), ["place 0 of 1 node 1 universe 4 program 0"])
        for count in (1, 2, 3):
            done = self.job(*line, "spawn", count)
            total = sum(range(count + 1))
            self.assert_status(done, 0)
            self.assertEqual(words(done), [*(f"child {r} of {count} place {r + 1} of parents 1 sum {total}" for r in range(count)),
                                           f"spawn 0 of 1 together {count + 1} sum {total}"])
        done = self.job(*line, "spawn", "4")
        self.assert_status(done, 0)
        self.assertEqual(words(done), ["spawn 0 of 1 failed"])
        self.assertRegex(done.stderr, "it wants 4 slots for .* on the hosts of the job 3 are free")

    def test_spawned_ranks_have_others_spawned_on_hosts_that_run_none(self):
        """Such a host learns of ranks that have come before."""
        names = self.bed.names()
        done = self.job("-np", "1", "-H", ",".join(f"{name}:1" for name in names), self.program, "spawn", "1", "child-spawn")
        self.assert_status(done, 0)
        self.assertEqual(words(done), ["child 0 of 1 place 1 of parents 1 sum 1"] * 2 +
                         ["spawn 0 of 1 together 2 sum 1"] * 2)

    def test_much_between_all_of_them(self):
        done = self.job("-np", "4", "-H", self.bed.hosts(1), self.program, "alltoall")
        self.assert_status(done, 0)
        self.assertEqual(words(done), [f"alltoall {r} of 4 wrong 0" for r in range(4)])

    def test_data_that_is_asked_for_when_it_is_needed(self):
        """Without the exchange at the start a rank asks the host of another for its address."""
        done = self.job("-x", "OMPI_MCA_pmix_base_async_modex=1", "-x", "OMPI_MCA_pmix_base_collect_data=0", "-np", "4", "-H",
                        self.bed.hosts(1), self.program, "ring")
        self.assert_status(done, 0)
        self.assertEqual(words(done)[0], "ring 0 of 4 got 6")

    def test_who_shares_a_host_is_told_for_every_placement(self):
        names = self.bed.names()
        lines = {("-H", f"{names[0]}:3,{names[1]}:1,{names[2]}:2"): [3, 3, 3, 1, 2, 2],
                 ("-H", self.bed.hosts(2), "--map-by", "node", "-np", "6"): [2, 2, 1, 1, 2, 2]}
        for line, sizes in lines.items():
            done = self.job(*line, self.program, "places")
            self.assert_status(done, 0)
            found = {int(text.split()[1]): int(text.split()[5]) for text in words(done)}
            self.assertEqual(found, dict(enumerate(sizes)), line)

    def test_a_host_without_the_program_leaves_no_helper_elsewhere(self):
        self.bed.exec("algo-1", ["cp", str(self.program), "/run/program"])
        self.addCleanup(self.bed.exec, "algo-1", ["rm", "/run/program"])
        done = self.job("-np", "2", "-H", self.bed.hosts(1), "/run/program", "ring")
        self.assert_status(done, 127)
        self.assertNotIn("could not be ended", done.stderr)

    @gate
    def test_abort_ends_all_hosts(self):
        done = self.job("-np", "4", "-H", self.bed.hosts(1), self.program, "abort", "9")
        self.assert_status(done, 9)
        self.assertIn("rank 3 on algo-4 aborted the job (MPI_Abort or an error in MPI, code 9)", done.stderr)

    @gate
    def test_a_rank_that_is_killed_in_a_barrier_ends_the_job(self):
        hosts = ",".join(f"{name}:1" for name in self.bed.names()[:3])
        with self.bed.sml_run_popen("algo-1", "--grace", "1h", "-np", "3", "-H", hosts, str(self.program), "wait") as job:
            job.read_until("all wait")
            pid = wait_until(lambda: self.bed.exec(self.bed.names()[1], ["pgrep", "-x", "program"]).stdout.split())
            sh(self.bed, self.bed.names()[1], f"kill -9 {pid[-1]}")
            done = job.finish()
        self.assert_status(done, 137)
        self.assertRegex(done.stderr, r"rank 1 on algo-2 was killed by SIGKILL")
