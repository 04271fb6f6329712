"""What `ps`, `status`, `logs`, `stop` and the like make of processes of another user that pretend to be launchers."""
import json
import pathlib

from harness import PYTHON, HostsCase, gate
from jobs import sh

LIAR = str(pathlib.Path(__file__).with_name("liar.py"))
WORKER = "echo ready; exec sleep 1000"
IN_A_NAMESPACE = ["unshare", "-Urm", "sh", "-c", 'mount -t tmpfs none /tmp && exec "$@"', "sh"]


class FalseJobs(HostsCase):
    """On a host where root's job runs, and `tester` has an account."""

    hosts = 2
    folders = "/tmp/sml-run-7700 /tmp/sml-run-0 /tmp/root /tmp/away"

    def setUp(self):
        self.job = self.enterContext(self.bed.sml_run_popen("algo-1", "-np", "1", "sh", "-c", WORKER))
        self.job.read_until("ready\n")
        self.addCleanup(self.end)
        [self.mine] = [one["id"] for one in self.listed()]

    def end(self):
        self.job.terminate()
        self.job.finish()
        sh(self.bed, "algo-1", f"rm -rf {self.folders}")

    def ask(self, *words):
        return self.bed.sml_run("algo-1", *words)

    def listed(self):
        return json.loads(self.ask("ps", "--format", "json").stdout)

    def lie(self, name, how, *more, before=(), user="tester"):
        liar = self.enterContext(self.bed.popen("algo-1", [*before, PYTHON, LIAR, name, how, *more], user=user, stdin=-1))
        self.addCleanup(liar.terminate)
        liar.read_until("up\n")
        return liar

    def assert_job_goes_on(self):
        self.assertEqual(self.ask("logs", self.mine).stdout, "[0] ready\n")
        self.assertIsNone(self.job.poll())

    @gate
    def test_the_id_of_ones_own_job(self):
        """In the user's own folder, and in a mount namespace where the user is root."""
        for before in ([], IN_A_NAMESPACE):
            with self.subTest(before=before):
                self.lie(self.mine, "id", before=before)
                self.assertEqual([(one["id"], one.get("user")) for one in self.listed()], [(self.mine, None)])
                self.assertIn("it has the id of a job of yours", self.ask("ps").stderr)
                self.assertNotIn("fine", self.ask("status", self.mine).stdout)
                self.assert_job_goes_on()
        self.assert_status(self.ask("stop", self.mine), 0)
        self.assertEqual(self.job.finish().returncode, 143)

    def test_an_id_in_the_answer_that_the_socket_has_not(self):
        self.lie(self.mine, "other")
        self.assertEqual([one["id"] for one in self.listed()], [self.mine])
        self.assertIn("it gives another id in its answer", self.ask("ps").stderr)
        self.assert_job_goes_on()

    def test_jobs_of_another_user_are_shown_as_such_and_never_meant_without_an_id(self):
        self.lie("sml-zfalse", "id")
        self.assertEqual([(one["id"], one.get("user")) for one in self.listed()], [(self.mine, None), ("sml-zfalse", "tester")])
        self.assertRegex(self.ask("ps").stdout, r"(?m)^JOB +USER .*\n.* - .*\nsml-zfalse +tester ")
        for words in (("status",), ("logs",), ("status", "sml-")):
            self.assertNotIn("fine", self.ask(*words).stdout, words)
        self.assertIn("job sml-zfalse of user 7700 has ended", self.ask("stop", "sml-z").stderr)
        self.assert_job_goes_on()

    def test_a_socket_of_another_user_in_ones_own_folder(self):
        self.lie("sml-zfalse", "root", user="root")
        self.assertEqual([one["id"] for one in self.listed()], [self.mine])
        self.assertIn("another process listens in its place, of user 7700", self.ask("ps").stderr)
        self.assertIn("no job of yours has the id", self.ask("stop", "sml-zfalse").stderr)

    def test_silence_holds_nobody_up(self):
        """All are asked at once, in the time that one has."""
        liar = self.lie("sml-silent", "silent", "40")
        self.assertIn("user 7700, 40 jobs: its launcher does not answer", self.ask("ps").stderr)
        self.assert_status(self.ask("status", self.mine), 0)
        self.assertEqual(liar.finish(input="\n").stdout, "40\n")

    def test_a_long_summary_is_not_taken(self):
        self.lie("sml-long", "long")
        done = self.ask("ps")
        self.assertIn("user 7700, 1 job: what came is no message of sml-run", done.stderr)
        self.assertNotIn("sml-long", done.stdout)

    def test_links_of_a_container_stay_in_it(self):
        """The /run of a liar's root folder is a link: to a place in that folder, and to one that is outside as well."""
        for how, listed in (("out", [self.mine]), ("in", [self.mine, "sml-zfalse"])):
            with self.subTest(how=how):
                liar = self.lie("sml-zfalse", how, before=["unshare", "-Ur"])
                self.assertEqual([one["id"] for one in self.listed()], listed)
                liar.finish(input="\n")
                sh(self.bed, "algo-1", "rm -rf /tmp/root /tmp/away")
