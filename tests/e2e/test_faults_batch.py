"""The faults of tests/faults.md where a batch system starts the agents: in jobs of a real Slurm and a real Grid Engine, on
hosts without an SSH server. The launcher takes the place of the batch script."""
import os
import pathlib
import shutil
import subprocess
import unittest

import test_deployment
import test_faults
import test_faults_hosts
import test_faults_launcher
import test_output
import test_rendezvous
import test_unreachable
from harness import REPO, SML_RUN, scaled, wait_until
from jobs import sh
from test_grid_engine import UNPACKED
from test_starters import MISSING, without_ssh

# Of the start of a host by a batch system's starter, one after the other.
STEPS = (("host_step", "connecting"), ("host_step", "preparing"), ("host_ready", None), ("host_step", "running"))

# Known to the testbed, which does not count it as a process of the job.
SCRIPT = "#!/bin/bash\ncd /\nenv -0 > {folder}/new\nmv {folder}/new {folder}/env\nexec -a batch-script sleep infinity\n"


class InBatchJob:
    """Before a class of faults: its jobs run in a batch job of its hosts."""

    user = "root"
    without = ()  # tests that are about SSH, about several users, or about one host
    # Tests in which the batch system kills agent and guardian at once: their folder and group go with the next job there.
    killed_at_once = ()
    renews = False  # a batch job for each test

    def __init_subclass__(cls, **kw):
        super().__init_subclass__(**kw)
        cls.is_in_gate = False
        for test in cls.without:
            setattr(cls, test, None)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        base = pathlib.Path(os.environ.get("SML_TESTBED_DIR", "/run/sml-testbed"))
        cls.folder = base / cls.bed.name / "shared" / "batch"
        cls.folder.mkdir(exist_ok=True)
        cls.folder.chmod(0o777)
        cls.batch_up()

    @classmethod
    def batch_up(cls):
        cls.system_up()
        without_ssh(cls.bed)
        (cls.folder / "env").unlink(missing_ok=True)
        script = cls.folder / "script"
        script.write_text(SCRIPT.format(folder=cls.folder))
        script.chmod(0o755)
        done = cls.submit(str(script))
        if done.returncode:
            raise AssertionError(str(done))
        cls.number = done.stdout.strip()
        wait_until(lambda: (cls.folder / "env").exists())
        cls.env = dict(entry.split("=", 1) for entry in (cls.folder / "env").read_text().split("\0") if "=" in entry)

    @classmethod
    def tearDownClass(cls):
        cls.cancel()
        super().tearDownClass()

    def setUp(self):
        super().setUp()
        if self.renews:
            self.cancel()
            self.batch_up()
        if self._testMethodName in self.killed_at_once:
            self.addCleanup(self.start_again)

    def start_again(self):
        for host in self.bed.names():
            self.assert_status(self.bed.sml_run(host, "-H", "localhost", "true", user=self.user), 0)

    def job(self, *argv, **kw):
        return super().job(*argv, **{"user": self.user, "env": self.env, **kw})

    def popen(self, *argv, **kw):
        return super().popen(*argv, **{"user": self.user, "env": self.env, **kw})

    def test_the_starter_is_that_of_the_batch_system(self):
        done = self.bed.sml_run("algo-1", "--verbose", "-H", self.bed.hosts(), "true", user=self.user, env=self.env)
        self.assert_status(done, 0)
        self.assertIn(f"the other hosts are reached by {self.starter}, as this is a job of ", done.stderr)


@unittest.skipIf(MISSING, f"Slurm's {', '.join(MISSING)} not installed (tests/run installs it)")
class InSlurm(InBatchJob):
    starter = "srun"

    @classmethod
    def system_up(cls):
        subprocess.run([REPO / "tests/testbed/slurm-up", "8"], env={**os.environ, "SML_TESTBED": cls.bed.name}, check=True,
                       stdout=subprocess.DEVNULL)

    @classmethod
    def submit(cls, script):
        return cls.bed.exec("head", ["sbatch", "--parsable", "--no-kill", f"-N{cls.hosts}", "--ntasks-per-node=2", "-o", "/dev/null", script])

    @classmethod
    def cancel(cls):
        cls.bed.exec("head", ["scancel", cls.number])


class SlurmWorkers(InSlurm, test_faults.Workers):
    without = ("test_no_process_can_be_made_for_a_worker", "test_processes_up_to_the_limit", "test_a_line_without_an_end")


class SlurmAgents(InSlurm, test_faults.Agents):
    without = ("test_out_of_descriptors", "test_out_of_descriptors_here", "test_its_guardian_killed_by_way_of_another_ssh",
               "test_its_guardian_killed_where_logins_have_become_slow", "test_its_guardian_killed_and_later_the_agent",
               "test_killed_with_its_guardian_where_there_is_no_cgroup")
    killed_at_once = ("test_stopped",)
    guarded_anew = ("algo-1",)

    def test_its_guardian_killed_on_another_host(self):
        """srun's task there is the guardian. Slurm passes nothing on to what it has left behind."""
        with self.popen(*self.only(0, "exec sleep 600")) as job:
            self.await_ready(job)
            self.signal("algo-3", "KILL", "sml-run-guard")
            done = job.finish()
            self.assert_ending(done, 125, "algo-3: the guardian of its agent was killed, and the connection to the agent "
                                          "ends with it")


class SlurmLaunchers(InSlurm, test_faults_launcher.Launchers):
    without = ("test_three_hundred_starts_leave_nothing",)  # of one host


class HostsInBatchJob:
    """Before the class of a batch system and that of the faults."""

    renews = True  # the batch system's daemon is lost with the host
    moments = STEPS
    without = ("test_sshd_killed", "test_an_ssh_session_killed", "test_cut_off_while_the_agent_is_sent",
               "test_a_job_that_ends_while_the_agent_is_sent")

    def power_on(self):
        super().power_on()
        self.cancel()
        self.batch_up()

    def test_cut_off_before_the_start(self):
        self.addCleanup(self.bed.heal, "algo-3")
        self.bed.cut("algo-3")
        done = self.job("echo", "started", options=["--start-timeout", f"{scaled(5)}s"])
        self.assert_ending(done, 125, "algo-3: ", hosts=self.others)
        self.assertNotIn("started", done.stdout)


class SlurmHosts(HostsInBatchJob, InSlurm, test_faults_hosts.LostHosts):
    pass


class SlurmLinks(InSlurm, test_faults_hosts.Links):
    pass


class MachinesInBatchJob:
    """Before the class of a batch system and that of the faults."""

    without = ("test_one_host_under_two_names",)

    def assert_nothing_was_stored(self, host):
        """The starter may kill the shell there, whose file goes with an agent that is sent an hour later."""
        self.assertRegex(sh(self.bed, host, f"ls -A {self.cache}"), r"^(\.new-\d+\n)?$")


class SlurmMachines(MachinesInBatchJob, InSlurm, test_faults_hosts.OtherMachines):
    pass


class SlurmInterruptions(InSlurm, test_faults_launcher.Interruptions):
    steps = tuple(step for event, step in STEPS[:2])


class SlurmPrograms(InSlurm, test_unreachable.Programs):
    without = ("test_bad_hosts_are_refused_before_anything_is_reached",)


class SlurmProbes(InSlurm, test_rendezvous.UnansweredProbes):
    hosts = 3


class SlurmOutput(InSlurm, test_output.OverSsh):
    hosts = 4


class SlurmCache(InSlurm, test_deployment.Cache):
    hosts = 2
    without = ("test_many_first_runs_at_once", "test_an_unprivileged_user")  # not in the batch job


@unittest.skipUnless(UNPACKED.exists(), "no Grid Engine is unpacked (tests/run fetches it for the whole layer e2e)")
class InGridEngine(InBatchJob):
    starter = "qrsh"
    user = "tester"  # its jobs are not root's
    cache = "/home/tester/.cache/sml-run"
    events = "/home/tester/events"
    allowed_files = ("/tmp/*.all.q",)  # of the batch job

    @classmethod
    def system_up(cls):
        subprocess.run([REPO / "tests/testbed/sge-up", "2"], env={**os.environ, "SML_TESTBED": cls.bed.name}, check=True)

    @classmethod
    def sge(cls, *words):
        env = {"SGE_ROOT": str(cls.folder.parent / "sge"), "SGE_CELL": "default", "SGE_QMASTER_PORT": "6444"}
        return cls.bed.exec("head", list(words), user="tester", env=env)

    @classmethod
    def submit(cls, script):
        return cls.sge("qsub", "-terse", "-pe", "mpi", str(2 * cls.hosts), "-masterq", "all.q@algo-1", "-j", "y", "-o", "/dev/null", script)

    @classmethod
    def cancel(cls):
        cls.sge("qdel", cls.number)


class GridEngineWorkers(InGridEngine, test_faults.Workers):
    without = ("test_no_process_can_be_made_for_a_worker", "test_a_line_without_an_end")


class GridEngineAgents(InGridEngine, test_faults.Agents):
    without = (*SlurmAgents.without, "test_full_disk")  # Grid Engine itself has a folder of the job below /tmp
    killed_at_once = SlurmAgents.killed_at_once


class GridEngineLaunchers(InGridEngine, test_faults_launcher.Launchers):
    places = ("algo-1",)  # only the host of the batch script has a qrsh for the job
    without = SlurmLaunchers.without


class GridEngineHosts(HostsInBatchJob, InGridEngine, test_faults_hosts.LostHosts):
    pass


class GridEngineLinks(InGridEngine, test_faults_hosts.Links):
    without = ("test_another_clock",)  # root sets it


class GridEngineMachines(MachinesInBatchJob, InGridEngine, test_faults_hosts.OtherMachines):
    pass


class OwnLimits:
    """The launcher has the limit on the stack of Grid Engine's own jobs, for tests that take a warning for a fault."""

    def start(self):
        start = self.folder / "start"
        start.write_text(f"#!/bin/sh\nulimit -s unlimited\nexec {SML_RUN} \"$@\"\n")
        start.chmod(0o755)
        return start

    def job(self, *argv, **kw):
        return super().job(*argv, binary_path=self.start(), **kw)

    def popen(self, *argv, **kw):
        return super().popen(*argv, binary_path=self.start(), **kw)


class GridEngineCache(OwnLimits, InGridEngine, test_deployment.Cache):
    hosts = 2
    # Their other user is the one of the job here.
    without = (*SlurmCache.without, "test_an_agent_that_another_user_put_there_is_not_run", "test_a_cache_folder_of_another_user_is_not_used",
               "test_an_agent_of_another_build_stays_beside")

    def assert_runs(self, done, user="tester"):
        super().assert_runs(done, user)


class GridEngineInterruptions(InGridEngine, test_faults_launcher.Interruptions):
    steps = SlurmInterruptions.steps


class GridEnginePrograms(InGridEngine, test_unreachable.Programs):
    without = SlurmPrograms.without


class GridEngineProbes(InGridEngine, test_rendezvous.UnansweredProbes):
    hosts = 3


class GridEngineOutput(OwnLimits, InGridEngine, test_output.OverSsh):
    hosts = 4

    def log_folder(self):
        folder = super().log_folder()
        folder.parent.chmod(0o755)
        shutil.chown(folder, self.bed.path("algo-1", "/home/tester").stat().st_uid)
        return folder


if __name__ == "__main__":
    unittest.main()
